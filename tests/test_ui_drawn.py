"""A text of a page is made safe once, not once a rerun, and what is kept has a bound."""

from __future__ import annotations

import threading

from streamlit.testing.v1 import AppTest

from leaf.ui import marks
from leaf.ui.drawn import DrawnTexts, shared, text_of


def page() -> None:
    import streamlit as st

    from leaf.ui.documents import draw_text
    from leaf.ui.draw import draw_item
    from leaf.ui.items import Item

    said = "An answer ![x](https://evil.example/a.png) of **one** sentence."
    draw_item(st, Item("t1", "text", said), "chat", "message", whole=True)
    draw_item(st, Item("t2", "thought", f"Thought of {said}"), "chat", "message", whole=True)
    draw_text("text", f"# A document\n\n{said}\n\n" + "Words. " * 400, "a.md", "key")


def test_a_text_is_made_safe_once_and_not_at_a_rerun() -> None:
    shown = AppTest.from_function(page, default_timeout=60).run()
    first = shared().made
    texts = [one.value for one in shown.markdown]
    assert any("[x](https://evil.example/a.png)" in text for text in texts)
    assert not any("![" in text for text in texts)
    shown.run()
    assert [one.value for one in shown.markdown] == texts
    assert first >= 3
    assert shared().made == first


def test_the_same_text_of_another_message_has_marks_of_its_own() -> None:
    said = marks.held_mark({"citation": 1, "verified": True}, "c1-0")  # type: ignore[typeddict-item]
    assert "#leaf-cite-one.c1-0" in text_of(said, "one")
    assert "#leaf-cite-two.c1-0" in text_of(said, "two")


def test_what_is_kept_is_bounded_by_its_characters() -> None:
    texts = DrawnTexts(lambda text, _: text.upper(), most=1_000)
    for number in range(100):
        assert texts(f"{number:03}" + "a" * 97) == f"{number:03}" + "A" * 97
        assert texts.size <= 1_000
    assert (texts.made, texts.size) == (100, 1_000)
    texts(f"{99:03}" + "a" * 97)
    assert texts.made == 100, "the newest are there"
    texts("b" * 200)
    assert texts.size <= 1_000
    texts("b" * 200)
    assert texts.made == 102, "what would drive out all others is made each time"


def test_threads_get_what_was_made_and_leave_the_size_right() -> None:
    texts = DrawnTexts(lambda text, _: text * 2, most=3_000)
    begin = threading.Barrier(8)
    wrong: list[str] = []

    def draw(seed: int) -> None:
        begin.wait()
        for number in range(400):
            text = f"{(number * (seed + 1)) % 60:02}" * 5
            if texts(text) != text * 2:
                wrong.append(text)

    threads = [threading.Thread(target=draw, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert texts.size == sum(len(k) + len(m) + len(v) for (k, m), v in texts._kept.items())
    assert texts.size <= 3_000
