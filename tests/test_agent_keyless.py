"""The analyst without a model: questions in plain words, checked against figures worked out in
pandas."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import pytest

from leaf.agent.endpoint import Endpoint
from leaf.agent.events import reduce
from leaf.agent.finishers import FINISHERS
from leaf.agent.loop import Agent
from leaf.agent.models.keyless import NOT_UNDERSTOOD, WHICH_IS_MEANT, KeylessModel, tells
from leaf.agent.models.keyless import answer as script_of
from leaf.agent.proposals.ideas import first_ideas
from leaf.agent.proposals.wording import worded
from leaf.agent.rules.answers import of_sql
from leaf.agent.rules.grammar import Grammar
from leaf.agent.rules.spoken import in_all
from leaf.agent.rules.tables import read_table
from leaf.errors import LeafError, NotFoundError, QueryError
from leaf.provenance.coverage import covered_of, sentence
from leaf.settings import Settings
from leaf.shapes.results import AnyResult
from leaf.store.model import Message
from leaf.tools.base import Coverage, Source, Tool, ToolOutput
from leaf.tools.registry import find
from tests.agent_kit import Answered, answer, answered, question

Json = dict[str, Any]
Frame = pd.DataFrame


def orders() -> Frame:
    regions, products = (
        ["North", "South", "East", "West"],
        ["Desk", "Chair", "Lamp", "Shelf", "Sofa"],
    )
    rows = []
    for i in range(240):
        date = pd.Timestamp("2022-01-15") + pd.DateOffset(days=4 * i)
        rows.append(
            {
                "order_id": 1000 + i,
                "order_date": date.date(),
                "region": regions[(i * 7) % 4 if i % 3 else i % 4],
                "product": products[(i * 3) % 5],
                "customer_name": f"Customer {i % 37:02d}",
                "units": (i * 13) % 17 + 1,
                "unit_price": round(19.9 + (i * 31) % 200 + 0.5 * (i % 2), 2),
                "net_revenue": round(
                    ((i * 13) % 17 + 1) * (19.9 + (i * 31) % 200 + 0.5 * (i % 2)), 2
                ),
                "returned": i % 11 == 0,
                "status": ["shipped", "open", "cancelled"][i % 3],
                "discount": None if i % 5 == 0 else round((i % 7) / 100, 2),
            }
        )
    return pd.DataFrame(rows)


def staff() -> Frame:
    people = [
        "Anna",
        "Bernd",
        "Clara",
        "David",
        "Eva",
        "Farid",
        "Greta",
        "Hugo",
        "Ines",
        "Jan",
        "Kim",
        "Lena",
    ]
    return pd.DataFrame(
        {
            "Name": people,
            "Department": [
                "Sales",
                "IT",
                "IT",
                "HR",
                "Sales",
                "IT",
                "Finance",
                "HR",
                "Sales",
                "Finance",
                "IT",
                "Sales",
            ],
            "City": [
                "Berlin",
                "Munich",
                "Berlin",
                "Hamburg",
                "Berlin",
                "Munich",
                "Hamburg",
                "Berlin",
                "Munich",
                "Berlin",
                "Berlin",
                "Hamburg",
            ],
            "Salary (EUR)": [
                52000,
                61000,
                75500,
                48000,
                57250,
                69900,
                64000,
                51000,
                46000,
                83000,
                58000,
                62500,
            ],
            "Age": [34, 45, 29, 51, 38, 42, 36, 27, 31, 58, 40, 33],
            "Hire Date": pd.to_datetime(
                [
                    "2015-03-01",
                    "2018-07-15",
                    "2021-01-10",
                    "2010-05-20",
                    "2019-11-01",
                    "2016-02-29",
                    "2020-08-17",
                    "2022-04-04",
                    "2023-01-09",
                    "2008-10-01",
                    "2017-06-12",
                    "2020-12-01",
                ]
            ),
            "E-Mail": [
                "a@x.de",
                None,
                "c@x.de",
                "d@x.de",
                None,
                "f@x.de",
                "g@x.de",
                "h@x.de",
                None,
                "j@x.de",
                "k@x.de",
                "l@x.de",
            ],
        }
    )


def umsatz() -> Frame:
    filialen = ["Köln", "Bonn", "Aachen"]
    return pd.DataFrame(
        {
            "Filiale": [filialen[i % 3] for i in range(36)],
            "Monat": [f"{i // 3 + 1:02d}" for i in range(36)],
            "Umsatz": [1000.5 + 37 * ((i * 5) % 11) for i in range(36)],
            "Stück": [10 + (i * 7) % 23 for i in range(36)],
            "Kategorie": [["Obst", "Gemüse"][(i // 3) % 2] for i in range(36)],
        }
    )


def countries() -> Frame:
    names = ["France", "Germany", "Spain", "Italy", "Poland"]
    return pd.DataFrame(
        [
            {
                "country": c,
                "year": y,
                "population": 1_000_000 * (k + 3) + 1_000 * (y - 2000) * (k + 1),
                "gdp_per_capita": 20_000.0 + 900 * k + 250 * (y - 2015),
            }
            for k, c in enumerate(names)
            for y in range(2015, 2024)
        ]
    )


def wide() -> Frame:
    return pd.DataFrame(
        {
            "team": ["red", "blue", "green"],
            "2022": [10, 20, 30],
            "2023": [11, 25, 29],
            "total": [21, 45, 59],
        }
    )


def goals() -> Frame:
    owners = [
        f"{first} {last}"
        for first in ("Mary", "Ahmed", "Li")
        for last in ("Smith", "Jones", "Fox", "Ray")
    ]
    return pd.DataFrame(
        {
            "goal_id": [f"g-{i:03d}" for i in range(60)],
            "state": [["Closed", "Open", "In Progress"][i % 3] for i in range(60)],
            "owner": [owners[(i * 5) % 12] for i in range(60)],
            "department": [["HR", "IT", "Sales", "Finance"][(i // 2 + i) % 4] for i in range(60)],
            "start_date": [
                (pd.Timestamp("2024-01-10") + pd.DateOffset(days=5 * i)).date() for i in range(60)
            ],
            "priority": [["High", "Low", "Medium", "Critical"][(i // 3) % 4] for i in range(60)],
            "percent_complete": [round(30 + (i * 37) % 700 / 10, 1) for i in range(60)],
            "target_percentage": [round(60 + (i * 53) % 400 / 10, 1) for i in range(60)],
            "quarter": [i % 4 + 1 for i in range(60)],
            "goal_met": [i % 5 == 0 for i in range(60)],
        }
    )


def sales() -> Frame:
    return pd.DataFrame(
        {
            "region": ["North", "South"] * 8,
            "sales_eur": [10.5 * i for i in range(16)],
            "units": range(16),
        }
    )


FRAMES: dict[str, Callable[[], Frame]] = {
    "orders": orders,
    "staff": staff,
    "umsatz": umsatz,
    "countries": countries,
    "wide": wide,
    "goals": goals,
    "sales": sales,
}
DATA = {name: make() for name, make in FRAMES.items()}


TABLES = duckdb.connect()
"""The tables of all worlds, each made once."""
MADE: dict[str, tuple[pd.DataFrame, Json]] = {}
"""Name -> what a table was made from, and its profile."""


def made(name: str) -> Json:
    """Make a table of `DATA`, unless it is there; its profile."""
    frame, profile = MADE.get(name, (None, {}))
    if frame is not DATA[name]:
        TABLES.register("frame", DATA[name])
        TABLES.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT * FROM frame')
        profile = {
            "name": name,
            "rows": len(DATA[name]),
            "columns": [
                column(name, each, kind)
                for each, kind, *_ in TABLES.execute(f'DESCRIBE "{name}"').fetchall()
            ],
            "sample": plain(TABLES.execute(f'SELECT * FROM "{name}" LIMIT 5').fetchall()),
        }
        MADE[name] = DATA[name], profile
    return copy.deepcopy(profile)


def column(table: str, name: str, kind: str) -> Json:
    q = '"' + name.replace('"', '""') + '"'
    row = TABLES.execute(
        f"SELECT count(*) - count({q}), count(DISTINCT {q}), min({q}), max({q}), count(*) "
        f'FROM "{table}"'
    ).fetchone()
    assert row is not None
    nulls, distinct, low, high, rows = row
    top = []
    if kind in ("VARCHAR", "BOOLEAN") and distinct <= rows / 2:
        top = TABLES.execute(
            f'SELECT {q}, count(*) FROM "{table}" WHERE {q} IS NOT NULL GROUP BY 1 ORDER BY 2 '
            f"DESC, 1 LIMIT 5"
        ).fetchall()
    return {
        "name": name,
        "type": kind,
        "nulls": nulls,
        "distinct": distinct,
        "min": plain(low),
        "max": plain(high),
        "mean": None,
        "top": [list(t) for t in top],
    }


class World:
    """Tools with the data of the real ones over data frames and texts: DuckDB runs the SQL."""

    def __init__(self, *tables: str, texts: dict[str, str] | None = None) -> None:
        self.db = TABLES.cursor()
        self.tables = tables
        for name in tables:
            made(name)
        self.texts = texts or {}
        self.queries: list[str] = []
        self.results: list[list[list[Any]]] = []
        self.charts: list[Json] = []
        self.lock = threading.Lock()
        self.files = [
            {"handle": f"f{i}", "name": f"{t}.csv", "kind": "csv", "tables": [t]}
            for i, t in enumerate(tables, 1)
        ]
        self.files += [
            {"handle": f"t{i}", "name": n, "kind": "text", "tables": []}
            for i, n in enumerate(self.texts, 1)
        ]

    def run(self, name: str, given: Json, stop: threading.Event) -> ToolOutput:
        tools: dict[str, Callable[[Json], ToolOutput]] = {
            "list_files": lambda g: ToolOutput("files", "Listed", data=AnyResult(files=self.files)),
            "describe_table": self.describe,
            "query_tables": self.query,
            "make_chart": self.chart,
            "search_files": self.search,
            "read_file": self.read,
        }
        with self.lock:
            return tools[name](given)

    def describe(self, given: Json) -> ToolOutput:
        name = next(f["tables"][0] for f in self.files if f["handle"] == given["file"])
        profile = AnyResult(profile=made(name))
        return ToolOutput("profile", "Looked", (), (self.whole(name),), profile)

    def whole(self, name: str) -> Coverage:
        rows = len(DATA[name])
        return Coverage(name, f"{name}.csv", "rows", rows, rows)

    def query(self, given: Json) -> ToolOutput:
        self.queries.append(given["sql"])
        try:
            found = self.db.execute(given["sql"])
        except duckdb.Error as e:
            raise QueryError(str(e).splitlines()[0]) from e
        columns = [d[0] for d in found.description or ()]
        types = [str(d[1]) for d in found.description or ()]
        rows = plain(found.fetchall())
        self.results.append(rows)
        used = [n for n in self.tables if n in given["sql"]]
        result_id = f"r{len(self.queries)}"
        table = {
            "columns": columns,
            "types": types,
            "rows": rows[:200],
            "total": len(rows),
            "result_id": result_id,
        }
        return ToolOutput(
            "rows",
            "Queried",
            tuple(Source("f1", n, n, "", "queried") for n in used),
            tuple(self.whole(n) for n in used),
            AnyResult(table=table),
        )

    def chart(self, given: Json) -> ToolOutput:
        self.charts.append(given["spec"])
        return ToolOutput("drawn", "Drew", data=AnyResult(chart=given))

    def search(self, given: Json) -> ToolOutput:
        words = given["query"].lower().split()
        lines = [
            (n, i, line)
            for n, text in self.texts.items()
            for i, line in enumerate(text.splitlines(), 1)
        ]
        scored = sorted(
            ((sum(w in line.lower() for w in words), n, i, line) for n, i, line in lines),
            key=lambda s: -s[0],
        )
        handles = {f["name"]: f["handle"] for f in self.files}
        passages = [
            {"handle": handles[n], "name": n, "place": f"line {i}", "text": line}
            for s, n, i, line in scored
            if s
        ]
        return ToolOutput("found", "Searched", data=AnyResult(passages=passages, notes=[]))

    def read(self, given: Json) -> ToolOutput:
        file = next((f for f in self.files if f["handle"] == given["file"]), None)
        if file is None:
            raise NotFoundError(f"No file '{given['file']}'.")
        passage = {
            "handle": file["handle"],
            "name": file["name"],
            "place": "lines 1-9",
            "text": self.texts[str(file["name"])],
        }
        return ToolOutput(
            "text", "Read", data=AnyResult(passages=[passage], coverage="lines 1-9 of 9")
        )

    def ask(self, text: str | list[Message]) -> Answered:
        names = (
            "list_files",
            "describe_table",
            "query_tables",
            "make_chart",
            "search_files",
            "read_file",
        )
        tools = [Tool(n, n, find(n).input_model, lambda *_: ToolOutput("", "")) for n in names]
        agent = Agent(Endpoint(KeylessModel(), Settings().profile_for), tools, [], FINISHERS)
        result = answer(agent, text, tool=self.run, model="keyless")
        assert result.outcome.status == "completed", result.outcome.error
        assert reduce(result.chunks) == result.outcome.parts
        assert tells(result.text) is isinstance(text, str), "once a chat"
        return result


def plain(value: Any) -> Any:
    """What crosses from the sandbox: plain JSON values."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return (
        value
        if isinstance(value, str | int | float | bool | None)
        else str(value)
        if not hasattr(value, "as_tuple")
        else float(value)
    )


