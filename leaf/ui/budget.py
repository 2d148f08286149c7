"""Budgets: meters, the line above the composer, and the form for owners."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import streamlit as st

from leaf.budgets.budgets import BudgetPlan, Standing
from leaf.budgets.rules import Meter, Unit, amount, effective, percent
from leaf.language.amounts import amount_told
from leaf.language.problems import said
from leaf.language.text import in_digits, mark, t
from leaf.settings import Allowance
from leaf.store.budgets import MEMBERS, WORKSPACE
from leaf.ui import markdown
from leaf.ui.controls import say_problem, then_redraw
from leaf.ui.state import session
from leaf.ui.toasts import toast
from leaf.ui.words import whole_day

PAGE = Path(__file__).resolve().parents[1] / "pages" / "usage.py"
STATES = {
    "ok": "",
    "near": mark(":orange[:material/warning: nearly used up]"),
    "used up": mark(":red[:material/block: used up]"),
}
FIELDS = {
    "day_usd": mark("US dollars a day"),
    "month_usd": mark("US dollars a month"),
    "day_tokens": mark("Tokens a day"),
    "month_tokens": mark("Tokens a month"),
}


def say_standing() -> None:
    """Above the composer, from 80 % of a budget on."""
    standing = session().usage.standing()
    if not standing.warning:
        return
    icon = "block" if standing.reached else "warning"
    colour = "red" if standing.reached else "orange"
    st.caption(f":{colour}[:material/{icon}:] {markdown.literal(said(standing.warning))}")


def draw_meters(standing: Standing) -> None:
    """A bar and its words for each budget that holds for the reader."""
    if not standing.meters:
        return
    st.header(t("Budgets"), anchor=False)
    if standing.warning:
        st.warning(
            markdown.paragraph(said(standing.warning)),
            icon=":material/block:" if standing.reached else ":material/warning:",
        )
    with st.container(key="meters", horizontal=True, gap="medium"):
        for meter in standing.meters:
            with st.container(
                width=300, gap="xxsmall", key=f"meter-{meter.whose}-{meter.span}-{meter.unit}"
            ):
                _draw_meter(meter)


def _draw_meter(meter: Meter) -> None:
    whose = t("You") if meter.whose == "user" else t("The workspace")
    when = t("today") if meter.span == "day" else amount_told(meter.month)
    used = (
        in_digits(round(meter.used)) if meter.unit == "tokens" else _amount(meter.used, meter.unit)
    )
    words = t(
        "{share}: {used} of {limit}",
        share=percent(meter.share),
        used=used,
        limit=_amount(meter.limit, meter.unit),
    )
    st.progress(
        min(1.0, meter.share),
        text=f"**{whose}, {when}** {t(STATES[meter.state])}  \n{markdown.literal(words)}",
    )
    st.caption(
        t("Begins anew {ends_text}", ends_text=markdown.literal(amount_told(meter.ends_text)))
    )


def draw_plan(plan: BudgetPlan) -> None:
    """For owners: what holds, and a form to change it. Others see who set it on the meters
    above."""
    if not plan.owner:
        return
    with st.expander(
        t("Set budgets"), type="compact", key="budget-form-box", icon=":material/tune:"
    ):
        say_problem()
        subjects = _subjects(plan)
        subject = st.selectbox(
            t("Whose"),
            list(subjects),
            format_func=lambda s: subjects[s],
            key="budget-subject",
            width=340,
        )
        if subject:
            _draw_form(plan, subject)


def _subjects(plan: BudgetPlan) -> dict[str, str]:
    if plan.alone:
        return {MEMBERS: t("You")}
    people = {m.user_id: f"{m.name} · {m.email}" for m in session().team.members()}
    return {MEMBERS: t("Each member"), WORKSPACE: t("The whole workspace"), **people}


def _draw_form(plan: BudgetPlan, subject: str) -> None:
    now = plan.chosen[subject].allowance if subject in plan.chosen else Allowance()
    most = plan.most_workspace if subject == WORKSPACE else plan.most_user
    otherwise = _otherwise(plan, subject)
    # Its key changes with what is set, so that the fields show what another owner has set
    # meanwhile.
    with st.form(f"budget-{subject}-{now}", border=False):
        amounts: dict[str, float | None] = {}
        with st.container(horizontal=True, gap="small"):
            for name, label in FIELDS.items():
                whole = name.endswith("tokens")
                value, rest, top = getattr(now, name), getattr(otherwise, name), getattr(most, name)
                amounts[name] = st.number_input(
                    t(label),
                    value=value,
                    min_value=0 if whole else 0.0,
                    step=100_000 if whole else 1.0,
                    format="%d" if whole else "%.2f",
                    placeholder=t("no limit") if rest is None else f"{_figure(rest, name)}",
                    help=t("At most {top}", top=_figure(top, name)) if top is not None else None,
                    width=185,
                )
        saved = st.form_submit_button(t("Save"), type="primary")
    st.caption(_explained(plan, subject))
    if saved:
        tokens = {
            name: None if amounts[name] is None else int(amounts[name] or 0)
            for name in ("day_tokens", "month_tokens")
        }
        wanted = Allowance(
            amounts["day_usd"], tokens["day_tokens"], amounts["month_usd"], tokens["month_tokens"]
        )
        then_redraw(_save, subject, wanted)


def _save(subject: str, wanted: Allowance) -> None:
    session().usage.set_budget(subject, wanted)
    toast(t("Budgets saved.") if wanted else t("Budgets taken back."), icon=":material/check:")


def _otherwise(plan: BudgetPlan, subject: str) -> Allowance:
    """What holds where a field is left empty."""
    if subject == WORKSPACE:
        return plan.default_workspace
    if subject == MEMBERS or MEMBERS not in plan.chosen:
        return plan.default_user
    return effective([plan.chosen[MEMBERS].allowance, plan.default_user], plan.most_user)


def _explained(plan: BudgetPlan, subject: str) -> str:
    words = t("An empty field leaves it to what is written in it.")
    if subject in plan.chosen:
        budget = plan.chosen[subject]
        words += t(
            " Set by {set_by} on {at}.",
            set_by=markdown.label(budget.set_by),
            at=whole_day(budget.set_at),
        )
    top = plan.most_workspace if subject == WORKSPACE else plan.most_user
    if top:
        limits = [
            t(
                "{figure} a day" if name.startswith("day") else "{figure} a month",
                figure=_figure(value, name),
            )
            for name, value in asdict(top).items()
            if value is not None
        ]
        words += t(
            " This installation allows at most {limits}.",
            limits=markdown.literal(", ".join(limits)),
        )
    return words


def _figure(value: float, name: str) -> str:
    unit: Unit = "tokens" if name.endswith("tokens") else "usd"
    return _amount(value, unit)


def _amount(value: float, unit: Unit) -> str:
    return amount_told(amount(value, unit))
