# SPDX-License-Identifier: BSD-2-Clause
"""The Debian package: its content, and that it installs, runs and can be removed without a trace.

Short: packages the build folder, and installs it in a root copied from this machine's
packages. Long (make test-deb): builds it like "make deb", and installs it in a fetched root.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest

import clean_root

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("WICK_BUILD") or ROOT / "build")
LONG = bool(os.environ.get("WICK_LONG"))
LOOP = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
# Samples a shell that works, by examples/profile.c; it ends in any case.
USE_LIBRARY = """
(ulimit -t 10; exec sh -c 'while :; do :; done') &
/tmp/profile $! /tmp/library.svg; status=$?
kill $!
exit $status
"""
# What dpkg writes for itself, and the cache of the loader that it has renewed. Of other files below
# /var/lib/dpkg/info dpkg writes some anew, without the folders that are gone: they stay.
BOOKKEEPING = re.compile(r"/var/lib/dpkg/(status|status-old|lock|lock-frontend|triggers/.*)"
                         r"|/var/log/dpkg\.log|/etc/ld\.so\.cache|/var/cache/ldconfig(/aux-cache)?")
REWRITTEN = re.compile(r"/var/lib/dpkg/info/[^/]+\.list")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL, **options)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def build_package(checkout, out, **environment):
    for tool in ("dpkg-shlibdeps", "dpkg-deb"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed (scripts/install-deps deb)")
    how = [] if LONG else ["--build", BUILD]
    made = run(checkout / "scripts/build-deb", *how, out, env={**os.environ, **environment})
    return checkout / made.splitlines()[-1]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return build_package(ROOT, "build-deb" if LONG else tmp_path_factory.mktemp("a package"))


def copy_checkout(folder):
    """Copies the sources to another folder; returns the git directory that has their commit."""
    listed = run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in listed.split("\0")[:-1]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
    return run("git", "-C", ROOT, "rev-parse", "--absolute-git-dir").strip()


@pytest.fixture(scope="module")
def tree(package, tmp_path_factory):
    """The package, unpacked in an unusual folder."""
    folder = tmp_path_factory.mktemp("unpacked anywhere")
    run("dpkg-deb", "-x", package, folder)
    return folder


def field(package, name):
    return run("dpkg-deb", "-f", package, name).strip()


@pytest.fixture(scope="module")
def root(package, tmp_path_factory):
    names = [group[0] for group in clean_root.names_in(field(package, "Depends"))]
    make = clean_root.fetched if LONG and shutil.which("mmdebstrap") else clean_root.copied
    try:
        made = make(tmp_path_factory.mktemp("root"), names)
        made.run("ldconfig")
    except clean_root.Unavailable as reason:
        pytest.skip(str(reason))
    yield made
    shutil.rmtree(made.folder)


def test_the_package_says_what_it_is_and_what_it_needs(package):
    assert field(package, "Package") == "wick"
    assert field(package, "Architecture") == run("dpkg", "--print-architecture").strip()
    project = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text(encoding="utf-8"))
    assert field(package, "Version") == project[1]
    needed = [group[0] for group in clean_root.names_in(field(package, "Depends"))]
    assert {"libc6", "libzstd1", "libjansson4"} <= set(needed), needed


def test_the_package_holds_all_that_make_install_brings(tree):
    held = {re.sub(r"^usr/lib/[^/]*-linux-[^/]*/", "usr/lib/", str(path.relative_to(tree)))
            for path in tree.rglob("*")}
    commands = run(tree / "usr/bin/wick", "help", "--names").split()
    pages = {f"usr/share/man/man1/wick-{name}.1.gz" for name in commands}
    headers = {f"usr/include/wick/{path.name}" for path in (ROOT / "include/wick").glob("*.h")}
    examples = {f"usr/share/doc/wick/examples/{path.relative_to(ROOT / 'examples')}"
                for path in (ROOT / "examples").rglob("*.[cjp]*") if "__pycache__" not in str(path)}
    others = {"usr/bin/wick", "usr/bin/sampler", "usr/share/man/man1/wick.1.gz", "usr/share/man/man1/sampler.1.gz",
              "usr/share/man/man3/wick-events.3.gz", "usr/share/bash-completion/completions/wick",
              "usr/share/zsh/vendor-completions/_wick", "usr/share/fish/vendor_completions.d/wick.fish",
              "usr/lib/libwick.so", "usr/lib/libwick.so.0", "usr/lib/wick/libwick-preload.so",
              "usr/lib/pkgconfig/libwick.pc", "usr/lib/systemd/system/wick-agent.service",
              "usr/share/wick/monitoring/wick-alerts.yml", "usr/share/wick/monitoring/wick-dashboard.json",
              "usr/share/doc/wick/copyright", "usr/share/doc/wick/changelog.gz",
              "usr/share/doc/wick/README.md", "usr/share/doc/wick/docs/reference/libwick.md"}
    if "python3-dev" in clean_root.Installed().files:
        others |= {"usr/lib/python3/dist-packages/wick/tracemalloc/__init__.py"}
        assert any(re.fullmatch(r"usr/lib/python3/dist-packages/wick/_tracer\..*\.so", name) for name in held)
        # pytest finds its plugin by this file.
        assert any(re.fullmatch(r"usr/lib/python3/dist-packages/wick-.*\.dist-info/entry_points\.txt", name)
                   for name in held)
    wanted = pages | headers | examples | others
    assert len(pages) > 20 and len(headers) > 5 and len(examples) > 8
    assert wanted <= held, wanted - held


def test_everything_in_the_package_belongs_to_root_and_only_programs_can_be_run(package):
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as reader, \
            tarfile.open(fileobj=reader.stdout, mode="r|") as archive:
        for member in archive:
            assert (member.uname, member.gname) == ("root", "root"), member.name
            program = member.isdir() or member.name.endswith(("/bin/wick", "/wick/fetch-duckdb"))
            assert member.issym() or member.mode == (0o755 if program else 0o644), member.name


def test_the_same_sources_give_the_same_bytes(package, tmp_path):
    if not LONG:
        assert build_package(ROOT, tmp_path).read_bytes() == package.read_bytes()
        return
    git = copy_checkout(tmp_path / "elsewhere")
    assert build_package(tmp_path / "elsewhere", "build-deb", GIT_DIR=git).read_bytes() == package.read_bytes()


def test_a_package_that_is_unpacked_anywhere_works(tree, tmp_path):
    output = tmp_path / "x.wick"
    run(tree / "usr/bin/wick", "heap", "-o", output, "--", "ls", "/")
    assert "allocat" in run(tree / "usr/bin/wick", "report", "--by", "site", output)


def compile_example(tree, folder):
    """Builds examples/profile.c of the package with its pkg-config file."""
    (pc,) = tree.glob("usr/lib/**/pkgconfig")
    flags = run("pkg-config", "--cflags", "--libs", "libwick",
                env={**os.environ, "PKG_CONFIG_LIBDIR": str(pc), "PKG_CONFIG_SYSROOT_DIR": "/sysroot"})
    flags = [word.replace("/sysroot", str(tree)) for word in flags.split()]
    run("cc", tree / "usr/share/doc/wick/examples/profile.c", "-o", folder / "profile", *flags)


def test_it_installs_in_a_clean_root_runs_and_goes_without_a_trace(package, tree, root):
    def inside(*command):
        done = root.run(*command)
        assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
        return done.stdout

    shutil.copy(package, root.folder / "tmp/wick.deb")
    compile_example(tree, root.folder / "tmp")
    before = root.listing()
    inside("dpkg", "-i", "/tmp/wick.deb")
    assert inside("wick", "--version").startswith("wick " + field(package, "Version"))
    assert "ok " in inside("wick", "doctor")
    inside("wick", "record", "-o", "/tmp/cpu.wick", "--", "sh", "-c", LOOP)
    assert "dash" in inside("wick", "report", "--by", "module", "/tmp/cpu.wick")
    inside("wick", "flame", "/tmp/cpu.wick", "-o", "/tmp/flame.svg")
    inside("wick", "heap", "-o", "/tmp/heap.wick", "--", "ls", "/")
    assert "</svg>" in (root.folder / "tmp/flame.svg").read_text(encoding="utf-8")
    assert "dash" in inside("sh", "-c", USE_LIBRARY)
    assert "</svg>" in (root.folder / "tmp/library.svg").read_text(encoding="utf-8")
    assert inside("dpkg", "--verify", "wick") == ""
    inside("dpkg", "--purge", "wick")
    after = root.listing()
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    left = {path for path in changed if not path.startswith("/tmp/") and not BOOKKEEPING.fullmatch(path)
            and not (REWRITTEN.fullmatch(path) and path in before and path in after)}
    assert not left, left
    status = (root.folder / "var/lib/dpkg/status").read_text(encoding="utf-8")
    assert "Package: wick\n" not in status


@pytest.mark.skipif(not LONG, reason="long: runs in make test-deb")
@pytest.mark.skipif(not shutil.which("lintian"), reason="lintian is not installed (scripts/install-deps deb-test)")
def test_lintian_finds_no_fault(package):
    out = run("lintian", "--allow-root", "--fail-on", "error,warning", package)
    assert out == "", out
