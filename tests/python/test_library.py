# SPDX-License-Identifier: BSD-2-Clause
"""How the package finds libwick, and what it says when it cannot."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from wick import _library  # noqa: E402


def run(code, **env):
    return subprocess.run([sys.executable, "-c", "from wick import _library\n" + code],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python"), **env})


def test_the_library_of_the_source_tree_is_found():
    version = _library.load().wick_version().decode()
    assert f"version: '{version}'" in (ROOT / "meson.build").read_text(encoding="utf-8")


def test_a_path_in_the_environment_comes_first():
    done = run("_library.load()", WICK_LIBRARY="/nonexistent/libwick.so")
    assert "LibraryError: WICK_LIBRARY=/nonexistent/libwick.so cannot be loaded" in done.stderr


def test_a_missing_library_names_the_remedy():
    done = run("_library._candidates = lambda: ['/nonexistent/libwick.so.0']\n_library.load()")
    assert "libwick cannot be loaded" in done.stderr and "set WICK_LIBRARY" in done.stderr


@pytest.mark.parametrize("change", ["NEEDED = (99, 0)", "PROTOTYPES['wick_of_tomorrow'] = (None, [])"])
def test_a_library_of_another_release_is_refused(change):
    done = run(f"_library.{change}\n_library.load()")
    assert "install both from the same release of wick" in done.stderr
    assert "is libwick 0." in done.stderr


@pytest.mark.parametrize("code, kind", [(-22, ValueError), (-12, MemoryError), (-28, OSError),
                                        (-13, PermissionError)])
def test_errors_become_exceptions(code, kind):
    error = _library.Error(code=code, text=b"it failed", remedy=b"do this")
    with pytest.raises(kind, match="it failed; do this"):
        _library.check(code, error)
    assert _library.check(3, error) == 3
