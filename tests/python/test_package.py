# SPDX-License-Identifier: BSD-2-Clause
"""The package: what pip builds and installs without network, its metadata, stubs and texts."""
import ast
import base64
import csv
import hashlib
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

import interpreters

ROOT = interpreters.ROOT
PACKAGE = ROOT / "python"
NO_NETWORK = ["unshare", "--map-root-user", "--net"]
# What is built here is loaded and no more.
QUICKLY = interpreters.clean_environment(CFLAGS="-O0 -g0")


def has_no_network():
    return shutil.which("unshare") and subprocess.run([*NO_NETWORK, "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def local(python):
    if not isinstance(python, interpreters.Local):
        pytest.skip("installed from another root")
    return python


def pip(local, *words):
    if subprocess.run([local.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{local.executable} has no pip")
    cut_off = NO_NETWORK if has_no_network() else []
    done = subprocess.run([*cut_off, local.executable, "-m", "pip", "--isolated", "--disable-pip-version-check",
                           *map(str, words)], capture_output=True, text=True, check=False,
                          env=QUICKLY)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pip_installs_without_network(local, tmp_path):
    # Each way with one interpreter: compiling takes most of the time of this file.
    isolation = [] if local.facts["shared"] else ["--no-build-isolation"]
    pip(local, "install", *isolation, "--no-deps", "--target", tmp_path / "site", PACKAGE)
    done = local.run("-c", "import wick.tracemalloc as t; t.start(); print(t.__file__, t.get_traced_memory()[0] >= 0)",
                     env={"PYTHONPATH": str(tmp_path / "site")})
    assert done.stdout == f"{tmp_path}/site/wick/tracemalloc/__init__.py True\n", done.stderr
    left = subprocess.run(["git", "status", "--short", "--ignored", "python"], cwd=ROOT, capture_output=True,
                          text=True, check=False).stdout
    assert not [line for line in left.splitlines() if line.endswith((".so", "build/", ".egg-info/"))]


def build(local, what, folder):
    code = f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); import build_backend as b; print(b.{what}({str(folder)!r}))"
    done = subprocess.run([local.executable, "-B", "-c", code], capture_output=True, text=True, check=False,
                          env=QUICKLY)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.strip()


def test_a_wheel_names_its_interpreter_and_lists_its_files(local, tmp_path):
    wheel = build(local, "build_wheel", tmp_path)
    number = "cp" + "".join(map(str, local.version))
    assert re.fullmatch(rf"wick-[\d.]+-{number}-{number}-linux_\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    info = next(name for name in files if name.endswith("/RECORD")).rpartition("/")[0]
    assert f"Tag: {wheel.stem.split('-', 2)[2]}\n" in files[f"{info}/WHEEL"].decode()
    metadata = files[f"{info}/METADATA"].decode()
    for line in ("Metadata-Version: 2.1", "Name: wick", "Requires-Python: >=3.9", "License: BSD-2-Clause"):
        assert f"{line}\n" in metadata
    listed = {row[0]: row[1:] for row in csv.reader(io.StringIO(files[f"{info}/RECORD"].decode()))}
    assert set(listed) == set(files)
    for name, (digest, size) in listed.items():
        if not name.endswith("/RECORD"):
            made = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == (f"sha256={made}", len(files[name]))
    for name in ("wick/py.typed", "wick/tracemalloc/__init__.pyi", "wick/_start.py",
                 f"wick/_tracer{local.facts['suffix']}"):
        assert name in files
    again = tmp_path / "again"
    again.mkdir()
    assert build(local, "build_wheel", again).read_bytes() == wheel.read_bytes()


def test_a_source_archive_builds_elsewhere(local, tmp_path):
    archive = build(local, "build_sdist", tmp_path)
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path)
    folder = tmp_path / archive.name.removesuffix(".tar.gz")
    assert (folder / "PKG-INFO").read_text(encoding="utf-8").startswith("Metadata-Version: 2.1\nName: wick\n")
    done = subprocess.run([local.executable, "-B", folder / "build_backend.py", "tree", tmp_path / "tree"],
                          capture_output=True, text=True, check=False, env=QUICKLY)
    assert done.returncode == 0, done.stderr
    assert local.run("-c", "import wick.tracemalloc", env={"PYTHONPATH": str(tmp_path / "tree")}).returncode == 0


def test_an_extension_for_another_python_says_so(python, tmp_path):
    shutil.copytree(PACKAGE / "wick", tmp_path / "wick")
    (tmp_path / "wick/_tracer.cpython-38-x86_64-linux-gnu.so").touch()
    done = python.run("-c", "import wick.tracemalloc", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    message = done.stderr[done.stderr.rindex("ImportError: "):]
    assert "built for another Python (_tracer.cpython-38-x86_64-linux-gnu.so)" in message
    assert f"this is cpython {'.'.join(map(str, python.version))}" in message
    assert "-m pip install" in message


def test_a_missing_extension_says_so(python, tmp_path):
    shutil.copytree(PACKAGE / "wick", tmp_path / "wick")
    done = python.run("-c", "import wick.tracemalloc", env={"PYTHONPATH": str(tmp_path)})
    assert "wick.tracemalloc is not built for cpython" in done.stderr and "-m pip install" in done.stderr


def test_missing_headers_and_compilers_are_named(local, tmp_path):
    for env, message in (({"WICK_PYTHON_INCLUDE": "/nowhere"}, "there is no Python.h in /nowhere; install the headers"),
                         ({"CC": "false"}, "the extension cannot be compiled: false ")):
        done = subprocess.run([local.executable, "-B", PACKAGE / "build_backend.py", "tree", tmp_path],
                              capture_output=True, text=True, check=False,
                              env=interpreters.clean_environment(**env))
        assert done.returncode == 1 and message in done.stderr, done.stderr


# These need no interpreter but the one that runs the tests.

def test_the_versions_agree():
    package = re.search(r'__version__ = "([^"]+)"', (PACKAGE / "wick/__init__.py").read_text(encoding="utf-8")).group(1)
    meson = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text(encoding="utf-8")).group(1)
    assert package == meson


def test_pyproject_says_what_the_backend_says():
    if sys.version_info < (3, 11):
        pytest.skip("needs tomllib of Python 3.11")
    import tomllib
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))
    sys.path.insert(0, str(PACKAGE))
    import build_backend
    assert project["build-system"]["requires"] == []
    assert project["project"]["name"] == build_backend.NAME
    assert project["project"]["description"] == build_backend.SUMMARY
    assert project["project"]["requires-python"] == f">={'.'.join(map(str, build_backend.OLDEST))}"


def test_stubs_name_what_the_module_exports():
    stub = ast.parse((PACKAGE / "wick/tracemalloc/__init__.pyi").read_text(encoding="utf-8"))
    named = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    named |= {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    module = (PACKAGE / "wick/tracemalloc/__init__.py").read_text(encoding="utf-8")
    exported = set(ast.literal_eval(re.search(r"__all__ = (\[.*?\])", module, re.S).group(1)))
    assert named == exported


def test_stubs_have_the_signatures_of_the_functions(check):
    check(f"""
import ast, inspect
import wick.tracemalloc as t
stub = ast.parse(open({str(PACKAGE / 'wick/tracemalloc/__init__.pyi')!r}).read())
def names(node):
    return [one.arg for one in node.args.args + node.args.kwonlyargs]
for node in stub.body:
    if isinstance(node, ast.FunctionDef) and inspect.isfunction(getattr(t, node.name)):
        assert names(node) == list(inspect.signature(getattr(t, node.name)).parameters), node.name
    if isinstance(node, ast.ClassDef):
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("__"):
                thing = inspect.getattr_static(getattr(t, node.name), method.name)
                if inspect.isfunction(thing):
                    assert names(method) == list(inspect.signature(thing).parameters), (node.name, method.name)
""")


def test_everything_public_has_a_text_for_help(check):
    check("""
import inspect
import wick.tracemalloc as t
for name in t.__all__:
    thing = getattr(t, name)
    assert inspect.getdoc(thing) and len(inspect.getdoc(thing)) > 20, name
for name in ("dump", "load", "statistics", "compare_to", "filter_traces"):
    assert inspect.getdoc(getattr(t.Snapshot, name)), name
import pydoc
text = pydoc.plain(pydoc.render_doc(t))
for name in t.__all__:
    assert name in text
""")


def test_no_module_is_long():
    long = [path.name for path in (PACKAGE / "wick").rglob("*.py")
            if len(path.read_text(encoding="utf-8").splitlines()) >= 500]
    assert not long, long
    assert pathlib.Path(PACKAGE / "wick/py.typed").exists()
