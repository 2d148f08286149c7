"""Delimited files that others made: DABench tables beside pandas, Pollock's scores, and files of
one column.

    python -m bench._foreign.delimited [--show]

DABench: rows of data and, of each column that both read as numbers, the sum. Where pandas is
plainly wrong (`PANDAS_WRONG` says how) the table is counted apart.

Pollock (Vitagliano et al., PVLDB 16/8, 2023): ten measures of a loaded file against its clean form
(it loads at all; precision, recall and F1 of header, records and cells, each as bags), averaged
over the files and added up to a score of ten; the weighted score takes the average by the weight of
each pollution in its survey, of those that are here. Leaf gives typed values and the clean form
gives text, so that both are compared as values: 74.69 is $74.69, and a date is its day, month and
year. Where two rows of a header say the same, the clean form says it twice in a name and Leaf once;
that counts as equal. The targets are for this half of the files. Columns that have no names in the
file are compared under those of the clean form (`col_0`).

One column: names, places, goods, sentences, addresses, times, numbers and words of many languages
(the lists of Unicode's CLDR, as Babel ships them), 1 to 50,000 rows, with and without a name above.
Each has to load as one column that holds every line.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench._foreign import CORPORA, Figure
from leaf.errors import LeafError
from leaf.readers.base import KIND, TableInfo
from leaf.readers.tabular.cells import MISSING
from leaf.readers.tabular.delimited import DelimitedReader

PANDAS_WRONG = {
    "Current_Logan.csv": "takes the team's name in the first line for the header, so that "
    "no column "
    "is a number",
}
"""Tables that pandas's defaults misread, and how; a title stands above the header of each."""


@dataclass(frozen=True)
class Loaded:
    """A table as a user queries it: rows of data only."""

    info: TableInfo
    names: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    @property
    def notes(self) -> set[str]:
        """Kinds of notes."""
        return {note.kind for note in self.info.notes}


