"""Signing in, sharing and signing out, in a real browser against a real OpenID provider on
loopback."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import PATIENCE, App
from tests.browser.test_journeys import ask, composer, finished
from tests.live_kit import wait_until
from tests.login_server import CODE, SECRET, LoginServer

pytestmark = pytest.mark.browser


def person(name: str, address: str, **more: object) -> tuple[str, dict[str, object]]:
    return f"account of {name}", {
        "email": address,
        "email_verified": True,
        "name": f"{name} Example",
        "given_name": name,
        **more,
    }


PEOPLE = (
    person("Ann", "ann@example.org"),
    person("Bob", "Bob@Example.org"),
    person("Eve", "eve@evil.org"),
    person("Una", "una@example.org", email_verified=False),
)


def provider(lifetime: timedelta = timedelta(hours=1)) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from oidc_provider_mock import User, run_server_in_thread

    users = [User(sub=sub, claims=claims) for sub, claims in PEOPLE]
    with run_server_in_thread(user_claims=users, access_token_max_age=lifetime) as server:
        yield f"http://localhost:{server.server_port}/.well-known/openid-configuration"


@pytest.fixture(scope="session")
def login_provider() -> Iterator[str]:
    yield from provider()


@pytest.fixture(scope="session")
def hasty_provider() -> Iterator[str]:
    """Its tokens hold for a second."""
    yield from provider(timedelta(seconds=1))


@pytest.fixture(scope="module")
def guarded(
    module_app: Callable[..., App], login_provider: str, tmp_path_factory: pytest.TempPathFactory
) -> App:
    return start(module_app, login_provider, tmp_path_factory.mktemp("guarded"))


def sign_in_secrets(folder: Path, provider: str, port: int | str = "{port}") -> Path:
    """The file by which an app signs people in at this provider; as `port` that of the app, if it
    is not the one that browsers reach."""
    secrets = folder / "secrets.toml"
    secrets.write_text(
        f'[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\n'
        'cookie_secret = "a secret of the tests, long enough"\n\n'
        '[auth.firm]\nclient_id = "leaf"\nclient_secret = "client-secret-of-tests"\n'
        f'server_metadata_url = "{provider}"\n'
    )
    return secrets


def start(new_app: Callable[..., App], address: str, folder: Path) -> App:
    secrets = sign_in_secrets(folder, address)
    return new_app(secrets=secrets, LEAF_ALLOWED_DOMAINS="example.org")


@pytest.fixture
def second_context(browser: Browser) -> Iterator[BrowserContext]:
    """The browser of somebody else, narrow and dark."""
    opened = browser.new_context(viewport={"width": 900, "height": 800}, color_scheme="dark")
    opened.set_default_timeout(PATIENCE)
    yield opened
    opened.close()


def sign_in(page: Page, name: str) -> None:
    page.get_by_role("button", name="Sign in with Firm").click()
    page.get_by_role("button", name=f"account of {name}").click()


def sign_out(page: Page) -> None:
    """By the menu, and past the provider's own page about it."""
    page.get_by_role("button", name="Ann Example").click()
    page.get_by_role("menuitem", name="Sign out", exact=True).click()
    page.get_by_role("button", name="End session").click()


def test_a_page_without_a_palette_takes_no_key_for_it(guarded: App, page: Page) -> None:
    page.goto(guarded.url)
    button = page.get_by_role("button", name=re.compile("Sign in")).first
    expect(button).to_be_visible()
    button.focus()
    page.keyboard.press("Control+k")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("localhost"))


def test_a_deep_link_meets_the_gate_and_is_followed_after_the_sign_in(
    guarded: App, page: Page
) -> None:
    page.goto(f"{guarded.url}/settings")
    expect(page.get_by_role("heading", name="Ask your files")).to_be_visible()
    expect(page.get_by_role("heading", name="Settings")).to_have_count(0)
    expect(page.get_by_test_id("stSidebar").filter(visible=True)).to_have_count(0)
    sign_in(page, "Ann")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    expect(page).to_have_url(f"{guarded.url}/settings")
    expect(page.get_by_role("heading", name="Ann's Workspace")).to_be_visible()


