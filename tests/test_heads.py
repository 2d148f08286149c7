"""Of which tables code reads the first rows alone, found by reading the code."""

from __future__ import annotations

import pytest

from leaf.tables.heads import TableSize, first_by
from leaf.tables.lineage import cells_behind

SALES = {"sales": TableSize(1_590, frozenset(("region", "comment")))}


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ("sales.head()", 5),
        ("sales.head(50)", 50),
        ("sales.tail(n=7)", 7),
        ("sales.sample()", 1),
        ("sales.sample(20, random_state=1)", 20),
        ("sales.sample(frac=0.1)", 159),
        ("sales[:30]", 30),
        ("sales[-3:]", 3),
        ("sales[10:20]", 10),
        ("sales.iloc[:40]", 40),
        ("sales.iloc[:40, 0]", 40),
        ("sales.iloc[0]", 1),
        ("sales['comment'].head(9)", 9),
        ("sales.comment[:9]", 9),
        ("sales[['region', 'comment']].tail(9)", 9),
        ("print(sales.comment.tolist()[:60])", 60),
        ("for text in sales.comment.values[:60]:\n    print(text)", 60),
        ("print(len(sales), sales.shape, list(sales.columns))\nsales.head(3)", 3),
        ("sales.head(3)\nsales.tail(3)", 6),
        ("some = sales.head(50)\nsome.groupby('region').size()", 50),
        ("plt.title('the sales')\nsales.head(2).plot()", 2),
        ("sales.head(9_999)", 1_590),
        ("df = sales\nprint(df.head(20))", 20),
        ("df = sales.copy()\ndf.head(20)\ndf.tail(5)", 25),
        ("texts = sales[['comment']]\nfor c in texts.comment[:30]:\n    print(c)", 30),
        ("texts = sales.comment.dropna().tolist()\nprint(texts[:30])\nlen(texts)", 30),
        ("print(list(sales.comment)[:30])", 30),
        ("for i in range(10):\n    print(sales.iloc[i]['comment'])", 10),
        ("print([sales.comment[i] for i in range(5, 20)])", 15),
        ("print(sales.loc[:9, 'comment'])", 10),
        ("for row in itertools.islice(sales.itertuples(), 10):\n    print(row)", 10),
        ("print(list(islice(sales.comment, 10, 30)))", 20),
        ("print(sales.to_dict('records')[:10])", 10),
        ("query('SELECT comment FROM sales LIMIT 10')", 10),
        ("query('SELECT comment FROM sales ORDER BY random() LIMIT 10')", 10),
        ("query('SELECT comment FROM sales USING SAMPLE 10')", 10),
        ("query('select * from sales limit 10 offset 40;')\nsales.head(3)", 13),
    ],
)
def test_so_many_rows_are_read(code: str, rows: int) -> None:
    assert first_by([code], SALES) == {"sales": rows}


@pytest.mark.parametrize(
    "code",
    [
        "sales",
        "len(sales)",
        "sales.describe()",
        "sales.head(n)",
        "sales.head(-5)",
        "sales[::2]",
        "sales.iloc[i]",
        "sales.iloc[0:n]",
        "sales.sample(frac=2, replace=True)",
        "sales.sort_values('region').head(5)",
        "sales.comment.value_counts().head(5)",
        "sales[sales.region == 'North'].head(5)",
        "sales.head(5)\nsales.region.nunique()",
        "sales.head(5)\nquery('SELECT count(*) FROM sales')",
        "sales = sales.dropna()\nsales.head()",
        "for text in sales.comment:\n    print(text)",
        "sales.comment = 1\nsales.head()",
        "sales.head(",
        "df = sales\ndf.head(5)\ndf.comment.nunique()",
        "df = sales\ndf = other\ndf.head(5)",
        "df = other = sales\ndf.head(5)",
        "sales.to_dict()['comment'][:5]",
        "for i in range(n):\n    print(sales.iloc[i])",
        "for i in sales.index:\n    print(sales.comment[i])",
        "sales.loc[-3:]",
        "query('SELECT DISTINCT comment FROM sales LIMIT 10')",
        "query('SELECT count(*) FROM sales LIMIT 10')",
        "query('SELECT * FROM sales USING SAMPLE 10%')",
        "query('SELECT * FROM sales ORDER BY comment LIMIT 10')",
        "query(f'SELECT * FROM sales LIMIT {n}')",
    ],
)
def test_what_may_read_more_counts_as_all(code: str) -> None:
    assert first_by([code], SALES) == {}


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        (("some = sales.head(5)", "some.region"), 5),
        (("by = sales.groupby('region')", "sales.head(5)"), 5),
        (("sales.describe()", "x = 1", "sales.head(5)"), 5),
        (("by = sales.groupby('region')", "n = len(by)", "sales.head(5), n"), None),
        (("def all():\n    return sales.sum()", "sales.head(5), all()"), None),
        (("sales['x'] = 1", "sales.head(5)"), None),
        (("sales.dropna(inplace=True)", "sales.head(5)"), None),
        (("sales.insert(0, 'x', sales.sum())", "sales.head(5)"), None),
    ],
)
def test_earlier_cells_count_where_the_last_uses_what_they_set(
    cells: tuple[str, ...], rows: int | None
) -> None:
    expected = {} if rows is None else {"sales": rows}
    assert first_by(cells_behind(cells, SALES), SALES) == expected
