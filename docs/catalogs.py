"""Write the template of translations, `leaf/language/locales/leaf.pot`, from the code, and bring the catalogs
of all languages in line with it: `python docs/catalogs.py`. What is new there has an empty
translation, which is shown in English until somebody writes one.

What errors and notes say has catalogs of its own, `problems.pot` and `problems.po`.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from docs.problems import problems
from leaf.language.catalogs import LOCALES, PLURALS, Entry, parsed
from leaf.language.problems import CATALOG
from leaf.ui.spoken import ASSETS, SCRIPTS, texts

LEAF = Path(__file__).resolve().parents[1] / "leaf"
PAGES = "leaf.po"
LANGUAGES = ("de", "fr", "es")
BEYOND = (
    "agent/models/keyless.py",
    "agent/rules/*.py",
    "agent/proposals/*.py",
    "sessions/suggesting.py",
    "provenance/coverage.py",
    "provenance/pins.py",
    "language/amounts.py",
    "language/kept.py",
    "language/places.py",
)
"""Who answers and suggests without a model, what an answer rests on, and what is kept in English."""
Message = tuple[str, str]
"""In English for one, and for more than one of something; the second is empty where there is no
number."""


def messages() -> dict[Message, list[str]]:
    """What the page says, in the order of the files that say it, with their names."""
    found: dict[Message, list[str]] = {}
    for path, message in _said():
        places = found.setdefault(message, [])
        name = path.relative_to(LEAF.parent).as_posix()
        if name not in places:
            places.append(name)
    return dict(sorted(found.items()))


def _said() -> Iterator[tuple[Path, Message]]:
    pages = [*(LEAF / "ui").rglob("*.py"), *(LEAF / "pages").glob("*.py")]
    beyond = [path for each in BEYOND for path in LEAF.glob(each)]
    for path in sorted([*pages, *beyond]):
        yield from ((path, message) for message in _of_page(_read(path)))
    for name in SCRIPTS:
        script = ASSETS / name
        yield from ((script, message) for message in texts(script.read_text(encoding="utf-8")))
    for path in sorted((LEAF / "tools").glob("*.py")):
        yield from ((path, message) for message in _of_tools(_read(path)))
    path = LEAF / "readers" / "base.py"
    yield from (
        (path, (text, "")) for call in _calls(_read(path), "Kind") for text in _text(call, 0)
    )


def _read(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _of_page(tree: ast.Module) -> Iterator[Message]:
    for call in _calls(tree, "t", "mark", "dialog"):
        yield from ((text, "") for text in _text(call, 0))
    for call in _calls(tree, "n_"):
        yield from zip(_text(call, 0), _text(call, 1), strict=True)
    yield from _pairs(tree)
    for call in _calls(tree, "count"):
        for noun in _text(call, 1):
            yield _counted(noun, next(iter(_text(call, 2)), f"{noun}s"))
    yield from ((option, "") for option in _options(tree))
    for node in ast.walk(tree):  # scripts that stand in a module
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "export" in node.value
        ):
            yield from texts(node.value)


def _pairs(tree: ast.Module) -> Iterator[Message]:
    """Those of `language.kept`, which stand in a list."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name == "_pairs":
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    pair = [*_text(node, 0), *_text(node, 1)]
                else:
                    held = node.elts if isinstance(node, ast.Tuple) else ()
                    pair = [text for each in held for text in _constants(each)]
                if len(pair) == 2:
                    yield pair[0], pair[1]


def _options(tree: ast.Module) -> Iterator[str]:
    """Those of menus and choices that are drawn by `t`."""
    for call in _calls(tree):
        drawn = any(
            word.arg == "format_func" and isinstance(word.value, ast.Name) and word.value.id == "t"
            for word in call.keywords
        )
        if drawn or _name(call) == "icon_menu":
            lists = (one for one in call.args if isinstance(one, ast.List))
            yield from (text for one in lists for each in one.elts for text in _constants(each))


def _of_tools(tree: ast.Module) -> Iterator[Message]:
    """What tools say of themselves: titles of their steps and parameters, and their nouns."""
    for call in _calls(tree, "Tool"):
        yield from ((text, "") for text in _text(call, 4))
        for word in call.keywords:
            if word.arg == "counted" and isinstance(word.value, ast.Tuple):
                one, many = (text for each in word.value.elts for text in _constants(each))
                yield _counted(one, many)
    for call in _calls(tree, "Field"):
        for word in call.keywords:
            if word.arg == "title":
                yield from ((text, "") for text in _constants(word.value))


def _counted(one: str, many: str) -> Message:
    return f"{{n}} {one}", f"{{n}} {many}"


def _calls(tree: ast.Module, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (not names or _name(node) in names):
            yield node


def _name(call: ast.Call) -> str:
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _text(call: ast.Call, number: int) -> list[str]:
    return _constants(call.args[number]) if len(call.args) > number else []


def _constants(node: ast.expr) -> list[str]:
    """The text that stands there, or the two of which one is chosen."""
    if isinstance(node, ast.IfExp):
        return [*_constants(node.body), *_constants(node.orelse)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def entries(path: Path) -> dict[Message, Entry]:
    """Those of a catalog that is there, without its head."""
    if not path.is_file():
        return {}
    found = parsed(path.read_text(encoding="utf-8"))
    return {(one.one, one.many): one for one in found if one.one}


def catalogs() -> dict[str, dict[Message, list[str]]]:
    """What is said, by the catalog that has it."""
    return {PAGES: messages(), CATALOG: {(text, ""): places for text, places in problems().items()}}


def template(catalog: str) -> Path:
    """The catalog without translations."""
    return LOCALES / f"{catalog}t"


def written(
    wanted: Iterable[tuple[Message, list[str]]], language: str = "", catalog: str = PAGES
) -> str:
    """A catalog with these messages, and what is translated of them so far."""
    known = entries(LOCALES / language / catalog) if language else {}
    blocks = [_head(language)]
    for (one, many), places in wanted:
        said = known[one, many].said if (one, many) in known else {}
        lines = [f"#: {place}" for place in places]
        lines.append(f"msgid {quoted(one)}")
        if many:
            lines.append(f"msgid_plural {quoted(many)}")
            lines += [f"msgstr[{form}] {quoted(said.get(form, ''))}" for form in (0, 1)]
        else:
            lines.append(f"msgstr {quoted(said.get(0, ''))}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _head(language: str) -> str:
    form = PLURALS.get(language, "n != 1")
    lines = [
        f"Language: {language}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=UTF-8",
        "Content-Transfer-Encoding: 8bit",
        f"Plural-Forms: nplurals=2; plural=({form});",
    ]
    return 'msgid ""\nmsgstr ""\n' + "\n".join(quoted(f"{line}\n") for line in lines)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def main() -> None:
    LOCALES.mkdir(exist_ok=True)
    for catalog, found in catalogs().items():
        template(catalog).write_text(written(found.items()), encoding="utf-8")
        for language in LANGUAGES:
            path = LOCALES / language / catalog
            path.parent.mkdir(exist_ok=True)
            text = written(found.items(), language, catalog)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