def test_whoever_goes_elsewhere_right_after_the_sign_in_is_not_sent_back(
    guarded: App, page: Page
) -> None:
    page.goto(guarded.url)
    sign_in(page, "Ann")
    expect(composer(page)).to_be_visible()
    # As where the page was left before it had looked where its user came from.
    page.evaluate("sessionStorage.setItem('leaf-place', '/')")
    page.goto(f"{guarded.url}/settings")
    expect(page.get_by_role("heading", name="Ann's Workspace")).to_be_visible()
    wait_until(lambda: page.evaluate("sessionStorage.getItem('leaf-place')") is None)
    page.wait_for_timeout(500)
    expect(page).to_have_url(f"{guarded.url}/settings")


def test_signing_out_ends_every_tab_and_nothing_secret_is_logged(
    guarded: App, context: BrowserContext, page: Page
) -> None:
    seen: list[str] = []
    context.on(
        "request",
        lambda request: seen.extend(
            re.findall(r"[?&](?:code|state|id_token_hint)=([^&]+)", request.url)
        ),
    )
    page.goto(guarded.url)
    sign_in(page, "Ann")
    ask(page, "hello")
    expect(finished(page)).to_be_visible()
    other = context.new_page()
    other.goto(page.url)
    expect(finished(other)).to_be_visible()
    composer(other).fill("half written")
    drafts = "Object.keys(sessionStorage).filter((key) => key.startsWith('leaf-draft-')).length"
    assert other.evaluate(drafts) == 1
    cookies = [str(c["value"]) for c in context.cookies() if "streamlit" in str(c["name"])]
    sign_out(page)
    expect(page.get_by_role("button", name="Sign in with Firm")).to_be_visible()
    expect(other.get_by_text("You are signed out.")).to_be_visible()
    expect(other.get_by_text("hello")).to_have_count(0)
    wait_until(lambda: other.evaluate(drafts) == 0)
    other.reload()
    expect(other.get_by_role("button", name="Sign in with Firm")).to_be_visible()
    logged = guarded.log.read_text()
    assert len(seen) >= 2
    assert cookies
    for secret in (*seen, *cookies, "client-secret-of-tests", "a secret of the tests"):
        assert secret not in logged


def test_a_cookie_that_was_kept_aside_opens_nothing_after_the_sign_out(
    guarded: App, context: BrowserContext, second_context: BrowserContext, page: Page
) -> None:
    page.goto(guarded.url)
    sign_in(page, "Ann")
    expect(composer(page)).to_be_visible()
    second_context.add_cookies(context.cookies())  # type: ignore[arg-type] # read and set have types of their own
    copied = second_context.new_page()
    copied.goto(guarded.url)
    expect(composer(copied)).to_be_visible()
    sign_out(page)
    expect(page.get_by_role("button", name="Sign in with Firm")).to_be_visible()
    copied.reload()
    expect(copied.get_by_text("You are signed out.")).to_be_visible()
    expect(composer(copied)).to_have_count(0)


