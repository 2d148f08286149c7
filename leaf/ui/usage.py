"""What was used: totals, days as bars, and tables by model, chat and person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import streamlit as st

from leaf.budgets.budgets import UsageReport
from leaf.budgets.periods import RANGES, Range
from leaf.language.text import in_digits, mark, t
from leaf.store.model import NamedUsage, UsageTotal
from leaf.store.usage import Whose
from leaf.tables.chart_look import readable
from leaf.ui import downloads, markdown, tabular, words

RANGE_NAMES: dict[str, str] = {
    "today": mark("Today"),
    "7d": mark("7 days"),
    "30d": mark("30 days"),
    "month": mark("This month"),
    "all": mark("All"),
}
COLUMNS = ("when", "model", "used")
"""Of the bars by day."""
UNIT_NAMES = {"money": mark("Money"), "tokens": mark("Tokens")}
WHOSE_NAMES = {"mine": mark("Mine"), "everyone": mark("Everybody's")}
MOST_BARS = 92
"""Above so many days the bars are months."""
CHAT_PAGE = Path(__file__).resolve().parents[1] / "pages" / "chat.py"


def draw_choice(several: bool) -> tuple[Range, Whose]:
    """Which time, and for owners of a workspace whose."""
    with st.container(
        horizontal=True, gap="medium", vertical_alignment="bottom", key="usage-choice"
    ):
        chosen = st.segmented_control(
            t("Time"),
            RANGES,
            format_func=lambda r: t(RANGE_NAMES[r]),
            default="30d",
            key="usage-range",
            required=True,
        )
        whose = "mine"
        if several:
            whose = st.segmented_control(
                t("Whose"),
                list(WHOSE_NAMES),
                format_func=lambda w: t(WHOSE_NAMES[w]),
                default="mine",
                key="usage-whose",
                required=True,
            )
    return chosen or "30d", "everyone" if whose == "everyone" else "mine"


def draw_totals(report: UsageReport, *, alone: bool) -> None:
    """Four figures, and the workspace's sum for somebody who sees only their own."""
    total = report.total
    cached = round(100 * total.cached_tokens / total.input_tokens) if total.input_tokens else 0
    with st.container(horizontal=True, gap="medium", key="usage-totals"):
        st.metric(t("Answers by a model"), in_digits(total.answers), width="content")
        st.metric(t("Tokens in"), in_digits(total.input_tokens), width="content")
        st.metric(
            t("of them cached"),
            f"{cached} %",
            width="content",
            help=t("Read from the prompt cache, at a tenth of the price or less"),
        )
        st.metric(t("Tokens out"), in_digits(total.output_tokens), width="content")
        st.metric(t("Cost"), markdown.literal(_money(total)), width="content")
    if total.unpriced_tokens:
        st.caption(
            t(
                "{unpriced_tokens} tokens are of models whose price is not known: they "
                "are not in the cost, and only budgets of tokens hold them back.",
                unpriced_tokens=in_digits(total.unpriced_tokens),
            )
        )
    if not alone and report.whose == "mine":
        whole = report.workspace
        st.caption(
            t(
                "The whole workspace: {answers}, {tokens} tokens, {cost}.",
                answers=words.count(whole.answers, "answer"),
                tokens=in_digits(whole.input_tokens + whole.output_tokens),
                cost=markdown.literal(_money(whole)),
            )
        )


def draw_empty(report: UsageReport, *, keyless: bool) -> None:
    """What to do where there is nothing to show."""
    if report.range != "all":
        st.markdown(t("Nothing was used in this time. Choose a longer one, or ask a question."))
    elif keyless:
        st.markdown(
            t("Nothing was used yet. Connect a model in *Settings*; what it uses is counted here.")
        )
    else:
        st.markdown(
            t(
                "Nothing was used yet. Ask a question: what its answer takes is "
                "counted here, turn by turn."
            )
        )


def draw_days(report: UsageReport) -> None:
    """Bars by day (by month, where there are many days), stacked by model."""
    priced = any(day.total.cost for day in report.days)
    unit: Literal["money", "tokens"] = (
        "money" if priced and not report.total.unpriced_tokens else "tokens"
    )
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        st.header(t("By day"), anchor=False, width="content")
        if priced:
            picked = st.segmented_control(
                t("Bars show"),
                ["money", "tokens"],
                format_func=lambda one: t(UNIT_NAMES[one]),
                default=unit,
                key="usage-unit",
                label_visibility="collapsed",
                required=True,
            )
            unit = "money" if picked == "money" else "tokens"
    bars, rows = bars_of(report, unit)
    import pandas as pd

    st.vega_lite_chart(
        pd.DataFrame(rows, columns=list(COLUMNS)),
        chart_of(bars, rows, unit),
        width="stretch",
        key=f"usage-bars-{unit}",
        alt=alt_of(bars, rows, unit),
    )
    box = st.expander(
        t("The same as a table"), type="compact", key="usage-days-table", on_change="rerun"
    )
    if box.open:
        with box:
            _draw_day_table(report)


def chart_of(
    bars: Sequence[str], rows: Sequence[Sequence[Any]], unit: Literal["money", "tokens"]
) -> dict[str, Any]:
    """Stacked bars in Vega-Lite, from left to right as in `bars`, with figures as the reader's
    language writes them."""
    return readable(_chart(bars, unit), COLUMNS, rows)