def rows_of(value: Any) -> list[list[Any]]:
    """Expected rows from a figure, a Series (index -> figure) or a DataFrame."""
    if isinstance(value, pd.Series):
        return [[*(k if isinstance(k, tuple) else (k,)), v] for k, v in value.items()]
    if isinstance(value, pd.DataFrame):
        return [list(r) for r in value.itertuples(index=False)]
    return [list(value) if isinstance(value, tuple) else [value]]


def same(got: list[list[Any]], expected: list[list[Any]], *, ordered: bool) -> bool:
    def key(row: list[Any]) -> str:
        return json.dumps(
            [
                f"{v:.4f}" if isinstance(v, float | int) and not isinstance(v, bool) else str(v)
                for v in row
            ]
        )

    def normal(rows: list[list[Any]]) -> list[list[Any]]:
        return [
            [
                v.item() if hasattr(v, "item") else str(v) if hasattr(v, "isoformat") else v
                for v in row
            ]
            for row in rows
        ]

    left, right = [key(r) for r in normal(got)], [key(r) for r in normal(expected)]
    return left == right if ordered else sorted(left) == sorted(right)


ORDERS, S, U, C, W, G = (
    DATA[name] for name in ("orders", "staff", "umsatz", "countries", "wide", "goals")
)
_date = pd.to_datetime(ORDERS.order_date)
_month, _year = _date.dt.strftime("%Y-%m"), _date.dt.year
_day, _week = _date.dt.strftime("%Y-%m-%d"), _date.dt.strftime("%G-W%V")
_no_discount = ORDERS.discount.isna()
_quarter = _date.dt.year.astype(str) + "-Q" + _date.dt.quarter.astype(str)

