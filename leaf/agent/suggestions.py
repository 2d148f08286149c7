"""Three questions to begin with, made from the files at hand: names and column types only, no content."""

from __future__ import annotations

from collections.abc import Sequence

from leaf.agent.column_kinds import is_added_up, is_id, kind_of, name_words, says_when
from leaf.store.model import File
from leaf.tables.tables import Table

WITHOUT_FILES = (
    "Load the sample data and show revenue by region",
    "What kinds of file can I ask about?",
    "How do you show what an answer rests on?",
)


def suggest(files: Sequence[File], tables: Sequence[Table]) -> list[str]:
    """At most three questions that the files can answer."""
    questions = [q for table in tables[:3] for q in _about_table(table)]
    for file in files:
        if file.kind in ("pdf", "docx", "pptx", "text", "html", "email"):
            questions.append(f"What are the main points of {file.name}?")
        elif file.kind == "captions":
            questions.append(f"What was decided in {file.name}, and who does what?")
        elif not any(t.file_id == file.id for t in tables):
            questions.append(f"Describe {file.name}: what does it hold?")
    mixed = _one_per_file(questions) if len(files) > 1 else questions
    return mixed[:3]


def _about_table(table: Table) -> list[str]:
    kinds = {name: kind_of(name, sql_type) for name, sql_type in table.columns}
    labels = [name for name, kind in kinds.items() if kind == "text" and not is_id(name_words(name))]
    times = [name for name, kind in kinds.items() if kind == "date" and says_when(kind, name_words(name))]
    figures = sorted((n for n, kind in kinds.items() if kind == "figure"), key=lambda n: is_added_up(name_words(n)))
    questions = []
    if figures and labels:
        questions.append(f"{_figure(figures[-1])} by {labels[0]} in {table.file_name}")
    if figures and times:
        of = f" of {times[0]}" if len(times) > 1 else ""
        questions.append(f"{_figure(figures[-1])} by month{of} in {table.file_name}")
    if labels and not figures:
        questions.append(f"How many rows are there by {labels[0]} in {table.file_name}?")
    questions.append(f"Describe {table.file_name}: columns, gaps and oddities")
    return questions


def _figure(name: str) -> str:
    return f"{'Total' if is_added_up(name_words(name)) else 'Average'} {name}"


def _one_per_file(questions: list[str]) -> list[str]:
    """Questions in turn from the front and from the back, so that a chat with a table and a text gets both."""
    mixed: list[str] = []
    front, back = 0, len(questions) - 1
    while front <= back:
        mixed.append(questions[front])
        if front != back:
            mixed.append(questions[back])
        front, back = front + 1, back - 1
    return mixed
