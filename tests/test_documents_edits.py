"""Edit blocks, differences, names and clean text of documents."""

from __future__ import annotations

import pytest

from leaf.documents import diff, edits, naming
from leaf.errors import FileTooLargeError, InvalidInputError


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE"


def edited(text: str, *blocks: str) -> str:
    return edits.apply(text, edits.parse("\n".join(blocks)))


POEM = "# Plan\n\nAnna sends the figures.\nBen checks the rates.\n\n## Open\n- budget\n- date\n"


def test_a_block_replaces_whole_lines() -> None:
    assert edited(POEM, block("Ben checks the rates.", "Cleo checks them.")) == POEM.replace(
        "Ben checks the rates.", "Cleo checks them."
    )


def test_several_blocks_are_looked_for_in_the_text_before_any_of_them() -> None:
    changed = edited(POEM, block("- date", "- date: May"), block("# Plan", "# Plan B"))
    assert changed.startswith("# Plan B\n")
    assert changed.endswith("- date: May\n")


def test_an_empty_replacement_takes_the_line_with_it() -> None:
    assert edited(POEM, block("- budget", "")) == POEM.replace("- budget\n", "")


def test_a_piece_within_a_line_is_found_at_the_edges_of_words() -> None:
    assert (
        edited("the total is 10 of 100\n", block("total is 10", "sum is 12"))
        == "the sum is 12 of 100\n"
    )
    with pytest.raises(InvalidInputError, match="was not found"):
        edited("the total is 100\n", block("total is 10", "sum is 12"))


def test_blanks_may_differ_and_new_lines_are_moved_as_the_old_ones_stand() -> None:
    code = "def f():\n    if x:\n        return  1\n"
    assert (
        edited(code, block("if x:\n    return 1", "if y:\n    return 2"))
        == "def f():\n    if y:\n        return 2\n"
    )


def test_a_piece_that_is_there_twice_changes_nothing_and_names_the_lines() -> None:
    with pytest.raises(
        InvalidInputError, match=r"fits 2 places, at lines 1, 3\. Nothing was changed"
    ):
        edited("same\nother\nsame\n", block("same", "new"))


def test_a_piece_that_is_nowhere_shows_the_nearest_lines() -> None:
    with pytest.raises(
        InvalidInputError, match=r"nearest lines are:\n(?s:.*)4: Ben checks the rates"
    ):
        edited(POEM, block("Ben checked the rate.", "x"))


def test_all_blocks_or_none() -> None:
    with pytest.raises(InvalidInputError, match="Block 2 was not found"):
        edited(POEM, block("# Plan", "# B"), block("nothing like this at all", "x"))


def test_blocks_that_change_the_same_lines_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="change the same lines"):
        edited(
            POEM,
            block("# Plan\n\nAnna sends the figures.", "x"),
            block("Anna sends the figures.\nBen checks the rates.", "y"),
        )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just words",
        "<<<<<<< SEARCH\na\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\na\n=======\nb",
        "<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE",
    ],
)
def test_what_is_not_made_of_blocks_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="not a search_replace_block"):
        edits.parse(text)


def test_nothing_to_search_for_is_an_error_but_in_an_empty_text() -> None:
    with pytest.raises(InvalidInputError, match="nothing to search for"):
        edited(POEM, block("", "x"))


def test_a_difference_marks_each_line_and_leaves_far_ones_out() -> None:
    old = "\n".join(f"line {i}" for i in range(30))
    found = diff.compare(old, old.replace("line 15", "new 15") + "\nend")
    assert (found.added, found.removed) == (2, 1)
    assert found.summary == "2 lines added, 1 line removed"
    assert "- line 15\n+ new 15" in found.text()
    assert "@@ 12 unchanged lines @@" in found.text()
    assert diff.compare(old, old).summary == "Nothing changed"


def test_a_difference_of_long_texts_is_quick_and_whole() -> None:
    old, new = ("\n".join(f"{word} {i}" for i in range(30_000)) for word in ("old", "new"))
    found = diff.compare(f"same\n{old}\nlast", f"same\n{new}\nlast")
    assert (found.added, found.removed) == (30_000, 30_000)


@pytest.mark.parametrize(
    ("title", "kind", "name"),
    [
        ("Meeting summary", "text", "Meeting summary.md"),
        ("../../etc/passwd", "text", "etc - passwd.md"),
        ("Q3: a/b\\c?", "text", "Q3 - a - b - c.md"),
        ("notes.txt", "text", "notes.txt"),
        ("clean.py", "code", "clean.py"),
        ("Cleaning", "code", "Cleaning.sql"),
        ("tasks", "sheet", "tasks.csv"),
        ("///", "text", "document.md"),
        ("v1.2 plan", "text", "v1.2 plan.md"),
    ],
)
def test_a_title_becomes_the_name_of_a_file(title: str, kind: str, name: str) -> None:
    assert naming.file_name(title, kind, "sql") == name  # type: ignore[arg-type]


@pytest.mark.parametrize("title", ["", "   ", "\n\t"])
def test_an_empty_title_is_refused(title: str) -> None:
    with pytest.raises(InvalidInputError, match="needs a title"):
        naming.clean_title(title)


def test_a_fence_around_everything_is_taken_away() -> None:
    assert naming.clean("code", "```python\nprint(1)\n```") == "print(1)\n"
    assert naming.clean("sheet", "```csv\na,b\n1,2\n```") == "a,b\n1,2\n"
    assert naming.clean("text", "```markdown\n# A\n```") == "# A\n"
    assert naming.clean("text", "```python\nprint(1)\n```") == "```python\nprint(1)\n```\n"


def test_a_sheet_is_checked() -> None:
    assert naming.clean("sheet", "a;b\n1;x,y\n2\n") == 'a,b\n1,"x,y"\n2,\n'
    with pytest.raises(InvalidInputError, match="Row 2 has 3 cells, the header has 2"):
        naming.clean("sheet", "a,b\n1,2,3\n")


def test_too_long_and_empty_texts_are_refused() -> None:
    with pytest.raises(FileTooLargeError, match=r"10\.0 million characters"):
        naming.clean("text", "x" * 10_000_000)
    with pytest.raises(InvalidInputError, match="would be empty"):
        naming.clean("text", " \n")