CASES: list[tuple[str, str, Any]] = [
    # figures of the whole table
    ("orders", "What is the total revenue?", ORDERS.net_revenue.sum()),
    ("orders", "total net revenue", ORDERS.net_revenue.sum()),
    ("orders", "Sum of units", ORDERS.units.sum()),
    ("orders", "average unit price", ORDERS.unit_price.mean()),
    ("orders", "What's the mean of unit_price?", ORDERS.unit_price.mean()),
    ("orders", "median net revenue", ORDERS.net_revenue.median()),
    ("orders", "What is the highest unit price?", ORDERS.unit_price.max()),
    ("orders", "minimum units", ORDERS.units.min()),
    ("orders", "How many rows are there?", 240),
    ("orders", "How many orders are there?", 240),
    ("orders", "how many orders do we have", 240),
    ("orders", "How many customers are there?", ORDERS.customer_name.nunique()),
    ("orders", "number of different products", ORDERS["product"].nunique()),
    ("orders", "standard deviation of unit price", ORDERS.unit_price.std()),
    ("orders", "avg discount", ORDERS.discount.mean()),
    # groups
    ("orders", "total revenue by region", ORDERS.groupby("region").net_revenue.sum()),
    ("orders", "Show me revenue per region", ORDERS.groupby("region").net_revenue.sum()),
    ("orders", "average unit price for each product", ORDERS.groupby("product").unit_price.mean()),
    ("orders", "count of orders by status", ORDERS.groupby("status").size()),
    ("orders", "How many orders per region?", ORDERS.groupby("region").size()),
    ("orders", "number of customers by region", ORDERS.groupby("region").customer_name.nunique()),
    (
        "orders",
        "total revenue by region and product",
        ORDERS.groupby(["region", "product"]).net_revenue.sum(),
    ),
    (
        "orders",
        "average units and unit price by region",
        ORDERS.groupby("region")[["units", "unit_price"]].mean().reset_index(),
    ),
    ("orders", "maximum net revenue by product", ORDERS.groupby("product").net_revenue.max()),
    # rank
    (
        "orders",
        "Which region has the highest revenue?",
        ORDERS.groupby("region").net_revenue.sum().nlargest(1),
    ),
    (
        "orders",
        "Which product has the lowest total revenue?",
        ORDERS.groupby("product").net_revenue.sum().nsmallest(1),
    ),
    (
        "orders",
        "top 3 customers by revenue",
        ORDERS.groupby("customer_name").net_revenue.sum().nlargest(3),
    ),
    ("orders", "bottom 2 products by units", ORDERS.groupby("product").units.sum().nsmallest(2)),
    (
        "orders",
        "Which region has the most orders?",
        ORDERS.groupby("region").size().nlargest(1, keep="all"),
    ),
    (
        "orders",
        "which product had the highest average unit price",
        ORDERS.groupby("product").unit_price.mean().nlargest(1),
    ),
    # conditions
    ("orders", "total revenue in North", ORDERS[ORDERS.region == "North"].net_revenue.sum()),
    (
        "orders",
        "total revenue for region south",
        ORDERS[ORDERS.region == "South"].net_revenue.sum(),
    ),
    ("orders", "How many orders are cancelled?", (ORDERS.status == "cancelled").sum()),
    ("orders", "how many orders have units above 10", (ORDERS.units > 10).sum()),
    ("orders", "average unit price where units >= 5", ORDERS[ORDERS.units >= 5].unit_price.mean()),
    (
        "orders",
        "total revenue of orders with more than 12 units",
        ORDERS[ORDERS.units > 12].net_revenue.sum(),
    ),
    (
        "orders",
        "count of orders where unit price between 50 and 100",
        ORDERS.unit_price.between(50, 100).sum(),
    ),
    (
        "orders",
        "revenue by product in East",
        ORDERS[ORDERS.region == "East"].groupby("product").net_revenue.sum(),
    ),
    (
        "orders",
        "total revenue for North and South",
        ORDERS[ORDERS.region.isin(["North", "South"])].net_revenue.sum(),
    ),
    (
        "orders",
        "revenue for Customer 05",
        ORDERS[ORDERS.customer_name == "Customer 05"].net_revenue.sum(),
    ),
    (
        "orders",
        'total units for "customer 11"',
        ORDERS[ORDERS.customer_name == "Customer 11"].units.sum(),
    ),
    ("orders", "How many orders were returned?", ORDERS.returned.sum()),
    (
        "orders",
        "share of revenue by region",
        pd.DataFrame(
            {
                "r": (g := ORDERS.groupby("region").net_revenue.sum()).index,
                "p": 100 * g.values / g.sum(),
                "s": g.values,
            }
        ),
    ),
    (
        "orders",
        "What percentage of orders are cancelled?",
        (100 * (ORDERS.status == "cancelled").mean(), (ORDERS.status == "cancelled").sum(), 240),
    ),
    # time
    ("orders", "total revenue in 2023", ORDERS[_year == 2023].net_revenue.sum()),
    ("orders", "total revenue since 2024", ORDERS[_year >= 2024].net_revenue.sum()),
    ("orders", "how many orders before 2023", (_year < 2023).sum()),
    ("orders", "revenue in March 2023", ORDERS[_month == "2023-03"].net_revenue.sum()),
    ("orders", "units in Q2 2022", ORDERS[_quarter == "2022-Q2"].units.sum()),
    (
        "orders",
        "total revenue between 2022 and 2023",
        ORDERS[_year.between(2022, 2023)].net_revenue.sum(),
    ),
    ("orders", "revenue by year", ORDERS.groupby(_year).net_revenue.sum()),
    ("orders", "monthly revenue", ORDERS.groupby(_month).net_revenue.sum()),
    ("orders", "revenue per quarter", ORDERS.groupby(_quarter).net_revenue.sum()),
    ("orders", "Show revenue over time", ORDERS.groupby(_month).net_revenue.sum()),
    ("orders", "number of orders by month in 2023", ORDERS[_year == 2023].groupby(_month).size()),
    (
        "orders",
        "which month had the highest revenue",
        ORDERS.groupby(_month).net_revenue.sum().nlargest(1),
    ),
    # other tables
    ("staff", "average salary by department", S.groupby("Department")["Salary (EUR)"].mean()),
    (
        "staff",
        "Which department has the highest average salary?",
        S.groupby("Department")["Salary (EUR)"].mean().nlargest(1),
    ),
    ("staff", "average age of staff in IT", S[S.Department == "IT"].Age.mean()),
    ("staff", "median salary in Munich", S[S.City == "Munich"]["Salary (EUR)"].median()),
    ("umsatz", "Umsatz nach Filiale", U.groupby("Filiale").Umsatz.sum()),
    ("umsatz", "total Umsatz by Filiale", U.groupby("Filiale").Umsatz.sum()),
    ("umsatz", "Summe Umsatz pro Kategorie", U.groupby("Kategorie").Umsatz.sum()),
    ("umsatz", "average Umsatz in Köln", U[U.Filiale == "Köln"].Umsatz.mean()),
    ("umsatz", "durchschnittlicher Umsatz je Filiale", U.groupby("Filiale").Umsatz.mean()),
    (
        "umsatz",
        "Stück by Kategorie for Bonn",
        U[U.Filiale == "Bonn"].groupby("Kategorie")["Stück"].sum(),
    ),
    (
        "countries",
        "total population by country in 2020",
        C[C.year == 2020].groupby("country").population.sum(),
    ),
    ("countries", "average gdp per capita by year", C.groupby("year").gdp_per_capita.mean()),
    ("wide", "sum of 2023", 65),
    ("wide", "total 2022 by team", W.groupby("team")["2022"].sum()),
    ("wide", "sum of total", 125),
    ("sales", "total sales by region", DATA["sales"].groupby("region").sales_eur.sum()),
    ("sales", "How many sales were there in North?", (DATA["sales"].region == "North").sum()),
    ("sales", "average sales", DATA["sales"].sales_eur.mean()),
    # words of a column's name ask for nothing; a row's own id is the row
    ("goals", "How many goals are closed?", (G.state == "Closed").sum()),
    (
        "goals",
        "how many goals are in progress in Finance",
        ((G.state == "In Progress") & (G.department == "Finance")).sum(),
    ),
    (
        "goals",
        "average percent complete by department",
        G.groupby("department").percent_complete.mean(),
    ),
    ("goals", "how many goals per owner", G.groupby("owner").size()),
    ("goals", "How many goals were met by department?", G[G.goal_met].groupby("department").size()),
    (
        "goals",
        "number of goals by month of start date",
        G.groupby(pd.to_datetime(G.start_date).dt.strftime("%Y-%m")).size(),
    ),
    (
        "goals",
        "average target percentage for high priority goals in IT",
        G[(G.priority == "High") & (G.department == "IT")].target_percentage.mean(),
    ),
    ("goals", "how many owners are there", G.owner.nunique()),
    (
        "goals",
        "which owner has the most closed goals",
        (closed := G[G.state == "Closed"].groupby("owner").size())[closed == closed.max()],
    ),
    ("goals", "how many high priority goals are there", (G.priority == "High").sum()),
    ("goals", "what is the most common department", G.department.value_counts().nlargest(1)),
    (
        "orders",
        "what are the 3 most common customers",
        (many := ORDERS.customer_name.value_counts())[many >= many.iloc[2]],
    ),
    (
        "orders",
        "average unit price of orders with 3 units",
        ORDERS[ORDERS.units == 3].unit_price.mean(),
    ),
    (
        "countries",
        "which country had the highest population in 2023",
        C[C.year == 2023].set_index("country").population.nlargest(1),
    ),
    (
        "orders",
        "total units where unit price > 50 and units != 3",
        ORDERS[(ORDERS.unit_price > 50) & (ORDERS.units != 3)].units.sum(),
    ),
    (
        "orders",
        "average unit price of lamps",
        ORDERS[ORDERS["product"] == "Lamp"].unit_price.mean(),
    ),
    ("orders", "how many desks and chairs", ORDERS["product"].isin(["Desk", "Chair"]).sum()),
    ("goals", "goals by quarter", G.groupby("quarter").size()),
    ("goals", "goals per department and state", G.groupby(["department", "state"]).size()),
    ("orders", "orders per month and region", ORDERS.groupby([_month, "region"]).size()),
    (
        "orders",
        "compare units and net revenue by region",
        ORDERS.groupby("region")[["units", "net_revenue"]].sum().reset_index(),
    ),
    # periods side by side, steps of days, a development
    (
        "orders",
        "compare revenue in 2022 and 2023",
        ORDERS[_year.isin([2022, 2023])].groupby(_year).net_revenue.sum(),
    ),
    ("orders", "units on 2023-02-03", ORDERS[_day == "2023-02-03"].units.sum()),
    ("orders", "units on 3 Feb 2023", ORDERS[_day == "2023-02-03"].units.sum()),
    ("orders", "how many orders since March 15th, 2023", (_day >= "2023-03-15").sum()),
    (
        "orders",
        "units between 2023-01-01 and 2023-03-31",
        ORDERS[_day.between("2023-01-01", "2023-03-31")].units.sum(),
    ),
    ("orders", "Summe units seit 15. März 2023", ORDERS[_day >= "2023-03-15"].units.sum()),
    (
        "orders",
        "net revenue in North versus South",
        ORDERS[ORDERS.region.isin(["North", "South"])].groupby("region").net_revenue.sum(),
    ),
    (
        "orders",
        "compare the average unit price of Desk and Lamp",
        ORDERS[ORDERS["product"].isin(["Desk", "Lamp"])].groupby("product").unit_price.mean(),
    ),
    (
        "orders",
        "total net revenue in 2022 or 2023",
        ORDERS[_year.isin([2022, 2023])].net_revenue.sum(),
    ),
    (
        "orders",
        "how has the net revenue developed over the years?",
        ORDERS.groupby(_year).net_revenue.sum(),
    ),
    ("orders", "How did units develop by region?", ORDERS.groupby([_month, "region"]).units.sum()),
    ("orders", "open orders by region", ORDERS[ORDERS.status == "open"].groupby("region").size()),
    ("orders", "daily orders in March 2023", ORDERS[_month == "2023-03"].groupby(_day).size()),
    ("orders", "trend of returned orders", ORDERS[ORDERS.returned].groupby(_month).size()),
    (
        "orders",
        "compare orders between 2022 and 2024",
        ORDERS[_year.isin([2022, 2024])].groupby(_year).size(),
    ),
    ("orders", "trend of units by quarter", ORDERS.groupby(_quarter).units.sum()),
    # empty cells
    ("orders", "How many missing values in discount?", _no_discount.sum()),
    ("orders", "how many orders have an empty discount", _no_discount.sum()),
    (
        "orders",
        "what percentage of discounts are missing",
        (100 * _no_discount.mean(), _no_discount.sum(), 240),
    ),
    ("staff", "how many have a missing e-mail", S["E-Mail"].isna().sum()),
    (
        "orders",
        "missing values in discount by region",
        ORDERS[_no_discount].groupby("region").size(),
    ),
    ("orders", "total units where discount is missing", ORDERS[_no_discount].units.sum()),
    ("orders", "Wie viele fehlende Werte in discount", _no_discount.sum()),
    ("orders", "Combien de valeurs manquantes dans discount ?", _no_discount.sum()),
    ("orders", "cuántos valores faltantes en discount", _no_discount.sum()),
    ("orders", "number of orders by weekday", ORDERS.groupby(_date.dt.day_name()).size()),
    ("orders", "units per week in 2023", ORDERS[_year == 2023].groupby(_week).units.sum()),
    (
        "orders",
        "On which day were the most units?",
        ORDERS.groupby(_day).units.sum().nlargest(1, keep="all"),
    ),
    ("countries", "how has the average population developed?", C.groupby("year").population.mean()),
]


