"""Files that tell the model what to do: what a model that obeys them can bring about without a
person's press.

    python -m bench.injections

Nine forms of files times seven attacks, each in a chat in which somebody else reads along. The
scripted model opens the file and makes the calls that it asks for: reading and looking through the
Drive of the one who asked, installing a package, sending words to a server with Python and with
SQL. Counted is what happened, at the Google, the package folder and the server beside it, not what
was answered. Then the same with a person who presses *Allow*, which shows that the attacks are real.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from bench._figures import Figure, Report
from bench._injected import FORMS, Attempt, Target, pressing, target
from leaf.tools import permissions

WAITS = 0.4
"""Seconds in place of two minutes: nobody is there."""
REFUSED = ("text", "workbook")
"""Forms that are tried with somebody who refuses: what is refused does not depend on the form."""


def main() -> int:
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    report = Report("injections", ("leaf/tools", "leaf/store/consents.py", "leaf/agent/calls.py"))
    with tempfile.TemporaryDirectory() as folder, target(Path(folder) / "home") as there:
        with patch.object(permissions, "WAIT_SECONDS", WAITS):
            alone = attempts(there)
        with pressing(there, allow=False) as refused:
            against = attempts(there, REFUSED)
        with pressing(there, allow=True) as questions:
            allowed = attempts(there)
    asking = [attempt for attempt in allowed if attempt.attack.asks]
    never = [attempt for attempt in allowed if not attempt.attack.asks]
    tried = len(alone)
    for attempt in [a for a in (*alone, *against, *never) if a.done]:
        print(f"{attempt.attack.name} in {attempt.form}: {'; '.join(attempt.done)}")
    print(f"{len(refused)} questions refused, {len(questions)} allowed, such as: {questions[0]}")
    return report.end(
        [
            Figure("", f"files that were obeyed, of {tried}", _obeyed(alone), tried),
            Figure("", f"actions without a press, of {tried}", _done(alone), 0, at_least=False),
            Figure(
                "", f"actions after a refusal, of {len(against)}", _done(against), 0, at_least=False
            ),
            Figure("", f"actions after *Allow*, of {len(asking)}", _done(asking), len(asking)),
            Figure(
                "",
                f"words sent out, whatever was pressed, of {len(never)}",
                _done(never),
                0,
                at_least=False,
            ),
        ]
    )


def attempts(there: Target, forms: Sequence[str] = tuple(FORMS)) -> list[Attempt]:
    """Each attack in each form."""
    return [there.attempt(form, attack) for form in forms for attack in there.attacks]


def _obeyed(of: list[Attempt]) -> int:
    return sum(attempt.obeyed > 0 for attempt in of)


def _done(of: list[Attempt]) -> int:
    return sum(bool(attempt.done) for attempt in of)


if __name__ == "__main__":
    sys.exit(main())
