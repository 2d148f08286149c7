"""axe-core over pages that a browser shows. It comes with the installed package
`axe-playwright-python`; nothing is fetched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from playwright.sync_api import ConsoleMessage, Page

from tests.live_kit import wait_until

SCRIPT = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
GRAVE = ("serious", "critical")
LOOKS = ("color-contrast",)
"""Rules that depend on the colours; the others say the same in light and dark."""
RUN = """async ({only, known}) => {
  let disturbed = false;  // what is drawn anew is pale for a moment, and read again
  const watch = new MutationObserver(() => { disturbed = true });
  const attributeFilter = ["data-test-script-state", "data-stale"];
  watch.observe(document.documentElement, {subtree: true, attributes: true, attributeFilter});
  const rules = {"target-size": {enabled: true}, "color-contrast": {enabled: true}};
  const runOnly = only.length ? {type: "rule", values: only} : undefined;
  const found = await axe.run(
    document, {resultTypes: ["violations"], elementRef: true, rules, runOnly});
  disturbed ||= watch.takeRecords().length > 0;
  watch.disconnect();
  if (disturbed) return null;
  return found.violations.flatMap(({id, nodes, help}) => nodes.map(node => ({
    rule: id, impact: node.impact, help, selector: node.target.flat().join(" "),
    html: node.html.slice(0, 240), mend: node.failureSummary,
    known: known.findIndex(one => one.rule === id && node.element.matches(one.selector)),
  })));
}"""
SHOWS = """scheme => {
  const app = document.querySelector(".stApp");
  return !app || getComputedStyle(app).colorScheme === scheme
    && app.dataset.testScriptState !== "running" && !document.querySelector("[data-stale=true]");
}"""
"""In these colours, and nothing is pale because it is drawn anew."""
TRIES = 20
"""Until the page was not drawn anew meanwhile."""
SOON = 1_000
"""Milliseconds after which what breaks a rule still does."""
STILL = """*, *::before, *::after { transition: none !important;
  animation-delay: 0s !important; animation-duration: 0s !important; }"""
"""Nothing is read while it fades in."""


@dataclass(frozen=True)
class Known:
    """A violation inside of somebody else's widget, which nothing of Leaf reaches."""

    rule: str
    selector: str
    """Matches the element itself."""
    reason: str


@dataclass(frozen=True)
class Finding:
    """One element that breaks one rule."""

    where: str
    rule: str
    impact: str
    selector: str
    html: str
    mend: str

    def __str__(self) -> str:
        return (
            f"{self.where}: {self.rule} ({self.impact})\n  {self.selector}\n  {self.html}\n  "
            + (self.mend.replace("\n", "\n  "))
        )


@dataclass
class Look:
    """A size of the window and a scheme of colours."""

    name: str
    width: int
    height: int
    scheme: str
    only: tuple[str, ...] = ()
    """The rules to ask for; empty for all."""


LOOKED_AT = (
    Look("wide, light", 1440, 900, "light"),
    Look("full, dark", 1920, 1080, "dark", LOOKS),
    Look("narrow, dark", 390, 844, "dark"),
)
"""Each scheme in all its colours, and each way in which the parts of a page are laid out."""


@dataclass
class Inspection:
    """What axe-core finds on the pages of one tab, and what the browser's console says."""

    page: Page
    known: Sequence[Known] = ()
    home: str = ""
    """Where the pages are; what the console says on others is not heard."""
    findings: list[Finding] = field(default_factory=list)
    met: set[int] = field(default_factory=set)
    """Indices of the known ones that occurred."""
    errors: list[str] = field(default_factory=list)
    where: str = ""

    def __post_init__(self) -> None:
        self.page.add_init_script(SCRIPT)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self._hear(str(error)))

    def look(self, where: str, looks: Sequence[Look] = LOOKED_AT) -> None:
        """Look at the page as it stands, in each size and scheme; then it is as it was in the
        first."""
        for look in looks:
            self.where = f"{where} ({look.name})"
            self._set(look)
            self._ask(look.only)
        self._set(looks[0])

    def _set(self, look: Look) -> None:
        self.page.set_viewport_size({"width": look.width, "height": look.height})
        self.page.emulate_media(color_scheme=look.scheme)  # type: ignore[arg-type]
        self._scheme = look.scheme
        wait_until(lambda: self.page.evaluate(SHOWS, look.scheme))
        self.page.add_style_tag(content=STILL)

    def _ask(self, only: Sequence[str]) -> None:
        found = self._violations(only)
        if any(one["known"] < 0 for one in found):
            # On a busy machine what comes into view is pale for longer than its page says.
            self.page.wait_for_timeout(SOON)
            found = [*(one for one in found if one["known"] >= 0), *self._violations(only)]
        for one in found:
            if one["known"] >= 0:
                self.met.add(one["known"])
            else:
                self.findings.append(
                    Finding(
                        self.where,
                        one["rule"],
                        one["impact"] or "",
                        one["selector"],
                        one["html"],
                        one["mend"] or one["help"],
                    )
                )

    def _violations(self, only: Sequence[str]) -> list[dict[str, Any]]:
        """Of the page at rest."""
        given = {"only": list(only), "known": [vars(one) for one in self.known]}
        for _ in range(TRIES):
            wait_until(lambda: self.page.evaluate(SHOWS, self._scheme))
            found: list[dict[str, Any]] | None = self.page.evaluate(RUN, given)
            if found is not None:
                return found
        raise AssertionError(f"{self.where}: the page does not come to rest")

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._hear(f"{message.text} ({message.location.get('url')})")

    def _hear(self, words: str) -> None:
        if self.page.url.startswith(self.home):
            self.errors.append(f"after {self.where or 'nothing'}: {words}")

    def grave(self) -> list[Finding]:
        return [one for one in self.findings if one.impact in GRAVE]
