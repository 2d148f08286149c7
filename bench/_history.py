"""A history of N chats, written by a few statements: each of 20 messages, with its people, a file
and what it used, spread over a year.

Texts are put together from paragraphs of a small vocabulary, so that a common word stands in every
chat, a seldom one in one chat of a hundred, and the rare one in a single chat.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from leaf.store.database import Database, Transaction
from leaf.store.model import Scope

MESSAGES = 20
PEOPLE = 20
DAYS = 365
FREQUENT, SELDOM, RARE = "revenue", "zinfandel", "zyzzyva"
ABSENT = "fonilepa"
"""In no text, though made of their syllables: its letters stand in all."""
PARAGRAPHS = 997
PIECE = 20_000
"""Chats that are written in one transaction."""

_CHAT = "lpad(CAST(c AS TEXT), 12, '0') || '-7000-8000-0123456789ab'"
_MESSAGE = "lpad(CAST(c * 20 + {m} AS TEXT), 12, '0') || '-7000-9000-0123456789ab'"
_BEGAN = "CAST(:start AS TIMESTAMPTZ) + c * CAST(:apart AS INTERVAL)"
_PERSON = f"CASE WHEN c % {PEOPLE} = 0 THEN :user ELSE 'person' || CAST(c % {PEOPLE} AS TEXT) END"
_CHATS = "generate_series(CAST(:first AS BIGINT), CAST(:last AS BIGINT)) AS t(c)"
_WORDS = f"""
    SELECT c, m, {_CHAT} AS chat, {_PERSON} AS person, {_BEGAN} + m * INTERVAL '40 seconds' AS moment,
        CASE WHEN m % 2 = 0 THEN p.text ELSE p.text || ' ' || q.text || ' ' || r.text || ' ' || CAST(c * 7919 + m AS TEXT)
            || CASE WHEN m = 3 AND c % 100 = 7 THEN ' {SELDOM}' ELSE '' END
            || CASE WHEN m = 5 AND c = :rare THEN ' {RARE}' ELSE '' END END AS words
    FROM {_CHATS} CROSS JOIN generate_series(0, {MESSAGES - 1}) AS u(m)
    JOIN paragraphs p ON p.n = (c * 31 + m * 17) % {PARAGRAPHS}
    JOIN paragraphs q ON q.n = (c * 57 + m * 29 + 3) % {PARAGRAPHS}
    JOIN paragraphs r ON r.n = (c * 91 + m * 41 + 5) % {PARAGRAPHS}
