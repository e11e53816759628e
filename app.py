"""DEEM Studio: starts every session and shows the page that was asked for.

Streamlit's server imports this file once and finds ``app`` in it; then it runs the file as a script, for every session.
"""

import streamlit as st

if __name__ != "__main__":
    from studio.serving import gate, interface, opening

    app = st.App(__file__, routes=interface.routes(), middleware=gate.middleware(), lifespan=opening.opening)
else:
    from studio import boot, errors, sharing, sidebar

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
        sharing.admit()
        sharing.banner()
        sidebar.show()
        page.run()
