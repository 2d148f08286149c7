"""Tables out of JSON, JSON Lines and Parquet."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leaf.errors import FileTooLargeError, UnreadableFileError
from leaf.readers.base import TableInfo, Where
from leaf.readers.tabular.delimited import DelimitedReader
from leaf.readers.tabular.json import JsonReader
from leaf.readers.tabular.parquet import ParquetReader


def load(path: Path, out: Path) -> list[tuple[TableInfo, list[tuple[Any, ...]]]]:
    infos = (
        ParquetReader().tables(path, out)
        if path.suffix == ".parquet"
        else JsonReader().tables(path, out)
    )
    return [
        (i, duckdb.connect().execute(f"SELECT * FROM read_parquet('{out / i.parquet}')").fetchall())
        for i in infos
    ]


def load_json(tmp_path: Path, value: Any) -> list[tuple[TableInfo, list[tuple[Any, ...]]]]:
    path = tmp_path / "a.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return load(path, tmp_path / "out")


def test_nested_records_become_columns_and_lists_stay_json(tmp_path: Path) -> None:
    records = [
        {
            "id": 1,
            "who": {"name": "Eva", "address": {"zip": "0123"}},
            "tags": ["a", "b"],
            "ok": True,
        },
        {"id": 2, "who": {"name": "Olaf"}, "score": 1.5, "day": "2024-01-02"},
    ]
    ((info, rows),) = load_json(tmp_path, records)
    assert info.columns == (
        ("id", "BIGINT"), ("who.name", "VARCHAR"), ("who.address.zip", "VARCHAR"), ("tags", "VARCHAR"), ("ok", "BOOLEAN"),
        ("score", "DOUBLE"), ("day", "DATE"),
    )  # fmt: skip
    assert rows == [
        (1, "Eva", "0123", '["a","b"]', True, None, None),
        (2, "Olaf", None, None, None, 1.5, date(2024, 1, 2)),
    ]


def test_one_list_inside_an_object_is_the_table_and_the_rest_is_named(tmp_path: Path) -> None:
    ((info, rows),) = load_json(tmp_path, {"page": 1, "data": [{"a": 1}, {"a": 2}]})
    assert rows == [(1,), (2,)]
    assert [n.text for n in info.notes] == ["1 members beside the tables were not loaded: page."]


def test_several_lists_are_several_tables_under_their_names(tmp_path: Path) -> None:
    found = load_json(tmp_path, {"orders": [{"a": 1}], "meta": {"people": [{"b": "x"}]}})
    assert [(i.sheet, r) for i, r in found] == [("orders", [(1,)]), ("meta.people", [("x",)])]


def test_columns_of_lists_and_rows_of_lists_are_tables(tmp_path: Path) -> None:
    assert load_json(tmp_path, {"a": [1, 2], "b": ["x", "y"]})[0][1] == [(1, "x"), (2, "y")]
    ((info, rows),) = load_json(tmp_path, [["id", "name"], [1, "x"], [2, "y"]])
    assert [n for n, _ in info.columns] == ["id", "name"]
    assert rows == [(1, "x"), (2, "y")]


def test_geojson_features_are_rows(tmp_path: Path) -> None:
    feature = {
        "type": "Feature",
        "geometry": {"type": "Point", "coordinates": [1.5, 2]},
        "properties": {"name": "Graz"},
    }
    ((info, rows),) = load_json(
        tmp_path, {"type": "FeatureCollection", "features": [feature, feature]}
    )
    names = [n for n, _ in info.columns]
    assert rows[0][names.index("properties.name")] == "Graz"
    assert rows[0][names.index("geometry.coordinates")] == "[1.5,2]"


def test_integer_beyond_64_bits_keeps_its_digits(tmp_path: Path) -> None:
    assert load_json(tmp_path, '[{"n": 123456789012345678901234567890}, {"n": 1}]')[0][1] == [
        ("123456789012345678901234567890",), ("1",),
    ]  # fmt: skip


def test_json_that_is_no_table_is_read_by_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"name": "x", "on": true}')
    assert load(path, tmp_path / "out") == []
    passages = list(JsonReader().passages(path, Where("line", 2, 3)))
    assert [(p.unit, p.number, p.text) for p in passages] == [
        ("line", 2, '  "name": "x",'),
        ("line", 3, '  "on": true'),
    ]
    assert JsonReader().outline(path).lines == 4


def test_lines_of_a_document_are_those_of_its_pretty_form(tmp_path: Path) -> None:
    value = {"a": [1, [], {}, [2.5, None, "x\ny, z"]], "b": {"c": {"d": "ü"}}, "e": []}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value))
    lines = [p.text for p in JsonReader().passages(path, Where())]
    assert lines == json.dumps(value, ensure_ascii=False, indent=2).split("\n")
    assert JsonReader().outline(path).lines == len(lines)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        pytest.param(json.dumps(list(range(30))), True, id="numbers"),
        pytest.param(json.dumps([{"a": n, "b": 1} for n in range(12)]), True, id="records"),
        pytest.param(
            json.dumps(["a,b,c," * 20, 'say ",,,,", \\ and \\" too' + "," * 30]),
            False,
            id="commas in texts",
        ),
        pytest.param(json.dumps(list(range(20))), False, id="few"),
    ],
)
def test_a_document_of_too_many_values_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, refused: bool
) -> None:
    monkeypatch.setattr("leaf.readers.tabular.json_parser.MAX_VALUES", 20)
    path = tmp_path / "numbers.json"
    path.write_text(text)
    for piece in (7, 1 << 22):
        monkeypatch.setattr("leaf.readers.tabular.json_parser._PIECE", piece)
        if not refused:
            assert JsonReader().outline(path).kind == "json"
            continue
        with pytest.raises(FileTooLargeError, match=r"It holds over .* million values.*JSON Lines"):
            JsonReader().outline(path)


@pytest.mark.parametrize("count", [50, 40_000])
def test_json_lines_small_and_large_load_whole(tmp_path: Path, count: int) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("w") as file:
        for n in range(count):
            file.write(
                json.dumps(
                    {
                        "id": n,
                        "who": {"name": f"person {n % 90}"},
                        "amount": n / 4,
                        "tags": [n],
                        "pad": "x" * 1000,
                    }
                )
                + "\n"
            )
        file.write('{"id": -1, "late": 7}\n')
    ((info, rows),) = load(path, tmp_path / "out")
    assert info.rows == len(rows) == count + 1
    assert [n for n, _ in info.columns] == ["id", "who.name", "amount", "tags", "pad", "late"]
    assert dict(info.columns)["late"] == "BIGINT"
    assert rows[3][:4] == (3, "person 3", 0.75, "[3]")
    assert rows[-1] == (-1, None, None, None, None, 7)


def test_broken_json_line_is_left_out_and_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n{"a": \n{"a": 4}\n')
    ((info, rows),) = load(path, tmp_path / "out")
    assert rows == [(1,), (2,), (4,)]
    assert [(n.kind, n.count, n.place) for n in info.notes] == [("rows-skipped", 1, "line 3")]


def test_truncated_json_says_where(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="line 1, column"):
        load_json(tmp_path, '{"data": [{"a": 1}, {"a"')


def test_json_records_are_read_by_row(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"n": n} for n in range(20)]))
    assert [(p.number, p.text) for p in JsonReader().passages(path, Where("row", 5, 6))] == [
        (5, '{"n":4}'),
        (6, '{"n":5}'),
    ]


def test_parquet_is_copied_and_read_from_late_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"id": range(5000), "name": [f"n{i}" for i in range(5000)]}),
        path,
        row_group_size=1000,
    )
    ((info, rows),) = load(path, tmp_path / "out")
    assert (info.rows, rows[4321], info.columns) == (
        5000,
        (4321, "n4321"),
        (("id", "BIGINT"), ("name", "VARCHAR")),
    )
    passages = list(ParquetReader().passages(path, Where("row", 4001, 4002)))
    assert [(p.number, p.text) for p in passages] == [
        (4001, "[columns: id | name]\n4000 | n4000"),
        (4002, "4001 | n4001"),
    ]
    outline = ParquetReader().outline(path)
    assert (outline.rows, outline.columns) == (5000, 2)


def test_nested_parquet_columns_become_json_text(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [1], "tags": [["a", "b"]], "who": [{"name": "Eva"}]}), path)
    ((info, rows),) = load(path, tmp_path / "out")
    assert rows == [(1, '["a","b"]', '{"name":"Eva"}')]
    assert [n.kind for n in info.notes] == ["nested"]


def test_truncated_parquet_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [1, 2]}), path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(UnreadableFileError, match="no readable Parquet"):
        load(path, tmp_path / "out")


def test_control_characters_are_read_as_windows_means_them(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("Name,Sum\nO\x92Neil \x96 caf\xe9,10.5\nAnn,3.5\n", encoding="utf-8")
    (info,) = DelimitedReader().tables(path, tmp_path)
    found = duckdb.connect().execute(f"SELECT Name FROM '{tmp_path / info.parquet}'").fetchall()
    assert found == [("O’Neil – café",), ("Ann",)]
    assert next(n.count for n in info.notes if n.kind == "controls-mended") == 1


def test_records_with_too_many_different_members_are_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({f"k{i}_{j}": 1 for j in range(20)}) for i in range(900)))
    with pytest.raises(FileTooLargeError, match="different members"):
        JsonReader().tables(path, tmp_path)


@pytest.mark.parametrize("padding", [0, 33_000_000])
def test_a_name_with_a_dot_and_a_member_inside_of_an_object_are_two_columns(
    tmp_path: Path, padding: int
) -> None:
    path = tmp_path / "a.jsonl"
    records = [{"a.b": 1, "a": {"b": 2}}, {"a": {"b": 4}}, {"a.b": 5, "pad": " " * padding}]
    path.write_text("\n".join(map(json.dumps, records)))
    ((info, rows),) = load(path, tmp_path / "out")
    assert [name for name, _ in info.columns] == ["a.b", "a.b_2", "pad"]
    assert [row[:2] for row in rows] == [(1, 2), (None, 4), (5, None)]
    assert "names-repeated" in [note.kind for note in info.notes]


def test_what_records_are_called_by_takes_no_members_name(tmp_path: Path) -> None:
    members = {f"k{n}": {"key": n, "_key": f"x{n}"} for n in range(3)}
    ((info, rows),) = load_json(tmp_path, members)
    assert [name for name, _ in info.columns] == ["__key", "key", "_key"]
    assert rows[1] == ("k1", 1, "x1")


def test_a_member_that_is_called_like_the_way_to_a_table_is_named_as_not_loaded(
    tmp_path: Path,
) -> None:
    records = [{"n": n} for n in range(3)]
    ((info, _),) = load_json(tmp_path, {"a.b": records, "a": 5})
    (note,) = [note for note in info.notes if note.kind == "members-left"]
    assert "not loaded: a." in note.text


@pytest.mark.parametrize("count", [2, 40])
def test_records_under_their_keys_are_a_table_that_begins_with_the_key(
    tmp_path: Path, count: int
) -> None:
    value = {
        f"k{n}": {"name": f"n{n}", "size": n, **({"note": "x"} if n % 3 else {})}
        for n in range(1, count + 1)
    }
    ((info, rows),) = load_json(tmp_path, value)
    assert info.columns[:3] == (("key", "VARCHAR"), ("name", "VARCHAR"), ("size", "BIGINT"))
    assert len(rows) == count
    assert rows[0] == ("k1", "n1", 1, "x")


def test_records_under_their_keys_inside_a_document_are_a_table(tmp_path: Path) -> None:
    people = {f"u{n}": {"key": n, "name": "x", "orders": [{"a": 1}]} for n in range(5)}
    ((info, rows),) = load_json(tmp_path, {"made": "today", "data": {"users": people}})
    assert [name for name, _ in info.columns] == ["_key", "key", "name", "orders"]
    assert rows[4][:2] == ("u4", 4)
    assert [n.kind for n in info.notes] == ["members-left"]


def test_columns_of_a_data_frame_under_their_labels_are_put_side_by_side(tmp_path: Path) -> None:
    value = {
        "name": {"0": "a", "1": "b"},
        "size": {"0": 1, "1": 2},
        "day": {"0": "2024-01-02", "1": "2024-01-03"},
    }
    ((_, rows),) = load_json(tmp_path, value)
    assert rows == [("a", 1, date(2024, 1, 2)), ("b", 2, date(2024, 1, 3))]
    ((info, rows),) = load_json(tmp_path, {"a": {"7": 1, "9": 2}, "b": {"7": 3, "9": 4}})
    assert [name for name, _ in info.columns] == ["key", "a", "b"]
    assert rows == [(7, 1, 3), (9, 2, 4)]


def test_rows_beside_the_names_of_their_columns_have_them(tmp_path: Path) -> None:
    value = {"columns": ["a", "b"], "index": ["x", "y"], "data": [[1, "p"], [2, "q"]]}
    ((info, rows),) = load_json(tmp_path, value)
    assert [name for name, _ in info.columns] == ["key", "a", "b"]
    assert rows == [("x", 1, "p"), ("y", 2, "q")]
    ((info, rows),) = load_json(tmp_path, {**value, "index": [0, 1]})
    assert [name for name, _ in info.columns] == ["a", "b"]


def test_columns_whose_labels_are_words_are_told_by_their_kinds(tmp_path: Path) -> None:
    value = {"name": {"x": "a", "y": "b", "z": "c"}, "size": {"x": 1, "y": 2, "z": 3}}
    ((info, rows),) = load_json(tmp_path, value)
    assert [name for name, _ in info.columns] == ["key", "name", "size"]
    assert rows[0] == ("x", "a", 1)


@pytest.mark.parametrize(
    "value",
    [
        {"server": {"host": "a", "port": 1}, "log": {"level": "info"}, "paths": {"home": "/"}},
        {
            "scripts": {"build": "x", "test": "y"},
            "dependencies": {"react": "1", "vue": "2"},
            "engines": {"node": "20"},
        },
        {
            "en": {f"word {n}": "x" for n in range(300)},
            "de": {f"word {n}": "y" for n in range(300)},
        },
        {"a": {"x": 1, "y": "one"}, "b": {"x": "two", "y": 2}, "c": {"x": True, "y": None}},
        {"a": {"inner": {"x": 1}}, "b": {"inner": {"x": 2}}},
    ],
)
def test_objects_of_no_one_shape_stay_what_they_are(tmp_path: Path, value: Any) -> None:
    assert load_json(tmp_path, value) == []


AGAIN = '{"id": 1, "tag": "a:b", "at": {"x": 1, "x": 2}, "tag": "c\\": d", "tag_2": "e", "tag": 7}'
ONCE = '{"id": 2, "tag": "at 10:30, see http://x", "at": {"x": 3}}'
PLAIN = '{"id": 3}'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("form", ["records", "inside", "lines"])
def test_members_of_one_name_are_all_kept_and_named(
    tmp_path: Path, form: str, encoding: str
) -> None:
    records = ", ".join([ONCE, AGAIN, PLAIN])
    text = {
        "records": f"[{records}]",
        "inside": f'{{"data": [{records}]}}',
        "lines": "\n".join([ONCE, AGAIN, PLAIN]),
    }[form]
    path = tmp_path / "a.json"
    path.write_text(text, encoding=encoding)
    (info,) = JsonReader().tables(path, tmp_path)
    assert [name for name, _ in info.columns] == [
        *("id", "tag", "at.x", "at.x_2", "tag_3", "tag_2", "tag_4")
    ]
    rows = duckdb.sql(f"SELECT * FROM '{tmp_path / info.parquet}'").fetchall()
    assert rows == [
        (2, "at 10:30, see http://x", 3, None, None, None, None),
        (1, "a:b", 1, 2, 'c": d', "e", 7),
        (3, None, None, None, None, None, None),
    ]
    said = [note.text for note in info.notes if note.kind == "names-repeated"]
    assert said == [
        "Members that an object names more than once got a number: x, tag (objects: 2)."
    ]
    assert [n.text for n in JsonReader().outline(path).notes if n.kind == "names-repeated"] == said


@pytest.mark.parametrize("between", [":", " : ", "\t:", "  :"])
def test_members_of_one_name_are_found_however_the_colons_are_set(
    tmp_path: Path, between: str
) -> None:
    path = tmp_path / "a.jsonl"
    again = f'{{"a": 1, "a"{between}2}}'
    path.write_text(f'{again}\n{{"b": "\\": \\" :", "c": " :"}}\n')
    assert [p.text for p in JsonReader().passages(path, Where("row"))] == [
        '{"a":1,"a_2":2}',
        '{"b":"\\": \\" :","c":" :"}',
    ]


def test_members_whose_texts_hold_colons_are_none_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(f"[{ONCE}, {PLAIN}]")
    (info,) = JsonReader().tables(path, tmp_path)
    assert [note.kind for note in info.notes] == []


def test_members_of_one_name_beside_numbers_beyond_64_bits(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 123456789012345678901, "a": NaN}\n{"a": 5}\n')
    assert next(p.text for p in JsonReader().passages(path, Where())) == (
        '{"a": 123456789012345678901, "a_2": NaN}'
    )


@pytest.mark.parametrize("held", [1 << 40, 0], ids=["held", "in chunks"])
def test_json_lines_are_typed_alike_however_long_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    monkeypatch.setattr("leaf.readers.tabular.json._MEMORY_BYTES", held)
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"amount": 1.5, "key": 1152921504606846977, "share": 1, "on": true, "none": null}\n'
        '{"amount": NaN, "key": 7, "share": 0.5, "on": 1, "none": null}\n'
        '{"amount": 2.5, "key": 8, "share": 1152921504606846977, "on": false}\n'
    )
    (info,) = JsonReader().tables(path, tmp_path)
    kinds = dict(info.columns)
    assert [kinds[name] for name in ("amount", "key", "on", "none")] == [
        *("DOUBLE", "BIGINT", "VARCHAR", "VARCHAR")
    ]
    rows = duckdb.sql(f"SELECT sum(amount), max(key) FROM '{tmp_path / info.parquet}'").fetchall()
    assert rows == [(4.0, 1152921504606846977)]
    said = {note.kind: note.text for note in info.notes}
    assert said["missing-words"] == "1 cells such as 'NaN' in 'amount' were read as empty."
    assert said["types-mixed"].startswith("'on' mixes values of several kinds")


def test_names_of_lists_are_told_where_all_values_are_texts(tmp_path: Path) -> None:
    lists = [
        ["NAME", "B01001_001E", "state"],
        ["Ohio", "11689100", "39"],
        ["Iowa", "3155070", "19"],
    ]
    ((info, rows),) = load_json(tmp_path, lists)
    assert [name for name, _ in info.columns] == ["NAME", "B01001_001E", "state"]
    assert rows[1][:2] == ("Iowa", 3155070)
    outline = JsonReader().outline(tmp_path / "a.json")
    assert (outline.rows, outline.columns) == (2, 3)
    ((info, rows),) = load_json(tmp_path, [["a", "b"], ["c", "d"]])
    assert len(rows) == 2
    assert [note.kind for note in info.notes] == ["no-header"]


def test_records_beside_a_description_are_a_table_and_what_the_page_lacks_is_said(
    tmp_path: Path,
) -> None:
    records = [{"country": {"id": "DE"}, "value": 83.2}, {"country": {"id": "FR"}, "value": 67.5}]
    text = "The file says that there are 1,590 records and holds 2: the others are on other pages."
    for value in (
        [{"page": 1, "pages": 795, "total": 1590}, records],
        {"count": 1590, "next": "https://example.org/?page=2", "results": records},
        {"meta": {"pagination": {"total_count": 1590}}, "data": records},
    ):
        ((info, rows),) = load_json(tmp_path, value)
        assert rows == [("DE", 83.2), ("FR", 67.5)]
        assert {note.kind: note.text for note in info.notes}["records-elsewhere"] == text
    for value in ({"page": 1, "total": 2, "results": records}, {"total": 100, "items": records}):
        ((info, _),) = load_json(tmp_path, value)
        assert "records-elsewhere" not in {note.kind for note in info.notes}