def load(path: Path) -> list[Loaded]:
    """Every table of a file. Raises FileError."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        tables = []
        for info in DelimitedReader().tables(path, Path(folder)):
            names = tuple(name for name, _ in info.columns)
            chosen = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
            kept = f"WHERE {KIND} = 'data'" if info.marked else ""
            query = f"SELECT {chosen} FROM read_parquet('{Path(folder) / info.parquet}') {kept}"
            tables.append(Loaded(info, names, connection.execute(query).fetchall()))
        return tables


def measure(corpora: Path, show: bool) -> list[Figure]:
    """All three parts; those without their corpus are left out."""
    figures = []
    if (corpora / "dabench").is_dir():
        figures += measure_dabench(corpora / "dabench" / "tables", show)
    if (corpora / "pollock").is_dir():
        figures += measure_pollock(corpora / "pollock", show)
    return figures + measure_one_column(show)


# DABench


def measure_dabench(folder: Path, show: bool) -> list[Figure]:
    """Rows and sums as pandas has them."""
    import pandas as pd

    files = sorted(folder.glob("*.csv"))
    rows = sums = columns = wrong = 0
    for path in files:
        frame = pd.read_csv(path)
        if path.name in PANDAS_WRONG:
            wrong += 1
            continue
        largest = max(load(path), key=lambda table: len(table.rows))
        same = len(largest.rows) == len(frame)
        rows += same
        if show and not same:
            print(
                f"  {path.name}: {len(largest.rows):,} rows, pandas {len(frame):,} "
                f"({', '.join(sorted(largest.notes))})"
            )
        for name, ours, theirs in _sums(largest, frame):
            columns += 1
            equal = math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9) or (
                math.isnan(ours) and math.isnan(theirs)
            )
            sums += equal
            if show and not equal:
                print(f"  {path.name}, {name}: sum {ours!r}, pandas {theirs!r}")
    return [
        Figure(
            "DABench tables",
            f"row counts as pandas, of {len(files) - wrong}",
            rows,
            len(files) - wrong,
        ),
        Figure(
            "DABench tables",
            f"sums as pandas, of {columns:,} columns that both read as numbers",
            sums,
            columns,
        ),
        Figure(
            "DABench tables", f"tables that pandas misreads, of {len(files)}; not compared", wrong
        ),
    ]


def _sums(table: Loaded, frame: Any) -> Iterator[tuple[str, float, float]]:
    """Name and both sums of the columns that both hold as numbers, by place."""
    import pandas as pd

    if len(table.names) != len(frame.columns):
        return
    numeric = {"BIGINT", "DOUBLE"}
    for position, (name, kind) in enumerate(table.info.columns):
        series = frame.iloc[:, position]
        if (
            kind in numeric
            and pd.api.types.is_numeric_dtype(series)
            and not pd.api.types.is_bool_dtype(series)
        ):
            yield (
                name,
                math.fsum(row[position] or 0 for row in table.rows),
                math.fsum(series.dropna()),
            )


# Pollock

WEIGHTS = {
    "file_no_payload": 15, "file_no_trailing_newline": 184, "file_double_trailing_newline": 5, "file_no_header": 470,
    "file_header_multirow": 47, "file_preamble": 282, "file_multitable": 188 / 3, "file_header_only": 3, "file_one_data_row": 4,
    "file_record_delimiter_0xD": 7, "file_record_delimiter_0xA": 1691, "file_field_delimiter_0x9": 4,
    "file_field_delimiter_0x3B": 834, "file_field_delimiter_0x2C_0x20": 101, "file_field_delimiter_0x20": 4,
    "file_quotation_char": 11, "file_escape_char_0x5C": 1, "file_escape_char_0x00": 7, "row_less_sep": 0.36775106082036774,
    "row_more_sep": 0.36775106082036774, "row_field_delimiter": 1 / 7, "row_extra_quote": 1 / 108, "source": 1,
}  # fmt: skip
"""Files of the authors' survey that have the pollution, divided among the files made of it
(`pollock_weights.json`)."""


def measure_pollock(folder: Path, show: bool) -> list[Figure]:
    """The simple score of both parts and the weighted one of the polluted files."""
    scores = {part: _scores(folder / part, show) for part in ("polluted", "survey")}
    polluted = scores["polluted"]
    weights = {
        name: next(w for start, w in WEIGHTS.items() if name.startswith(start)) for name in polluted
    }
    weighted = sum(weights[name] * score for name, score in polluted.items()) / sum(
        weights.values()
    )
    survey = scores["survey"]
    exact = sum(score > 10 - 1e-9 for score in survey.values())
    return [
        Figure(
            "Pollock polluted",
            f"simple score of 10, over {len(polluted):,} files",
            _mean(polluted),
            9.96,
        ),
        Figure(
            "Pollock polluted",
            "weighted score of 10, by the weights of the pollutions here",
            weighted,
            9.6,
        ),
        Figure("Pollock survey", f"simple score of 10, over {len(survey):,} files", _mean(survey)),
        Figure("Pollock survey", f"files that load exactly, of {len(survey):,}", exact),
    ]


def _mean(scores: dict[str, float]) -> float:
    return sum(scores.values()) / len(scores)


def _scores(folder: Path, show: bool) -> dict[str, float]:
    scores = {}
    for path in sorted((folder / "csv").iterdir()):
        with (folder / "clean" / path.name).open(encoding="utf-8-sig", newline="") as file:
            truth = [[_value(cell) for cell in row] for row in csv.reader(file)]
        scores[path.name] = _score(path, truth)
        if show and scores[path.name] < 9.99:
            print(f"  {path.name}: {scores[path.name]:.2f}")
    return scores


def _score(path: Path, truth: list[list[str]]) -> float:
    """The ten measures, added up."""
    try:
        rows = [list(map(_value, row)) for row in _as_rows(load(path))]
    except LeafError:
        return 0.0 if truth else 10.0
    if rows and truth and truth[0][0] == "col_0":
        rows.insert(0, [f"col_{n}" for n in range(len(rows[0]))])
    if not truth:
        return 10.0
    header = _bags([_once(name) for name in truth[0]], rows[0] if rows else [])
    truth = [[_once(name) for name in truth[0]], *truth[1:]]
    records = _bags(["".join(row) for row in truth[1:]], ["".join(row) for row in rows[1:]])
    cells = _bags([c for row in truth for c in row], [c for row in rows for c in row])
    return 1 + sum(header) + sum(records) + sum(cells)


def _as_rows(tables: Sequence[Loaded]) -> Iterator[Sequence[Any]]:
    """The names, where the file has some, and all rows."""
    for number, table in enumerate(tables):
        if "no-header" not in table.notes and (not number or table.names != tables[0].names):
            yield table.names
        yield from table.rows


def _bags(truth: Sequence[str], found: Sequence[str]) -> tuple[float, float, float]:
    """Precision, recall and F1 of two bags."""
    if not truth:
        return 1.0, 1.0, 1.0
    common = (Counter(truth) & Counter(found)).total()
    if not common:
        return 0.0, 0.0, 0.0
    recall, precision = common / len(truth), common / len(found)
    return precision, recall, 2 * precision * recall / (precision + recall)


def _once(name: str) -> str:
    """A name without its repetition: `date date` is that of two rows that both say date, of which
    Leaf names a column once."""
    words = name.split()
    half = len(words) // 2
    return " ".join(words[:half]) if half and words[:half] == words[half:] else name


_DATE = re.compile(r"(\d{1,4})[-/. ](\d{1,2}|[A-Za-z]{3,9})[-/. ](\d{1,4})(?:[T ](\d.*))?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _value(cell: Any) -> str:
    """A value as text that is the same for all ways to write it: numbers without signs of money,
    dates without an order."""
    text = "" if cell is None else " ".join(str(cell).split()).lower()
    if text in MISSING:
        return ""
    if date := _DATE.fullmatch(text):
        month = (
            date[2]
            if date[2].isdigit()
            else str(_MONTHS.index(date[2][:3]) + 1)
            if date[2][:3] in _MONTHS
            else "0"
        )
        parts = sorted(int(part) + (2000 if n != 1 and len(part) == 2 and int(part) > 31 else 0)
                       for n, part in enumerate((date[1], month, date[3])))  # fmt: skip
        time = re.sub(r"(?::00)+$", "", date[4] or "00")
        return "-".join(map(str, parts)) + ("" if time == "00" else " " + time)
    bare = re.sub(r"^\((.*)\)$", r"-\1", re.sub(r"[$€£¥%\s]", "", text)).replace(",", "")
    try:
        return repr(float(bare)) if re.fullmatch(r"[-+]?[\d.]+(?:e[-+]?\d+)?", bare) else text
    except ValueError:
        return text


# One column

LISTS = ("kinds", "labels")
"""Values with a delimiter inside, which are a table to anyone where no name above says that they
are one column."""
LOCALES = (
    "de",
    "fr",
    "es",
    "it",
    "pl",
    "cs",
    "hu",
    "fi",
    "tr",
    "vi",
    "ru",
    "uk",
    "el",
    "ar",
    "he",
    "fa",
    "hi",
    "th",
    "ja",
    "zh",
    "ko",
)
FIRST = (
    "Jane",
    "John",
    "Ada",
    "Jean-Luc",
    "Mary Ann",
    "José",
    "Øyvind",
    "Anne-Marie",
    "Siobhán",
    "Li",
    "Min",
    "O'Brien",
)
LAST = (
    "Doe",
    "Smith",
    "King",
    "van der Berg",
    "Müller",
    "García Márquez",
    "O'Neil",
    "Wei",
    "Kim",
    "St. John",
    "De la Cruz",
)
CITIES = (
    "Springfield, IL",
    "Portland, OR",
    "Washington, D.C.",
    "Austin, TX",
    "St. Louis, MO",
    "New York, NY",
    "Reno, NV",
)
STREETS = ("Main St", "Oak Avenue", "5th Ave, Apt 3", "High Street", "Elm Rd")
GOODS = (
    "Desk Lamp",
    "Office Chair",
    "USB-C Cable 2m",
    "Pen Set",
    "iPhone 12",
    "Boeing 747",
    "Bolt M8 x 40",
    "Tea: green",
    "Mug; blue",
)
WORDS = (
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "and",
    "then",
    "however",
    "it",
    "rained",
    "in",
    "Graz",
    "again",
    "today",
)


def measure_one_column(show: bool) -> list[Figure]:
    """Files that are split, and rows that are lost; a first value taken for the name is counted
    apart, as a note says so."""
    split = lost = rows = heads = files = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "list.csv"
        for name, header, values in one_column_files():
            files += 1
            path.write_text(
                "\n".join([*([header] if header else []), *values]) + "\n", encoding="utf-8"
            )
            given = [v for v in values if v.strip()]
            rows += len(given)
            try:
                tables = load(path)
            except LeafError:
                tables = []
            is_split = len(tables) != 1 or any(len(table.names) != 1 for table in tables)
            missing = len(given) - sum(len(table.rows) for table in tables)
            assumed = (
                not header
                and missing == 1
                and bool(tables)
                and tables[0].names[0] == " ".join(given[0].split())
            )
            heads += assumed
            missing = 0 if assumed else max(0, missing)
            split += is_split
            lost += missing
            if show and (is_split or missing):
                print(
                    f"  {name}: {len(tables)} tables, {[t.names for t in tables]}, {missing} of "
                    f"{len(given)} rows lost"
                )
    return [
        Figure("One column", f"files that are split, of {files:,}", split, 0, at_least=False),
        Figure("One column", f"rows lost, of {rows:,}", lost, 0, at_least=False),
        Figure(
            "One column",
            f"lists without a name whose first value became the name with a note, of "
            f"{files:,} files",
            heads,
        ),
    ]


def one_column_files() -> Iterator[tuple[str, str, list[str]]]:
    """Name, header (empty for none) and values of each file."""
    for number, (name, header, values) in enumerate([*_words(), *_made()]):
        yield name, header, values
        if not name.startswith(LISTS):
            yield f"{name} without a name", "", values
        if number % 3 == 0:
            yield (
                f"{name} with empty lines",
                header,
                [line for v in values for line in (v, *([""] if len(v) % 5 == 0 else []))],
            )


def _words() -> Iterator[tuple[str, str, list[str]]]:
    """Lists of the CLDR: countries, languages, currencies and time zones in many languages, and
    other real lists."""
    import encodings.aliases
    import html.entities
    import unicodedata
    from http import HTTPStatus
    from zoneinfo import available_timezones

    from babel import Locale

    for code in LOCALES:
        locale = Locale.parse(code)
        yield (
            f"countries {code}",
            "Country",
            [str(v) for k, v in sorted(locale.territories.items()) if len(k) == 2],
        )
        yield f"languages {code}", "Language", [str(v) for _, v in sorted(locale.languages.items())]
        yield (
            f"currencies {code}",
            "Währung / currency",
            [str(v) for _, v in sorted(locale.currencies.items())],
        )
        yield f"months {code}", "m", [str(locale.months["format"]["wide"][n]) for n in range(1, 13)]
    yield "time zones", "zone", sorted(available_timezones())
    yield (
        "characters",
        "name",
        [unicodedata.name(chr(n), f"unassigned {n}") for n in range(0x21, 0x2FF)],
    )
    yield "statuses", "phrase", [status.phrase for status in HTTPStatus]
    yield (
        "status descriptions",
        "text",
        [status.description for status in HTTPStatus if status.description],
    )
    yield "entities", "entity", sorted(html.entities.html5)
    yield "encodings", "alias", sorted(encodings.aliases.aliases)


def _made() -> Iterator[tuple[str, str, list[str]]]:
    """What people keep in one column, at several lengths."""
    pick = random.Random(10)
    number = pick.randint

    def word() -> str:
        return pick.choice(WORDS)

    makers: dict[tuple[str, str], Callable[[], str]] = {
        ("names", "Name"): lambda: f"{pick.choice(FIRST)} {pick.choice(LAST)}",
        ("two words", "Full name"): lambda: f"{pick.choice(FIRST[:3])} {pick.choice(LAST[:3])}",
        ("last, first", "Name"): lambda: f"{pick.choice(LAST)}, {pick.choice(FIRST)}",
        ("places", "Place"): lambda: pick.choice(CITIES),
        ("addresses", "Address"): lambda: f"{number(1, 999)} {pick.choice(STREETS)}, {pick.choice(CITIES)} {number(100, 999)}99",
        ("goods", "Product"): lambda: pick.choice(GOODS),
        ("sentences", "Comment"): lambda: " ".join(pick.choices(WORDS, k=number(3, 14))) + pick.choice((".", "!", ", or not.")),
        ("addresses of pages", "URL"): lambda: f"https://www.{word()}.org/{word()}?a={number(1, 99)},{number(1, 9)}",
        ("times", "Time"): lambda: f"{number(0, 23):02d}:{number(0, 59):02d}",
        ("times with seconds", "Start"): lambda: f"{number(0, 23):02d}:{number(0, 59):02d}:{number(0, 59):02d}",
        ("thousands", "Population"): lambda: f"{number(1000, 9_999_999):,}",
        ("small thousands", "Amount"): lambda: f"{number(1, 99_999):,}",
        ("amounts", "Price"): lambda: f"$ {number(100, 9_999_999) / 100:,.2f}",
        ("decimal commas", "Preis"): lambda: f"{number(1, 999)},{number(0, 99):02d}",
        ("days", "Day"): lambda: f"{number(2000, 2030)}-{number(1, 12):02d}-{number(1, 28):02d}",
        ("moments", "At"): lambda: f"{number(1, 28):02d}/{number(1, 12):02d}/2024 {number(10, 23)}:{number(10, 59)}",
        ("days in words", "Date"): lambda: f"{pick.choice(('January', 'May', 'Sept.'))} {number(1, 28)}, {number(1990, 2030)}",
        ("mail", "E-mail"): lambda: f"{word()}.{word()}@{word()}.org",
        ("telephones", "Phone"): lambda: f"+43 {number(100, 999)} {number(100000, 999999)}",
        ("card numbers", "Card"): lambda: " ".join(f"{number(0, 9999):04d}" for _ in range(4)),
        ("hardware addresses", "MAC"): lambda: ":".join(f"{number(0, 255):02x}" for _ in range(6)),
        ("ratios", "Ratio"): lambda: f"{number(1, 9)}:{number(1, 9)}",
        ("keys and values", "Setting"): lambda: f"{word()}: {word()}",
        ("kinds", "genres"): lambda: "|".join(pick.sample(WORDS, number(1, 5))),
        ("labels", "tags"): lambda: ",".join(pick.sample(WORDS, number(1, 4))),
        ("paths", "Path"): lambda: "/" + "/".join(pick.choices(WORDS, k=number(1, 5))),
        ("ranges", "Range"): lambda: f"{number(1, 50)}-{number(51, 99)}",
        ("said", "Quote"): lambda: f'"{word()}" {word()}, he said',
        ("sizes", "Size"): lambda: f'{number(2, 40)}" {pick.choice(GOODS[:4])}',
        ("Chinese", "姓名"): lambda: "".join(pick.choices("王李张刘陈杨黄赵吴周小明华", k=3)),
        ("Arabic", "الاسم"): lambda: " ".join(pick.sample(("محمد", "أحمد", "فاطمة", "علي", "زينب", "حسن"), 2)),
    }  # fmt: skip
    for (name, header), make in makers.items():
        for size in (1, 2, 3, 6, 40):
            yield f"{name}, {size}", header, [make() for _ in range(size)]
    for name in ("names", "places", "thousands", "sentences"):
        make = next(m for (n, _), m in makers.items() if n == name)
        yield f"{name}, 50,000", name.capitalize(), [make() for _ in range(50_000)]


def main() -> int:
    """Print the figures of this section alone; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--show", action="store_true", help="say what deviates")
    figures = measure(CORPORA, parser.parse_args().show)
    for figure in figures:
        target = (
            ""
            if figure.target is None
            else f"  target {'>=' if figure.at_least else '<='} {figure.target:g}"
        )
        print(
            f"{'ok ' if figure.met else 'NOT'} {figure.subject}: {figure.what}: "
            f"{figure.value:g}{target}"
        )
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
