"""What the Streamlit pages share, and the ``deem-studio`` command that starts them."""
