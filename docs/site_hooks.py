"""Hooks of the documentation site: pages that live outside docs/, and the links between both.

Pages link as they do in the repository, so that links work on the forge too. On the site the stored results of
benchmarks and a few pages of the root stand below the root of docs/, and every relative link is turned to where its
target is there.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

OUTSIDE = ("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/results/**/*", "examples/*.ipynb")
"""Files of the repository that are part of the site."""
KINDS = (".md", ".txt", ".png", ".ipynb")

_LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")


def outside(root: Path) -> Iterator[str]:
    """Yield paths of the files of the site that lie outside docs/."""
    for pattern in OUTSIDE:
        for path in sorted(root.glob(pattern)):
            if path.is_file() and path.suffix in KINDS:
                yield path.relative_to(root).as_posix()


def on_files(files: Files, *, config: Any) -> Files:
    """Add what lies outside docs/."""
    root = Path(config.config_file_path).parent
    for name in outside(root):
        files.append(File.generated(config, name, abs_src_path=str(root / name)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: Any, files: Files) -> str:
    """Turn links of the repository into links of the site."""
    root = Path(config.config_file_path).parent
    beyond = set(outside(root))
    here = page.file.src_uri
    home = posixpath.dirname(here if here in beyond else f"docs/{here}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(home, link[2]))
        site = target.removeprefix("docs/")
        if files.get_file_from_path(site) is None:
            return link[0]  # the strict build says that it leads nowhere
        return f"{link[1]}{posixpath.relpath(site, posixpath.dirname(here) or '.')}{link[3]}"

    return _LINK.sub(moved, markdown)
