"""DEEM Studio: starts every session and shows the page that was asked for."""

import streamlit as st

from studio import boot, errors

st.set_page_config(page_title="DEEM Studio", page_icon="🗳️", layout="wide")

with errors.shown():
    boot.start({"Prepare": [boot.Entry("home", "Home", ":material/home:")]}).run()
