"""For whoever runs Leaf: what works on this machine, where the data lies and what room it takes, what
is limited, what the environment sets, and the audit log of all. Whoever does not is told so."""

import streamlit as st

from leaf.ui import operations
from leaf.ui.model import SETTINGS_PAGE
from leaf.ui.state import session

st.title("Operations", anchor=False)

if not session().operations.allowed():
    st.markdown(
        "This page is for whoever runs this Leaf. What you can set yourself stands in *Settings*."
    )
    st.page_link(SETTINGS_PAGE, label="Settings", icon=":material/tune:")
else:
    st.caption("Only whoever runs this Leaf sees this page.")
    st.header("What works here", anchor=False)
    operations.draw_checks()
    st.header("Your data", anchor=False)
    operations.draw_data()
    st.header("Limits", anchor=False)
    operations.draw_limits()
    st.header("Model for everybody", anchor=False)
    operations.draw_environment()
    st.header("Audit log of all workspaces", anchor=False)
    operations.draw_audit()