@pytest.mark.parametrize(
    ("table", "asked", "expected"),
    [c for c in CASES if c[2] is not None],
    ids=[c[1] for c in CASES if c[2] is not None],
)
def test_question_gives_the_figures_that_pandas_gives(
    table: str, asked: str, expected: Any
) -> None:
    world = World(table)
    result = world.ask(asked)
    ranked = any(word in asked.lower() for word in ("top ", "bottom ", "which month"))
    assert world.results, result.text
    assert same(world.results[-1], rows_of(expected), ordered=ranked), (
        world.queries[-1],
        world.results[-1][:8],
        result.text,
    )
    assert is_read(result.text)
    assert f"{len(DATA[table]):,} of {len(DATA[table]):,} rows" in read_of(result)


def read_of(result: Answered) -> str:
    """What was read for it, as page and command line say it."""
    return sentence(covered_of(result.outcome.parts))


def is_read(text: str) -> bool:
    """Whether it says, in any language, as what a question was read."""
    return any(said.partition("{")[0] in text for said in in_all("Read as: {query}, in {where}."))


REFUSED = [
    ("orders", "How many units were sold?"),
    ("orders", "What is the latest order date?"),
    ("orders", "earliest order date"),
    ("orders", "sales by product"),
    ("orders", "total revenue excluding North"),
    ("orders", "revenue of orders not returned"),
    ("orders", "how many orders have no discount missing"),
    ("staff", "How many employees are in Berlin?"),
    ("staff", "how many people per city"),
    ("staff", "how many were hired after 2019"),
    ("staff", "how many have no e-mail"),
    ("staff", "average salary of staff older than 40"),
    ("staff", "oldest employee age"),
    ("umsatz", "revenue by branch"),
    ("countries", "population of Germany in 2018"),
    ("countries", "population of Spain over time"),
    ("countries", "How many countries are there?"),
    ("orders", "is the most common region North?"),
    ("orders", "units on 30 February 2023"),
    ("countries", "which country has the most population"),
    ("goals", "percentage of goals met"),
    ("goals", "goals for Mary Smith"),
    ("orders", "How many orders did not ship?"),
    ("orders", "net revenue per unit"),
    ("orders", "growth of revenue by year"),
    ("orders", "total order_id"),
    ("orders", "total revenue by region without cancelled"),
    ("orders", "Umsatz ohne North"),
    ("orders", "ingresos sin North"),
    ("orders", "total units across all files"),
    ("orders", "second highest unit price"),
    ("orders", "correlation between units and net revenue"),
    ("orders", "Which products are there?"),
    ("orders", "What are the different statuses?"),
    ("orders", "total units by regoin"),
    ("countries", "sum of year"),
    ("countries", "population"),
    ("staff", "What is the weather in Lisbon?"),
]