def _chart(bars: Sequence[str], unit: Literal["money", "tokens"]) -> dict[str, Any]:
    title = t("US dollars") if unit == "money" else t("Tokens")
    return {
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "height": 270,
        "encoding": {
            "x": {
                "field": "when",
                "type": "ordinal",
                "sort": list(bars),
                "title": None,
                "axis": {"labelAngle": 0, "labelOverlap": True},
            },
            "y": {
                "field": "used",
                "type": "quantitative",
                "title": title,
                "axis": {"format": "$~f" if unit == "money" else "~s"},
            },
            "color": {
                "field": "model",
                "type": "nominal",
                "title": None,
                "legend": {"orient": "bottom", "columns": 2},
            },
            "tooltip": [
                {"field": "when", "title": t("When")},
                {"field": "model", "title": t("Model")},
                {
                    "field": "used",
                    "title": title,
                    "type": "quantitative",
                    "format": ",.4f" if unit == "money" else ",d",
                },
            ],
        },
    }


def bars_of(
    report: UsageReport, unit: Literal["money", "tokens"]
) -> tuple[list[str], list[tuple[str, str, float]]]:
    """The bars from left to right, empty days among them, and (bar, model, used) for each piece."""
    zone = ZoneInfo(report.zone)
    today = report.now.astimezone(zone).date()
    first = report.since.astimezone(zone).date() if report.since else report.days[0].day
    last = max(today, report.days[-1].day)
    days = [first + timedelta(days=i) for i in range((last - first).days + 1)]
    monthly = len(days) > MOST_BARS
    sums: dict[tuple[str, str], float] = {}
    for day in report.days:
        key = (_bar(day.day, monthly), day.model)
        used = (
            day.total.cost
            if unit == "money"
            else float(day.total.input_tokens + day.total.output_tokens)
        )
        sums[key] = sums.get(key, 0.0) + used
    bars = list(dict.fromkeys(_bar(day, monthly) for day in days))
    busy = {when for when, _ in sums}
    filler = report.days[0].model
    empty = [(bar, filler, 0.0) for bar in bars if bar not in busy]
    return bars, [(when, model, used) for (when, model), used in sums.items()] + empty


def alt_of(
    bars: Sequence[str], rows: Sequence[tuple[str, str, float]], unit: Literal["money", "tokens"]
) -> str:
    """The chart in a sentence, for those who do not see it."""
    sums = {bar: sum(used for when, _, used in rows if when == bar) for bar in bars}
    most = max(sums, key=lambda bar: sums[bar])
    used = (
        words.money(sums[most])
        if unit == "money"
        else t("{n} tokens", n=in_digits(round(sums[most])))
    )
    busy = sum(value > 0 for value in sums.values())
    return t(
        "Bars from {first} to {last}, {busy} of {n} with use; the most on {most}: {used}.",
        first=bars[0],
        last=bars[-1],
        busy=busy,
        n=len(bars),
        most=most,
        used=used,
    )


def draw_tables(report: UsageReport) -> None:
    """By model, chat and person, dearest first."""
    st.header(t("By model"), anchor=False)
    _draw_rows("model", [(row, row.name or t("unknown"), "") for row in report.models])
    if report.users:
        st.header(t("By person"), anchor=False)
        _draw_rows(
            "user", [(row, row.name or t("Somebody who has left"), "") for row in report.users]
        )
    st.header(t("By chat"), anchor=False)
    hidden = (
        t("Chats that were deleted")
        if report.whose == "mine"
        else t("Chats of others, and deleted ones")
    )
    _draw_rows(
        "chat",
        [(row, row.name or (t("Untitled") if row.id else hidden), row.id) for row in report.chats],
    )


def draw_download(report: UsageReport) -> None:
    """By day and model, for a spreadsheet."""
    where = downloads.place("usage", report.range, report.whose)
    downloads.button(t("Download as CSV"), where, key="usage-csv")


def _draw_rows(kind: str, rows: Sequence[tuple[NamedUsage, str, str]]) -> None:
    with st.container(gap=None, key=f"usage-rows-{kind}"):
        for number, (row, name, chat_id) in enumerate(rows):
            with st.container(
                horizontal=True,
                vertical_alignment="center",
                gap="small",
                key=f"usage-row-{kind}-{number}",
            ):
                if chat_id:
                    st.page_link(
                        CHAT_PAGE,
                        label=markdown.label(name, 70),
                        query_params={"chat": chat_id},
                        width="stretch",
                    )
                else:
                    st.markdown(f":small[{markdown.label(name, 70)}]", width="stretch")
                st.caption(markdown.literal(_figures(row.total)), width="content")


def _draw_day_table(report: UsageReport) -> None:
    rows = [
        [
            d.day.isoformat(),
            d.model,
            d.total.answers,
            d.total.input_tokens,
            d.total.cached_tokens,
            d.total.output_tokens,
            _money(d.total),
        ]
        for d in reversed(report.days)
    ]
    columns = [
        t("day"),
        t("model"),
        t("answers"),
        t("tokens in"),
        t("cached"),
        t("tokens out"),
        t("cost"),
    ]
    types = ["TEXT", "TEXT", "INT", "INT", "INT", "INT", "TEXT"]
    tabular.draw(columns, rows, types, key="usage-days")


def _figures(total: UsageTotal) -> str:
    tokens = total.input_tokens + total.output_tokens
    return t(
        "{answers} · {tokens} tokens · {cost}",
        answers=words.count(total.answers, "answer"),
        tokens=in_digits(tokens),
        cost=_money(total),
    )


def _money(total: UsageTotal) -> str:
    """`$1.20`; `unknown` where no price is known, `$1.20 and more` where some are not."""
    if total.unpriced_tokens:
        return t("{cost} and more", cost=words.money(total.cost)) if total.cost else t("unknown")
    return words.money(total.cost)


def _bar(day: date, monthly: bool) -> str:
    return f"{words.month(day)} {day.year}" if monthly else words.day_of_month(day)
