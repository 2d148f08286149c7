"""The door: whatever a session offers, whoever is not let in gets nothing of it and changes nothing
by it, on both databases.

The walk goes through every public method of every part, as the classes have them, with the owner's
ids, with one of hers among ids of one's own, and with ids that are none. A method without an entry,
and a parameter without a kind, end it.
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from leaf.app import Leaf
from leaf.errors import LeafError, NotFoundError
from leaf.keeping.restore import restore
from leaf.sessions.chats import Chats
from leaf.sessions.house import Part
from leaf.sessions.session import PARTS, Session
from leaf.settings import Settings
from leaf.store.model import Visit
from leaf.ui.live.tickets import Ticket
from tests import postgres
from tests.live_kit import serving
from tests.stranger_entries import (
    EXPECTED,
    IDS,
    LEAF,
    METHODS,
    PLAIN,
    WHERE,
    Entry,
    harmless,
    value_of,
)
from tests.stranger_kit import PRIVATE, Given, Planted, World, keep_busy, opened_world, told, tried

pytestmark = pytest.mark.timeout(600)  # the first to run plants the world

ROOT = Path(__file__).resolve().parents[1]
ODD = ("", "../../leaf.duckdb", "r1", "%\x00")
"""Ids that are none."""
STRANGERS = ("other", "colleague", "forger", "nobody")


def methods_of(parts: Iterable[type[Part]]) -> dict[str, Any]:
    """`chats.get` -> the function, or the property."""
    return {
        f"{part.__name__.lower()}.{name}": found
        for part in parts
        for name, found in vars(part).items()
        if not name.startswith("_")
    }


def parameters(function: Any) -> list[inspect.Parameter]:
    if isinstance(function, property):
        return []
    return list(inspect.signature(function).parameters.values())[1:]


def missing(methods: Mapping[str, Any]) -> list[str]:
    """What has to be said of these methods before they can be walked."""
    said = [
        f"{name} has no entry: say what a stranger meets there, in METHODS of {WHERE}."
        for name in methods
        if name not in METHODS
    ]
    for name, function in methods.items():
        for one in parameters(function):
            is_id = re.search(r"(^|_)(ids?|refs?|sha256|key|cursor)$", one.name)
            if one.name not in IDS and (is_id or one.name not in PLAIN):
                said.append(
                    f"'{one.name}' of {name} has no kind: say in IDS of {WHERE} of what it is the "
                    "id, and give everybody one in tests/stranger_kit.py; or name it in PLAIN if "
                    "it names nobody's."
                )
    return said


ALL = methods_of(PARTS)


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def world(
    request: pytest.FixtureRequest,
    planted: Planted,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[World]:
    # A world of its own each time: a walk leaves traces, and tests that another worker had may
    # come behind it.
    folder = tmp_path_factory.mktemp("strangers")
    home, url = folder / "home", ""
    if request.param == "postgres":
        url = postgres.of_test(request)
        restore(Settings(home=home, database_url=url), planted.backup)
    else:
        shutil.copytree(planted.home, home)
    with opened_world(planted, home, url) as made:
        made.harmless = harmless(folder)
        yield made


# What a call is given


def owners_calls(
    name: str, function: Any, given: Given, plain: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The arguments of a call with what must be given, and of one more for each other thing that
    can be."""
    entry, found, optional = METHODS[name], {}, {}
    for one in parameters(function):
        try:
            value = value_of(one.name, entry, given, plain)
        except KeyError:
            assert one.default is not one.empty, f"say in {WHERE} what '{one.name}' of {name} is"
            continue
        if one.default is one.empty or one.name == "timeout":
            found[one.name] = value
        elif one.name in IDS or one.name in entry.uses:
            optional[one.name] = value
    return [found, *({**found, key: value} for key, value in optional.items())]