def questions_of(result: Answered) -> list[str]:
    """What is offered to be asked with a press."""
    return [
        each
        for part in result.outcome.parts
        if part["type"] == "data-questions"
        for each in part["data"]
    ]


@pytest.mark.parametrize(("table", "asked"), REFUSED, ids=[asked for _, asked in REFUSED])
def test_what_is_not_wholly_understood_is_said_and_never_answered_with_a_figure(
    table: str, asked: str
) -> None:
    result = World(table).ask(asked)
    refusals = (*in_all(NOT_UNDERSTOOD), *in_all(WHICH_IS_MEANT))
    assert result.text.startswith(tuple(said.partition("{")[0] for said in refusals))
    assert not is_read(result.text)
    assert f"`{table}`): " in result.text or result.text.startswith(in_all(WHICH_IS_MEANT))


@pytest.mark.parametrize(("table", "asked"), REFUSED, ids=[asked for _, asked in REFUSED])
def test_every_question_that_is_offered_is_answered(table: str, asked: str) -> None:
    offered = questions_of(World(table).ask(asked))
    assert offered
    for each in offered:
        assert is_read(World(table).ask(each).text)


@pytest.mark.parametrize("table", ["orders", "staff", "umsatz", "countries", "goals", "sales"])
def test_questions_that_are_suggested_for_a_file_are_answered(table: str) -> None:
    world = World(table)
    profile = world.describe({"file": "f1"}).data.to_json()["profile"]
    asked = read_table(profile, "f1", f"{table}.csv")
    offered = [worded(query, asked, [asked]) for query in first_ideas(asked)]
    found = [proposal for proposal in offered if proposal is not None]
    assert len(found) >= 2
    for each in found:
        assert is_read(world.ask(each.question).text)
        assert world.queries[-1] == each.sql