"""
_STATEMENTS = (
    f"""
    INSERT INTO chats (id, workspace_id, user_id, title, model, head_id, created_at, updated_at)
    SELECT {_CHAT}, :workspace, {_PERSON}, 'Sales of region ' || CAST(c % 400 AS TEXT) || ', week ' || CAST(c % 53 AS TEXT), 'm',
        {_MESSAGE.format(m=MESSAGES - 1)}, {_BEGAN}, {_BEGAN} + INTERVAL '13 minutes'
    FROM {_CHATS}""",
    f"""
    INSERT INTO chat_participants (chat_id, user_id, created_at)
    SELECT {_CHAT}, {_PERSON}, {_BEGAN} FROM {_CHATS}
    UNION ALL SELECT {_CHAT}, :user, {_BEGAN} FROM {_CHATS} WHERE c % {PEOPLE} <> 0""",
    f"""
    INSERT INTO messages (id, chat_id, user_id, parent_id, role, status, parts, raw, words, model, usage, error, feedback,
        created_at, updated_at)
    SELECT {_MESSAGE.format(m="m")}, chat, person, CASE WHEN m = 0 THEN '' ELSE {_MESSAGE.format(m="m - 1")} END,
        CASE WHEN m % 2 = 0 THEN 'user' ELSE 'assistant' END,
        CASE WHEN m % 2 = 1 AND c % 500 = 3 THEN 'stopped' WHEN c = :rare AND m = {MESSAGES - 1} THEN 'streaming'
            ELSE 'completed' END,
        CAST('[{{"type": "text", "text": "' || words || '"}}]' AS JSON), CAST('[]' AS JSON), words, 'm', CAST('{{}}' AS JSON), '',
        0, moment, moment
    FROM ({_WORDS}) w""",
    f"""
    INSERT INTO chat_files (chat_id, handle, slug, file_id, message_id, position, created_at)
    SELECT {_CHAT}, 'f1', 'sales', 'file' || CAST(c % :files AS TEXT), {_MESSAGE.format(m=0)}, 1, {_BEGAN} FROM {_CHATS}""",
    f"""
    INSERT INTO usage_steps (message_id, step, workspace_id, user_id, chat_id, model, input_tokens, cached_tokens, output_tokens,
        cost, created_at)
    SELECT {_MESSAGE.format(m="m")}, 'model-' || CAST(s AS TEXT), :workspace, {_PERSON}, {_CHAT}, 'model ' || CAST(c % 3 AS TEXT),
        9000 + c % 1000, 8000, 300 + m, CASE WHEN c % 3 < 2 THEN 0.0123 + c % 7 * 0.00051 END,
        {_BEGAN} + m * INTERVAL '40 seconds'
    FROM {_CHATS} CROSS JOIN generate_series(1, {MESSAGES - 1}, 2) AS u(m) CROSS JOIN generate_series(1, 2) AS v(s)""",
)


def fill(db: Database, scope: Scope, chats: int, until: datetime) -> None:
    """Write the history of a workspace, the newest chat just before `until`. The user of the scope
    takes part in all its chats."""
    with db.transaction() as tx:
        _people_and_files(tx, scope, chats, until)
    for first in range(0, chats, PIECE):
        values = {
            "workspace": scope.workspace_id,
            "user": scope.user_id,
            "start": (until - timedelta(days=DAYS)).isoformat(),
            "apart": f"{DAYS * 86_400 / (chats + 1):.3f} seconds",
            "first": first,
            "last": min(first + PIECE, chats) - 1,
            "rare": rare(chats),
            "files": chats // 20 + 1,
        }
        with db.transaction() as tx:
            for statement in _STATEMENTS:
                tx.execute(statement, values)
    with db.transaction() as tx:
        tx.execute("DROP TABLE paragraphs")
        if db.engine == "postgres":
            tx.execute("ANALYZE")


def rare(chats: int) -> int:
    """The number of the one chat that has the rare word, and an answer that is being written."""
    return chats // 3


def chat_id(number: int) -> str:
    return f"{number:012}-7000-8000-0123456789ab"


def _people_and_files(tx: Transaction, scope: Scope, chats: int, until: datetime) -> None:
    at = until - timedelta(days=DAYS)
    for number in range(1, PEOPLE):
        given = {"id": f"person{number}", "workspace": scope.workspace_id, "at": at}
        tx.execute(
            "INSERT INTO users (id, email, name, created_at) VALUES (:id, :id || '@example.org', "
            ":id, :at)",
            given,
        )
        tx.execute(
            "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) VALUES "
            "(:workspace, :id, 'member', :at)",
            given,
        )
    tx.execute(
        "INSERT INTO files (id, workspace_id, user_id, name, given_name, media_type, kind, size, "
        "sha256, source, upload_context, outline, created_at, parent_id) SELECT 'file' || CAST(c "
        "AS TEXT), :workspace, :user, 'sales ' || CAST(c AS TEXT) || '.csv', 'sales.csv', "
        "'text/csv', 'csv', 1000, 'hash ' || CAST(c AS TEXT), 'upload', '', CAST('{}' AS JSON), "
        ":at, '' FROM generate_series(0, CAST(:last AS BIGINT)) AS t(c)",
        {
            "workspace": scope.workspace_id,
            "user": scope.user_id,
            "at": at,
            "last": chats // 20,
        },
    )
    tx.execute("CREATE TABLE paragraphs (n BIGINT PRIMARY KEY, text TEXT NOT NULL)")
    for number, text in enumerate(_paragraphs()):
        tx.execute("INSERT INTO paragraphs VALUES (:n, :text)", {"n": number, "text": text})


def _paragraphs() -> list[str]:
    """Of 24 words each, every third with the common word."""
    draw = random.Random(7)
    syllables = [consonant + vowel for consonant in "bdfklmnprstv" for vowel in "aeio"]
    vocabulary = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(9_000)]
    found = []
    for number in range(PARAGRAPHS):
        words = draw.choices(vocabulary, k=24)
        if number % 3 == 0:
            words[11] = FREQUENT
        found.append(" ".join(words))
    return found