def test_a_chat_is_shared_with_somebody_who_was_invited_until_they_are_removed(
    guarded: App, second_context: BrowserContext, page: Page
) -> None:
    page.goto(f"{guarded.url}/settings")
    sign_in(page, "Ann")
    page.get_by_label("Invite by e-mail").fill("bob@example.org")
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(page.get_by_text("joins at the next sign-in")).to_be_visible()
    theirs = second_context.new_page()
    theirs.goto(guarded.url)
    sign_in(theirs, "Bob")
    expect(composer(theirs)).to_be_visible()
    page.get_by_role("button", name="New chat").click()
    ask(page, "Something to share")
    expect(finished(page)).to_be_visible()
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("combobox", name="Share this chat with").click()
    page.get_by_role("option", name=re.compile("Bob Example")).click()
    page.get_by_test_id("stFormSubmitButton").get_by_role("button", name="Share").click()
    expect(page.get_by_role("button", name="With Bob Example")).to_be_visible()
    theirs.goto(page.url)
    expect(finished(theirs)).to_be_visible()
    ask(theirs, "A second question")
    for tab in (page, theirs):
        expect(tab.locator("#stMain").get_by_text("Bob Example", exact=True)).to_be_visible()
        expect(
            tab.locator("#stMain").get_by_text("Ann Example", exact=True).filter(visible=True).first
        ).to_be_visible()
    page.goto(f"{guarded.url}/settings")
    page.get_by_role("button", name="Change Bob Example").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_role("button", name="Change Bob Example")).to_have_count(0)
    expect(theirs.locator("#stMain").get_by_text("A second question")).to_have_count(0)
    theirs.reload()
    expect(composer(theirs)).to_be_visible()
    expect(theirs.get_by_text("Something to share")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "said"), [("Eve", "eve@evil.org may not use this Leaf."), ("Una", "is not verified")]
)
def test_who_may_not_come_in_reads_why_and_can_use_another_account(
    guarded: App, page: Page, name: str, said: str
) -> None:
    page.goto(guarded.url)
    sign_in(page, name)
    expect(page.get_by_test_id("stAlert")).to_contain_text(said)
    page.get_by_role("button", name="Sign out and use another account").click()
    page.get_by_role("button", name="End session").click()
    sign_in(page, "Ann")
    expect(composer(page)).to_be_visible()


def test_a_sign_in_whose_time_is_over_says_so(
    new_app: Callable[..., App], hasty_provider: str, page: Page, tmp_path: Path
) -> None:
    guarded = start(new_app, hasty_provider, tmp_path)
    page.goto(f"{guarded.url}/files")
    sign_in(page, "Ann")
    expect(page.get_by_text("Your sign-in has expired.")).to_be_visible()
    expect(page.get_by_role("heading", name="Files", exact=True)).to_have_count(0)


def test_a_refused_consent_leads_back_to_the_front_door(guarded: App, page: Page) -> None:
    page.goto(guarded.url)
    page.get_by_role("button", name="Sign in with Firm").click()
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_role("button", name="Sign in with Firm")).to_be_visible()


def test_a_callback_that_was_made_up_signs_nobody_in(guarded: App, page: Page) -> None:
    page.goto(f"{guarded.url}/oauth2callback?code=forged&state=forged")
    expect(page.get_by_role("button", name="Sign in with Firm")).to_be_visible()
    expect(composer(page)).to_have_count(0)


FAILURES = [
    ("client", "The login provider does not accept this Leaf."),
    ("grant", "This sign-in was used already, is too old"),
    ("down", "The login provider cannot be reached just now."),
    ("cut", "The login provider cannot be reached just now."),
    ("garbage", "did not confirm the sign-in"),
    ("empty", "did not confirm the sign-in"),
    ("state", "This sign-in was used already, is too old"),
    ("access_denied", "access was not allowed at the login provider"),
    ("server_error", "The login provider refused the sign-in."),
    ("metadata", "The login provider cannot be reached just now."),
]


def test_a_sign_in_that_fails_says_why_on_the_page_and_nothing_secret_anywhere(
    new_app: Callable[..., App], page: Page, tmp_path: Path
) -> None:
    with LoginServer("client") as server:
        guarded = start(new_app, f"{server.url}/.well-known/openid-configuration", tmp_path)
        for fails, sentence in FAILURES:
            server.fails = fails
            page.goto(f"{guarded.url}/settings")
            page.get_by_role("button", name="Sign in with Firm").click()
            expect(page.get_by_test_id("stAlert"), fails).to_contain_text(sentence)
            expect(page, fails).to_have_url(re.compile(r"/(settings)?$"))
            expect(page.get_by_role("button", name="Sign in with Firm")).to_be_visible()
            for secret in (CODE, SECRET, "client-secret-of-tests"):
                assert secret not in page.content()
        page.reload()
        expect(page.get_by_role("button", name="Sign in with Firm")).to_be_visible()
        expect(page.get_by_test_id("stAlert")).to_have_count(0)
    assert CODE not in guarded.log.read_text()
    assert "client-secret-of-tests" not in guarded.log.read_text()