def test_rows_that_meet_a_condition_are_listed() -> None:
    for asked in (
        "list goals with percent complete above 95",
        "which goals have more than 95 percent_complete",
    ):
        world = World("goals")
        text = world.ask(asked).text
        over = G[G.percent_complete > 95]
        assert text.startswith(f"{len(over)} rows meet this."), text
        assert [row[0] for row in world.results[-1]] == list(over.goal_id)
        assert is_read(text)
    world = World("goals")
    assert world.ask("show me all goals").text.startswith(f"{len(G)} rows\n")
    assert len(world.results[-1]) == len(G)
    refused = World("goals").ask("which goals?").text
    assert not is_read(refused)


def test_what_the_known_words_ask_is_offered_first_and_never_what_a_word_turns() -> None:
    world = World("orders")
    result = world.ask("how many gadgets were delivered to North?")
    nearest = "number of rows where `region` is “North”"
    assert f"Without these words it would ask: {nearest}." in result.text
    assert questions_of(result)[0] == nearest
    assert not is_read(result.text)
    asked = "what is the average unit price of pieces of furniture with 3 units?"
    assert questions_of(World("orders").ask(asked))[0] == ("average `unit_price` where `units` = 3")
    asked = "in which month were the most deals closed in North?"
    assert questions_of(World("orders").ask(asked))[0] == (
        "top 1 month of `order_date` by number of rows where `region` is “North”"
    )
    for turned in ("total revenue excluding North", "revenue without North", "Umsatz ohne North"):
        assert "would ask" not in World("orders").ask(turned).text


def test_a_text_of_many_unknown_words_is_not_read_again_and_again() -> None:
    unknown = " ".join(f"gizmo{chr(97 + n)}" for n in range(7))
    assert "would ask" not in World("orders").ask(f"total units {unknown}").text
    assert "would ask" in World("orders").ask("total units gizmo").text


