"""Tables that the questions are asked of: public ones, and small ones with German, French and
Spanish names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

PUBLIC = {
    "titanic_test": "foreign/dabench/tables/titanic_test.csv",
    "vgsales": "foreign/dabench/tables/vgsales.csv",
    "Credit": "foreign/dabench/tables/Credit.csv",
    "housedata": "foreign/dabench/tables/housedata.csv",
    "e5_aapl": "foreign/dabench/tables/e5_aapl.csv",
    "auto-mpg": "foreign/dabench/tables/auto-mpg.csv",
    "degrees": "foreign/dabench/tables/percent-bachelors-degrees-women-usa.csv",
    "arrest_expungibility": "foreign/dabench/tables/arrest_expungibility.csv",
    "election2016": "foreign/dabench/tables/election2016.csv",
    "weather_train": "foreign/dabench/tables/weather_train.csv",
    "YAHOO-BTC_USD_D": "foreign/dabench/tables/YAHOO-BTC_USD_D.csv",
    "fb_articles_20180822_20180829_df": "foreign/dabench/tables/fb_articles_20180822_20180829_df.csv",
    "baseball_data": "foreign/dabench/tables/baseball_data.csv",
    "assets": "assets.csv",
    "incidents": "incidents.csv",
}


def frames(shared: Path) -> dict[str, pd.DataFrame]:
    """Every table by its name, as pandas reads it."""
    return {**{name: pd.read_csv(shared / path) for name, path in PUBLIC.items()}, **_own()}


def write(name: str, frame: pd.DataFrame, shared: Path, folder: Path) -> Path:
    """The file of a table: a public one as it is, an own one written."""
    if name in PUBLIC:
        return shared / PUBLIC[name]
    path = folder / f"{name}.csv"
    frame.to_csv(path, index=False)
    return path


def _own() -> Mapping[str, pd.DataFrame]:
    months = {f"2024-0{m}": _till(m) for m in (1, 2, 3)}
    return {
        "orders": _orders(),
        "umsatz": _umsatz(),
        "ventes": _ventes(),
        "ventas": _ventas(),
        **months,
    }


def _orders() -> pd.DataFrame:
    regions, products = ("North", "South", "East", "West"), ("Desk", "Chair", "Lamp", "Sofa")
    days = pd.date_range("2021-11-03", periods=300, freq="4D")
    return pd.DataFrame(
        [
            {
                "order_id": 5000 + i,
                "order_date": day.date(),
                "ship_date": (day + pd.Timedelta(days=i % 9)).date(),
                "RegionID": i * 7 % 4 + 10,
                "region": regions[i * 7 % 4 if i % 5 else i % 3],
                "product": products[i * 3 % 4],
                "customer": f"Client {i % 23:02d}",
                "units": i * 13 % 17 + 1,
                "unit_price": round(9.9 + i * 31 % 120 + i % 4 / 4, 2),
                "net_revenue": round((i * 13 % 17 + 1) * (9.9 + i * 31 % 120), 2),
                "gross_revenue": round(1.19 * (i * 13 % 17 + 1) * (9.9 + i * 31 % 120), 2),
                "returned": i % 9 == 0,
                "status": ("shipped", "open", "cancelled")[i % 3],
                "discount": None if i % 6 == 0 else (i % 7) / 100,
            }
            for i, day in enumerate(days)
        ]
    )


def _umsatz() -> pd.DataFrame:
    rows = [("Köln", "Obst"), ("Bonn", "Gemüse"), ("Aachen", "Obst"), ("Düren", "Käse")]
    return pd.DataFrame(
        {
            "Filiale": [rows[i % 4][0] for i in range(60)],
            "Warengruppe": [rows[i * 3 % 4][1] for i in range(60)],
            "Datum": [d.date() for d in pd.date_range("2022-10-01", periods=60, freq="11D")],
            "Umsatz": [1000.5 + 37 * (i * 5 % 11) for i in range(60)],
            "Stück": [10 + i * 7 % 23 for i in range(60)],
            "Kundennummer": [70000 + i * 17 for i in range(60)],
        }
    )


def _ventes() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "région": [("Bretagne", "Alsace", "Corse")[i % 3] for i in range(45)],
            "produit": [("pomme", "poire")[i % 2] for i in range(45)],
            "année": [2019 + i % 5 for i in range(45)],
            "montant": [200 + 11.5 * (i * 7 % 13) for i in range(45)],
            "quantité": [1 + i * 5 % 9 for i in range(45)],
        }
    )


def _ventas() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "ciudad": [("Madrid", "Sevilla", "Bilbao", "Málaga")[i % 4] for i in range(48)],
            "categoría": [("ropa", "libros", "juegos")[i // 2 % 3] for i in range(48)],
            "fecha": [d.date() for d in pd.date_range("2020-01-15", periods=48, freq="25D")],
            "importe": [50 + 4.25 * (i * 11 % 19) for i in range(48)],
            "unidades": [2 + i * 3 % 8 for i in range(48)],
        }
    )


def _till(month: int) -> pd.DataFrame:
    days = pd.date_range(f"2024-0{month}-01", periods=20, freq="D")
    shops = [("Mitte", "Nord")[i % 2] for i in range(20)]
    return pd.DataFrame(
        {"day": days.date, "shop": shops, "amount": [month * 10 + i * 3 % 7 for i in range(20)]}
    )
