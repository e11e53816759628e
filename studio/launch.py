"""The ``deem-studio`` command: starts the app or runs ``deem_core``."""

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HELP = """\
usage: deem-studio                           start the app in the browser
       deem-studio app [streamlit options]   the same with options, such as --server.port 8600
       deem-studio COMMAND ...               work without a browser; the commands are:

"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; by default those of this process.

    Returns
    -------
    int
        Exit code.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] == "app":
        return run_app(arguments[1:])

    from deem_core import cli  # noqa: PLC0415  (starting the app does not need it)

    if arguments[0] in {"-h", "--help"}:
        sys.stdout.write(HELP)
        sys.stdout.flush()
    return cli.main(arguments)


def run_app(options: Sequence[str] = ()) -> int:  # noqa: RET503  (execv never returns)
    """Serve the app until it is stopped.

    Parameters
    ----------
    options : sequence of str
        Options of ``streamlit run``.

    Returns
    -------
    int
        Streamlit's exit code. Except on Windows this does not return: Streamlit takes the process over.
    """
    root = app_root()
    command = [sys.executable, "-m", "streamlit", "run", str(root / "app.py"), *options]
    if sys.platform == "win32":
        with subprocess.Popen(command, cwd=root) as server:
            while True:
                try:
                    return server.wait()
                except KeyboardInterrupt:  # Ctrl-C reached Streamlit too: let it finish
                    continue
    # Elsewhere Streamlit takes this process over, so that signals and its exit code need no forwarding.
    os.chdir(root)  # the theme and settings are in root/.streamlit
    os.execv(command[0], command)  # noqa: S606


def app_root() -> Path:
    """Return the folder with ``app.py``, ``pages``, ``sample_data`` and ``.streamlit``.

    Returns
    -------
    pathlib.Path
        The clone (also of an editable install), or where the wheel put its data files.

    Raises
    ------
    SystemExit
        If there is no ``app.py`` in either place.
    """
    beside = Path(__file__).resolve().parent.parent
    if (beside / "app.py").is_file():
        return beside
    try:
        installed = importlib.metadata.files("deem-studio") or []
    except importlib.metadata.PackageNotFoundError:
        installed = []
    for file in installed:
        if file.parts[-2:] == ("deem-studio", "app.py"):
            path = Path(str(file.locate())).resolve()
            if path.is_file():
                return path.parent
    raise SystemExit(
        "The app's files are missing: install deem-studio again, or run it from a clone of its repository."
    )


if __name__ == "__main__":
    sys.exit(main())
