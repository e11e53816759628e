"""Find a Chromium for the browser tests, or fetch one: ``python -m tests.browser.chromium``."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "DEEM_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PACKAGE_MANAGERS = {
    "apt-get": (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]),
    "dnf": (["install", "--assumeyes", "chromium"],),
    "apk": (["add", "--no-cache", "chromium"],),
    "pacman": (["-Sy", "--noconfirm", "chromium"],),
    "zypper": (["--non-interactive", "install", "chromium"],),
}
WINDOWS = sys.platform == "win32"
ROOT = not WINDOWS and os.geteuid() == 0
LAUNCH_ARGS = (
    *(("--no-sandbox",) if ROOT else ()),  # Chromium refuses to start a sandbox as root
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def find() -> str | None:
    """Return the first Chromium or Chrome on this machine that runs, or None."""
    return next((path for path in _candidates() if _runs(path)), None)


def ensure() -> str:
    """Return a Chromium that runs, fetched from Playwright or the system's packages if there is none yet."""
    if found := find():
        return found

    _say("No Chromium found: asking Playwright for one")
    if _succeeds([sys.executable, "-m", "playwright", "install", "--no-shell", "chromium"], timeout=600):
        if found := find():
            return found
        if ROOT and shutil.which("apt-get"):
            _say("It lacks system libraries: installing them")
            _succeeds([sys.executable, "-m", "playwright", "install-deps", "chromium"], timeout=900)
            if found := find():
                return found

    manager = next(filter(shutil.which, PACKAGE_MANAGERS), None)
    if ROOT and manager:
        _say(f"Installing the package chromium with {manager}")
        for arguments in PACKAGE_MANAGERS[manager]:
            _succeeds([manager, *arguments], timeout=900)
        if found := find():
            return found

    raise SystemExit(
        f"The browser tests need Chromium or Chrome: install one, or point {VARIABLE} at the one you have."
    )


def _candidates() -> Iterator[str]:
    """Yield the places to look, best first."""
    if named := os.environ.get(VARIABLE):
        yield named
    for name in NAMES:
        path = shutil.which(name)
        # A snap sees its own /tmp only, so files that a test uploads or downloads would not be there.
        if path and not path.startswith("/snap/"):
            yield path
    if sys.platform == "darwin":
        for folder in (Path("/Applications"), Path.home() / "Applications"):
            for name in ("Google Chrome", "Chromium"):
                yield str(folder / f"{name}.app" / "Contents" / "MacOS" / name)
    if WINDOWS:
        for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
            if folder_name := os.environ.get(variable):
                yield str(Path(folder_name) / "Google" / "Chrome" / "Application" / "chrome.exe")
                yield str(Path(folder_name) / "Chromium" / "Application" / "chrome.exe")
    if downloaded := _from_playwright():
        yield downloaded


def _from_playwright() -> str | None:
    """Return where this Playwright keeps its own Chromium; it may not be there yet."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _runs(path: str) -> bool:
    if WINDOWS:  # there --version opens a window instead of answering
        return Path(path).is_file()
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and "chrom" in answer.stdout.lower()


def _succeeds(command: list[str], timeout: float) -> bool:
    """Run a command without showing its output; when it fails, say why in one line and return False."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
        start_new_session=True,  # so that giving up ends its children too
    )
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        _say(f"  gave up after {timeout:.0f} s")
        return False
    except KeyboardInterrupt:
        _end(process)
        raise
    if process.returncode:
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        reasons = [line for line in lines if line.lower().startswith(("error", "e:"))] or lines or ["no message"]
        _say(f"  that failed: {reasons[0][:160]}")
    return process.returncode == 0


def _end(process: subprocess.Popen[str]) -> None:
    if WINDOWS:
        process.terminate()
    else:
        os.killpg(process.pid, signal.SIGTERM)  # not SIGKILL: package managers tidy up
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(20)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    chosen = ensure()
    named = os.environ.get(VARIABLE) or chosen
    _say(f"Browser tests use {chosen}" + (f" ({VARIABLE}={named} does not run)" if named != chosen else ""))