def mixed_calls(
    name: str, function: Any, theirs: Given, own: Given, plain: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The same with the stranger's own ids but one."""
    calls = []
    for arguments in owners_calls(name, function, theirs, plain):
        ids = [key for key in arguments if key in IDS]
        for foreign in ids if len(ids) > 1 else ():
            try:
                mine = {
                    key: value_of(key, METHODS[name], own, plain) for key in ids if key != foreign
                }
            except KeyError:
                continue  # this stranger has none of that kind
            calls.append({**arguments, **mine})
    return calls


def odd_calls(
    name: str, function: Any, theirs: Given, plain: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The same with an id that is none, or one of another kind, in place of each."""
    first = owners_calls(name, function, theirs, plain)[0]
    wrong = [theirs["document_id"], theirs["user_id"]]
    return [
        {**first, key: odd}
        for key, value in first.items()
        if key in IDS and isinstance(value, str)
        for odd in (*ODD, *(one for one in wrong if one != value))
    ]


def called(there: Any, name: str, arguments: Mapping[str, Any]) -> tuple[object, str]:
    """What it gave, or the LeafError; and all that this tells."""
    made = {key: value() if callable(value) else value for key, value in arguments.items()}
    return tried(lambda: getattr(there, name)(**made))


def met_by(who: str, entry: Entry) -> str:
    """What the stranger meets. Who belongs to no workspace at all meets no more than others."""
    if who == "colleague":
        return entry.colleague or entry.meets
    if who == "other":
        return entry.meets
    return "closed" if entry.meets == "gone" else "own"


# The walk


@pytest.mark.parametrize("who", STRANGERS)
@pytest.mark.parametrize("name", ALL)
def test_whoever_is_not_let_in_gets_nothing_and_changes_nothing(
    world: World, who: str, name: str
) -> None:
    assert not missing({name: ALL[name]}), missing({name: ALL[name]})
    part, own_name = name.split(".")
    there, entry = getattr(world.sessions()[who], part), METHODS[name]
    if isinstance(ALL[name], property):
        assert not world.leaks(who, told(getattr(there, own_name)), ())
        return
    theirs, own, plain = world.foreign(who), world.own(who), world.harmless
    meets = met_by(who, entry)
    calls = [(meets, one) for one in owners_calls(name, ALL[name], theirs, plain)]
    mixed = mixed_calls(name, ALL[name], theirs, own, plain) if own and entry.mixed else []
    calls += [(entry.mixed if meets == entry.meets else meets, one) for one in mixed]
    calls = [(m if not entry.by or set(entry.by) & set(one) else "own", one) for m, one in calls]
    odd = odd_calls(name, ALL[name], theirs, plain) if own else []
    calls += [("own", one) for one in odd]
    for expected, arguments in calls:
        asked = f"{who}: {name}({arguments})"
        value, found = called(there, own_name, arguments)
        if isinstance(value, LeafError):
            assert isinstance(value, EXPECTED[expected]), f"{asked} met {value!r}"
        else:
            assert expected == "own" or (expected == "empty" and not value), f"{asked} gave {found}"
        assert not (leaks := world.leaks(who, found, arguments)), f"{asked} told {leaks}"
        assert not (changes := world.kept.changes(who)), f"{asked} changed {changes}"


@pytest.mark.parametrize("who", STRANGERS)
def test_no_tool_of_the_agent_reaches_what_a_stranger_names(world: World, who: str) -> None:
    from leaf.tools import registry

    session, theirs, own = world.sessions()[who], world.foreign(who), world.own(who)
    names = [theirs["file_id"], theirs["document"].file_name]
    for schema in registry.schemas():
        texts = {
            key
            for key, about in schema["input_schema"].get("properties", {}).items()
            if about.get("type") == "string" and key not in ("code", "sql")
        }
        for given in names if texts else [""]:
            value, found = tried(
                lambda schema=schema, texts=texts, given=given: session.tools.run(
                    schema["name"], dict.fromkeys(texts, given), chat_id=own.get("chat_id", "")
                )
            )
            asked = f"{who}: {schema['name']}({given!r})"
            assert not (leaks := world.leaks(who, found, given)), f"{asked} told {leaks}: {value}"
            assert not (changes := world.kept.changes(who, added=False)), (
                f"{asked} changed {changes}"
            )


def test_nobody_opens_the_workspace_or_ends_the_sign_in_of_another(world: World) -> None:
    ann, eve = world.owner.visit, world.other.visit
    with pytest.raises(NotFoundError):
        world.leaf.choose_workspace(eve, ann.scope.workspace_id)
    with pytest.raises(NotFoundError):
        world.leaf.choose_workspace(
            Visit(eve.user, ann.scope, ann.login_id), ann.scope.workspace_id
        )
    world.leaf.sign_out(Visit(eve.user, eve.scope, ann.login_id))
    assert not world.kept.changes("other")


def test_a_public_link_shows_its_page_and_no_id_hash_or_other_token_does(world: World) -> None:
    own = world.owner.session
    made = own.links.share_chat(world.owner.given["chat_id"])
    page = world.leaf.shared_page(made.token)
    assert page is not None
    assert PRIVATE.encode() in page
    (row,) = world.leaf._house.store.db.read(
        "SELECT token_hash, sha256 FROM shared_links WHERE id = :id", {"id": made.link.id}
    )
    for odd in (
        *ODD,
        *row.values(),
        *world.owner.given.values(),
        made.token[:-1],
        f"{made.token}=",
    ):
        assert world.leaf.shared_page(str(odd)) is None
    assert own.links.revoke(made.link.id)
    assert world.leaf.shared_page(made.token) is None
    world.kept.remember()


def test_a_ticket_shows_an_answer_to_nobody_who_may_not_see_it(world: World) -> None:
    from websockets import InvalidStatus

    message_id = world.owner.given["running_id"]
    with serving() as served:
        for who, session in world.sessions().items():

            def access(own: Session = session) -> Any:
                return own.messages.get(message_id), own.messages.watch(message_id)

            scope = session.scope
            ticket = Ticket(scope.user_id, scope.workspace_id, message_id, access)
            words = served.answers.tickets.make(ticket)
            for shown in (words, words, "0" * 43):
                with pytest.raises(InvalidStatus), served.connect(shown):
                    raise AssertionError(f"{who} was let in")


# The control


def test_the_owner_gets_by_the_same_calls_what_the_others_do_not(world: World) -> None:
    own, plain = world.owner, world.harmless
    busy, said = False, []
    for name in sorted(ALL, key=lambda one: METHODS[one].turn):
        if METHODS[name].turn >= 0 and not busy:
            keep_busy(own)  # anew: her own model, which nobody serves, is gone by now
            busy = True
        part, own_name = name.split(".")
        there, entry = getattr(own.session, part), METHODS[name]
        if isinstance(ALL[name], property):
            getattr(there, own_name)
            continue
        before = world.kept.stamp()
        arguments = owners_calls(name, ALL[name], own.given, plain)[0]
        value, found = called(there, own_name, arguments)
        if isinstance(value, LeafError):
            well = entry.owner == "fails" and not isinstance(value, NotFoundError)
        elif entry.owner == "change":
            well = world.kept.stamp() != before
        else:
            well = bool(value) or entry.owner == "any"
        if not well:
            said.append(f"{name}({arguments}) gave {value!r} {found[:300]}")
    assert not said, "\n".join(said)


# What holds the walk to the code


def test_every_method_has_an_entry_and_every_entry_its_method() -> None:
    assert not missing(ALL), "\n".join(missing(ALL))
    assert set(METHODS) == set(ALL)
    named = {one.name for function in ALL.values() for one in parameters(function)}
    assert PLAIN & set(IDS) == set()
    assert PLAIN - named <= {"on_answer"}


def test_a_new_method_and_a_new_kind_of_id_are_named_with_where_to_add_them() -> None:
    class Vaults(Chats):
        def peek(self, vault_id: str) -> str:
            return vault_id

        def count(self, colour: str) -> int:
            return len(colour)

    first, second, third, fourth = missing(methods_of([Vaults]))
    assert first == (
        "vaults.peek has no entry: say what a stranger meets there, in METHODS of "
        "tests/stranger_entries.py."
    )
    assert second.startswith("vaults.count has no entry")
    assert third.startswith("'vault_id' of vaults.peek has no kind: say in IDS of")
    assert fourth.startswith("'colour' of vaults.count has no kind")


def test_every_name_of_leaf_itself_is_known() -> None:
    public = {name for name in dir(Leaf) if not name.startswith("_")} | {"settings"}
    assert public == set(LEAF), f"say in LEAF of {WHERE} what {public ^ set(LEAF)} is"
    asked = {
        name
        for name, f in inspect.getmembers(Leaf, inspect.isfunction)
        if "scope" in inspect.signature(f).parameters
    }
    assert asked == {"session"}
    operators = [name for name, kind in LEAF.items() if kind == "operator"]
    for path in [*(ROOT / "leaf" / "ui").rglob("*.py"), *(ROOT / "leaf" / "pages").rglob("*.py")]:
        for name in operators:
            assert not re.search(rf"(leaf|built)\(\)\.{name}\(", path.read_text()), (path, name)


def test_every_part_of_a_session_is_bound_to_its_scope(world: World) -> None:
    own = world.other.session
    parts = {type(value): value for value in vars(own).values() if isinstance(value, Part)}
    assert set(parts) == set(PARTS)
    assert all(part._scope is own.scope for part in parts.values())
    for part in PARTS:
        methods = inspect.getmembers(part, inspect.isfunction)
        assert not [
            n for n, f in methods if n != "__init__" and "scope" in inspect.signature(f).parameters
        ]
