"""Images that a file names: web addresses, and files in one folder.

Nothing is fetched from elsewhere without asking: an address is loaded by the browser once the person allowed its host,
and a path is looked up inside one folder only.
"""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from PIL import Image

from deem_core import InputError
from studio import state, text
from studio.workspace import workspace

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")
"""Names that end like this are images."""
MOST_BYTES = 20_000_000
"""Size of an image file that is shown."""
VARIABLE = "DEEM_FILES"
"""Names the folder of images; ``files`` in the workspace by default."""
HOSTS = "review_hosts"
"""In the session: hosts from which images may be loaded."""
_MOST_LETTERS = 2_000  # of an address or path


def is_image(cell: str) -> bool:
    """Tell whether a cell names an image."""
    cell = cell.strip()
    if not cell or len(cell) > _MOST_LETTERS or not cell.isprintable():
        return False
    return _path_of(cell).casefold().endswith(ENDINGS)


def host_of(cell: str) -> str | None:
    """Return the host of a web address; None for anything else."""
    try:
        parts = urlsplit(cell.strip())
        return parts.netloc if parts.scheme in ("http", "https") and parts.netloc else None
    except ValueError:
        return None


def folder() -> Path:
    """Return the folder in which paths are looked up."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else workspace().root / "files"


def load(cell: str) -> bytes:
    """Return an image of the folder.

    Raises
    ------
    InputError
        If it is not there, lies outside, is too large or no image.
    """
    root = folder().resolve()
    try:
        path = (root / cell.strip()).resolve(strict=True)
        inside = path.is_relative_to(root) and path.is_file()
        size = path.stat().st_size if inside else 0
    except (OSError, ValueError, RuntimeError):  # not there, no path, a link in a circle
        inside, size = False, 0
    if not inside:
        raise InputError(f"This image is not in {root}. Put it there, or set {VARIABLE} to its folder, to see it here.")
    if size > MOST_BYTES:
        raise InputError(f"This image has {text.size(size)}; at most {text.size(MOST_BYTES)} are shown.")
    try:
        data = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data)) as image:
                image.verify()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise InputError("This image cannot be shown: the file is damaged or of another format.") from None
    return data


def show(cell: str, key: str) -> None:
    """Show an image, or what it takes to see it.

    Parameters
    ----------
    cell : str
    key : str
        Tells the buttons of several images apart.
    """
    host = host_of(cell)
    if host is not None:
        _show_address(cell.strip(), host, key)
        return
    try:
        st.image(load(cell))
    except InputError as error:
        st.markdown(text.plain(cell))
        st.caption(text.plain(str(error)))


def allow(host: str) -> None:
    """Load images from a host for the rest of the session."""
    allowed: set[str] = set(st.session_state.get(HOSTS, ()))
    state.set_value(HOSTS, allowed | {host})


def _show_address(address: str, host: str, key: str) -> None:
    if host in st.session_state.get(HOSTS, ()):
        st.image(address)
        return
    st.markdown(text.plain(address))
    st.button(
        f"Load images from {text.plain(host)}",
        key=f"load_images_{key}",
        icon=":material/image:",
        on_click=allow,
        args=(host,),
        help="Your browser then fetches them from there, so that host learns that you are looking at them.",
    )


def _path_of(cell: str) -> str:
    if host_of(cell) is None:
        return cell
    return urlsplit(cell).path