def test_days_of_the_week_are_drawn_in_their_order() -> None:
    world = World("orders")
    world.ask("number of orders by weekday")
    [chart] = world.charts
    assert chart["mark"] == "bar"
    assert chart["encoding"]["x"]["sort"] is None
    assert [row[0] for row in world.results[-1]][:2] == ["Monday", "Tuesday"]


def test_empty_cells_are_told_beside_what_is_not_a_number() -> None:
    text = World("orders").ask("how many orders where discount != 0.01").text
    assert "`discount` is empty in 48 of 240 rows; these do not count." in text


def test_words_that_were_not_understood_are_named_and_those_that_were() -> None:
    text = World("orders").ask("average unit price for profitable North").text
    assert text.startswith("I did not understand: “profitable”.")
    assert "I did understand `unit_price`, “North” in `region`." in text


def test_how_words_were_taken_stands_before_the_figure() -> None:
    text = World("orders").ask("revenue in North").text
    assert text.index("“revenue” is read as the column `net_revenue`.") < text.index("**")
    assert text.index("`net_revenue` is added up, as nothing else was said.") < text.index("**")


def test_name_that_fits_two_columns_is_asked_back_with_both() -> None:
    DATA["shops"] = pd.DataFrame(
        {"shop": ["a", "b"], "list_price": [1.5, 2.5], "sale_price": [1.0, 2.0]}
    )
    result = World("shops").ask("average price by shop")
    assert result.text.startswith("I did not understand which of these is meant.")
    assert questions_of(result) == [
        "average `list_price` by `shop`",
        "average `sale_price` by `shop`",
    ]


def test_signs_are_conditions_and_no_part_of_a_name() -> None:
    DATA["signs"] = pd.DataFrame({"n": [4, 5, 6, 7]})
    for sign, count in ((">", 2), (">=", 3), ("<", 1), ("<=", 2), ("=", 1), ("!=", 3), ("≠", 3)):
        assert f"**{count}**" in World("signs").ask(f"number of rows where n {sign} 5").text
    assert "I did not understand" in World("signs").ask("number of rows where n ≈ 5").text


def test_ratios_are_not_added_up_and_names_may_overlap() -> None:
    DATA["votes"] = pd.DataFrame(
        {"votes_dem": [1, 2], "total_votes": [4, 5], "per_dem": [0.25, 0.4], "state": ["a", "b"]}
    )
    assert "I did not understand" in World("votes").ask("total per_dem by state").text
    assert "**3**" in World("votes").ask("total votes_dem").text
    assert "**9**" in World("votes").ask("total votes").text


def test_a_long_name_is_called_by_its_first_words_where_no_other_begins_so() -> None:
    DATA["index"] = pd.DataFrame(
        {
            "CPI INDEX 00: ALL ITEMS 2015=100": [1.0, 2.0],
            "GDP at market prices, current": [5.0, 8.0],
            "GDP at constant prices, chained": [6.0, 7.0],
        }
    )
    text = World("index").ask("What is the average CPI?").text
    assert "“CPI” is read as the column `CPI INDEX 00: ALL ITEMS 2015=100`" in text
    assert "**1.50**" in text
    assert "I did not understand" in World("index").ask("What is the average GDP?").text


@pytest.mark.parametrize("number", ["1. ", "2) ", "Question 3: "])
def test_number_before_a_question_asks_for_nothing(number: str) -> None:
    assert World("orders").ask(f"{number}total units").text.startswith("Total units: **")


def test_question_by_steps_of_time_draws_a_line() -> None:
    world = World("orders")
    world.ask("total units by month")
    assert [spec["encoding"]["x"]["field"] for spec in world.charts] == ["month"]
    world.ask("total units by region")
    assert len(world.charts) == 1


def test_period_with_a_word_that_is_no_part_of_it_is_not_understood() -> None:
    for asked in (
        "total units without 2023-03",
        "total units foo 2023-03",
        "total units unless Q2 2023",
    ):
        assert "I did not understand" in World("orders").ask(asked).text
    DATA["yearly"] = pd.DataFrame({"year": [2022, 2023], "units": [1, 2]})
    assert "I did not understand" in World("yearly").ask("total units since March 2023").text
    assert "**2**" in World("yearly").ask("total units since 2023").text


def test_sixty_tables_of_one_shape_are_united_with_a_press() -> None:
    for n in range(60):
        DATA[f"day_{n:02}"] = pd.DataFrame({"shop": ["a", "b"], "amount": [n, 1]})
    names = [f"day_{n:02}" for n in range(60)]
    offered = questions_of(World(*names).ask("total amount for a"))
    assert offered[0] == "total `amount` where `shop` is “a” across the 60 tables of this shape"
    assert "**1,770**" in World(*names).ask(offered[0]).text


def test_who_shares_a_rank_is_shown() -> None:
    DATA["tied"] = pd.DataFrame({"team": ["red", "blue", "green"], "points": [3, 3, 1]})
    assert (
        "**blue** and **red**: total points **3** each."
        in World("tied").ask("which team has the highest total points?").text
    )


def test_tables_of_one_shape_are_united_on_a_press_only() -> None:
    for month in (1, 2, 3):
        DATA[f"till_{month}"] = pd.DataFrame({"shop": ["a", "b"], "amount": [month, 10 * month]})
    names = ("till_1", "till_2", "till_3")
    result = World(*names).ask("total amount")
    assert "3 tables are here; it does not say which." in result.text
    offered = questions_of(result)
    assert offered[0] == "total `amount` across the 3 tables of this shape"
    united = World(*names)
    answer = united.ask(offered[0])
    assert "**66**" in answer.text
    assert "in 3 tables of one shape." in answer.text
    assert all(f"2 of 2 rows of {name}.csv" in read_of(answer) for name in names)
    assert "**22**" in World(*names).ask(offered[2]).text
    assert "I did not understand" in World(*names).ask("total amount across all files").text


