"""What answers used and cost, the budgets, and, for owners, a way to change them."""

import streamlit as st

from leaf.language.text import t
from leaf.ui import budget, usage
from leaf.ui.state import session

st.container(key="wide")
st.title(t("Usage"), anchor=False)
if session().models.keyless():
    st.markdown(
        t("No model is connected, so **answers cost nothing**: no tokens, no money, no budget.")
    )

standing, plan = session().usage.standing(), session().usage.plan()
chosen, whose = usage.draw_choice(plan.owner and not plan.alone)
report = session().usage.report(chosen, whose)
usage.draw_totals(report, alone=plan.alone)
budget.draw_meters(standing)
if report.total.answers:
    usage.draw_days(report)
    usage.draw_tables(report)
    usage.draw_download(report)
else:
    usage.draw_empty(report, keyless=session().models.keyless())
budget.draw_plan(plan)
st.caption(
    t(
        "Days and months begin at midnight in the time zone {zone} (LEAF_TIME_ZONE). "
        "Money is at list price; each model turn counts as soon as it is over, also of "
        "answers that failed, were stopped or are being written; the title of a chat "
        "counts with its first answer.",
        zone=report.zone,
    )
)
