"""Sample data for a first look: made here from a fixed seed, so that nobody has to bring a file to
see what Leaf does."""

from __future__ import annotations

import csv
import io
import random
from datetime import date, timedelta

REGIONS = {"North": 1.0, "South": 0.8, "East": 1.3, "West": 0.6}
PRODUCTS = {"Tea": 4.5, "Coffee": 7.9, "Cocoa": 6.2, "Juice": 3.4, "Water": 1.1}
CHANNELS = ("Shop", "Online", "Wholesale")
ORDERS = 1_200

RETURNS_POLICY = """# Returns policy

Valid from 1 March 2025. Questions go to the service desk.

## Time limits

A customer may return unopened goods within 30 days of delivery. Goods that arrive damaged may be returned within 60 days.
Wholesale customers have 14 days, and only for full cases.

## Refunds

Shop and online customers are refunded in full. Wholesale returns are credited less a restocking fee of 12 percent.
Cocoa is sold in sealed tins; an opened tin cannot be returned unless it was damaged.

## Who decides

Returns above 500 euros are approved by the regional manager. The East region approves returns above 800 euros since its
volume is higher. Refunds are paid within 10 working days.
"""


def sample_files() -> dict[str, bytes]:
    """File name -> content: a table of 1,200 orders of the year 2025, and the policy that goes with
    them."""
    return {"sample_orders.csv": _orders(), "sample_returns_policy.md": RETURNS_POLICY.encode()}


def _orders() -> bytes:
    chance = random.Random(20_250_101)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(
        [
            "order_id",
            "order_date",
            "region",
            "product",
            "channel",
            "quantity",
            "unit_price",
            "revenue",
            "returned",
        ]
    )
    days = sorted(chance.randrange(365) for _ in range(ORDERS))
    for number, day in enumerate(days, start=1):
        region = chance.choices(list(REGIONS), weights=list(REGIONS.values()))[0]
        product, price = chance.choice(list(PRODUCTS.items()))
        channel = chance.choices(CHANNELS, weights=(5, 4, 2))[0]
        quantity = chance.randint(10, 80) if channel == "Wholesale" else chance.randint(1, 12)
        unit_price = round(
            price * (0.85 if channel == "Wholesale" else 1.0) * chance.uniform(0.97, 1.03), 2
        )
        returned = "yes" if chance.random() < 0.04 else "no"
        ordered = date(2025, 1, 1) + timedelta(days=day)
        revenue = round(quantity * unit_price, 2)
        writer.writerow(
            [
                f"A{number:05}",
                ordered.isoformat(),
                region,
                product,
                channel,
                quantity,
                unit_price,
                revenue,
                returned,
            ]
        )
    return out.getvalue().encode()