TYPED = [
    ("SELECT 1", "SELECT 1"),
    ("```sql\nselect region\nfrom orders;\n```", "select region\nfrom orders"),
    ("Please run\n```\nFROM orders\n```", "FROM orders"),
    ("with x as (select 1) select * from x", "with x as (select 1) select * from x"),
    ("from orders", "from orders"),
    ("From which region came most orders?", ""),
    ("select the best product", ""),
    ("with what margin do we sell", ""),
    ("summarize orders", ""),
]


@pytest.mark.parametrize(("text", "sql"), TYPED)
def test_sql_is_told_from_plain_words(text: str, sql: str) -> None:
    [(tool, given)] = next(script_of(text))
    assert (tool, given.get("sql", "")) == ("query_tables" if sql else "list_files", sql)


def test_typed_sql_is_run_as_it_stands_and_its_error_is_shown() -> None:
    world = World("orders")
    assert (
        "| South | 60 |"
        in world.ask("SELECT region, count(*) AS n FROM orders GROUP BY 1 ORDER BY 1").text
    )
    text = world.ask("SELECT nope FROM orders").text
    assert "The query did not run:" in text
    assert "nope" in text


@pytest.mark.parametrize("asked", ["hello", "Hi!", "What can you do?", "thanks", "help"])
def test_small_talk_needs_no_file_and_no_tool(asked: str) -> None:
    result = World().ask(asked)
    assert not [p for p in result.outcome.parts if p["type"].startswith("tool-")]


def test_without_files_it_says_what_to_do() -> None:
    assert "no file in this chat yet" in World().ask("What is the total revenue?").text


def test_description_gives_columns_with_their_gaps_and_values() -> None:
    text = World("staff").ask("What is in this file?").text
    assert "12 rows, 7 columns" in text
    assert "| E-Mail | varchar | 3 | 9 |" in text


def test_empty_cells_are_named_where_gaps_are_asked_for() -> None:
    text = World("orders").ask("missing values").text
    assert "| discount | double | 48 |" in text


TEXTS = {
    "minutes.txt": "Meeting on Monday\nThe budget was raised to 40,000 euros.\nAnna will call "
    "the supplier.",
    "letter.md": "Dear Bernd,\nthe warranty covers two years from delivery.",
}


def test_text_is_searched_and_quoted_with_its_place() -> None:
    text = World(texts=TEXTS).ask("How long is the warranty?").text
    assert "> the warranty covers two years" in text.replace("Dear Bernd,  \n", "")
    assert "letter.md" in text


def test_named_text_is_shown_from_its_beginning() -> None:
    text = World(texts=TEXTS).ask("Summarize minutes.txt").text
    assert "**minutes.txt** begins (lines 1-9 of 9):" in text
    assert "> The budget was raised" in text


def test_question_that_no_table_answers_goes_to_the_texts() -> None:
    assert (
        "warranty covers two years"
        in World("orders", texts=TEXTS).ask("what does the warranty cover").text
    )


def test_nothing_found_is_said_with_the_words_that_were_tried() -> None:
    assert "matches “zeppelin”" in World(texts=TEXTS).ask("Is there a zeppelin?").text


def test_table_is_chosen_by_its_columns_and_by_its_name() -> None:
    world = World("orders", "staff", "countries")
    world.ask("average salary by department")
    assert '"staff"' in world.queries[-1]
    world.ask("total population by country")
    assert '"countries"' in world.queries[-1]
    assert world.ask("how many rows are in staff.csv").text.startswith("Number of rows: **12**")


def test_second_question_of_a_chat_is_answered_by_itself() -> None:
    world = World("orders")
    first = world.ask("total units")
    history = [
        question("total units"),
        answered(first.outcome, "keyless"),
        question("average unit price", "u2"),
    ]
    assert "Average unit_price" in world.ask(history).text


def test_hostile_cells_and_quotes_are_defused() -> None:
    DATA["bad"] = pd.DataFrame(
        {"name": ["![x](https://e.example/?d=1)", "<img src=x>", "a|b"], "n": [3, 2, 1]}
    )
    text = World("bad").ask("total n by name").text
    assert "![" not in text
    assert "<img" not in text
    assert "a\\|b" in text


def test_tool_that_fails_is_said() -> None:
    class Broken(World):
        def describe(self, given: Json) -> ToolOutput:
            raise LeafError("orders.csv cannot be read: it ends in the middle.", "Save it again.")

    assert "it ends in the middle. Save it again." in Broken("orders").ask("total units").text


def test_names_with_quotes_do_not_break_out_of_the_sql() -> None:
    DATA["odd"] = pd.DataFrame({'say "hi"': ["O'Hara", "Kim"], "n": [3, 2]})
    world = World("odd")
    assert world.ask("total n for O'Hara").text.startswith("Total n: **3**")


@pytest.mark.parametrize(
    "named", ["2024/sales.csv", "2024/sales", "sales.csv", "years.zip/2024/sales.csv"]
)
def test_a_file_in_folders_is_named_by_its_path_or_the_end_of_it(named: str) -> None:
    profile = {
        "name": "sales_2024",
        "rows": 3,
        "columns": [{"name": "revenue", "type": "BIGINT", "min": 1, "max": 9}],
    }
    table = read_table(profile, "f1", "years.zip/2024/sales.csv")
    [query] = Grammar(f"total revenue in {named}", table).readings()
    assert query.figures[0][0] == "sum"


def test_years_and_ids_of_typed_sql_have_no_separators() -> None:
    columns, types = ["year", "customer_id", "revenue"], ["BIGINT", "BIGINT", "BIGINT"]
    rows = [[2024, 104_233, 91_234], [2025, 104_234, 5_000]]
    shown: Any = {"columns": columns, "types": types, "rows": rows, "total": 2, "clipped": False}
    said = of_sql(shown)
    assert "| 2024 | 104233 | 91,234 |" in said
    assert "| 2025 | 104234 | 5,000 |" in said
