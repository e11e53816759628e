"""DEEM Studio: starts every session and shows the page that was asked for."""

import streamlit as st

from studio import boot, errors, sidebar

st.set_page_config(page_title="DEEM Studio", page_icon="🗳️", layout="wide")

with errors.boundary():
    page = boot.start(
        {
            "Prepare": [
                boot.Entry("home", "Home", ":material/home:"),
                boot.Entry("data", "Data", ":material/table_chart:"),
            ],
            "Train": [
                boot.Entry("learning_rate", "Learning rate", ":material/show_chart:"),
                boot.Entry("train", "Train", ":material/model_training:"),
            ],
            "Inspect": [
                boot.Entry("learners", "Learners", ":material/groups:"),
                boot.Entry("dependence", "Dependence", ":material/account_tree:"),
                boot.Entry("compare", "Compare", ":material/balance:"),
                boot.Entry("rows", "Rows", ":material/table_rows:"),
                boot.Entry("review", "Review", ":material/rate_review:"),
            ],
            "Results": [
                boot.Entry("export", "Export", ":material/download:"),
            ],
        }
    )
    sidebar.show()
    page.run()
