# SPDX-License-Identifier: BSD-2-Clause
"""Which source files get into pages and annotations, given that binaries and imported profiles name them."""
import base64
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess

import pprof
import pytest
from conftest import PATIENCE, REFUSAL, wait_for

NOBODY = 65534
CC = shutil.which("cc")
SECRET = "s3cret-of-root"
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
BURN = """\
volatile unsigned long burnt;
__attribute__((noinline)) void burn(void)
{
	for (int i = 0; i < 1000000; i++)
		burnt += (unsigned long)i;
}
int main(int argc, char **argv)
{
	for (int i = 0; argc < 2 || i < 300; i++)
		burn();
	return argv[0] == 0;
}
"""

pytestmark = [
    pytest.mark.skipif(bool(REFUSAL), reason=f"perf events are refused here: {REFUSAL}"),
    pytest.mark.skipif(not CC, reason="no compiler is installed"),
]


@pytest.fixture
def open_folder(tmp_path):
    """tmp_path, which everybody can reach."""
    for folder in (tmp_path, *tmp_path.parents):
        if str(folder).startswith("/tmp/") and folder.stat().st_uid == os.geteuid():
            folder.chmod(0o755)
    return tmp_path


@pytest.fixture
def stranger(open_folder):
    """A folder of another user, who owns what is created there."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root and setpriv to be several users")
    folder = open_folder / "home" / "stranger"
    folder.mkdir(parents=True)
    os.chown(folder, NOBODY, NOBODY)
    if subprocess.run([*AS_NOBODY, "test", "-x", str(folder)], check=False).returncode != 0:
        pytest.skip(f"user nobody cannot reach {folder}")
    return folder


def naming(path):
    """A program whose debug information says that burn() is in that file."""
    return BURN.replace("__attribute__", f'#line 1 "{path}"\n__attribute__', 1)


def short(path):
    """In the form that a page uses."""
    return f"{path.parent.name}/{path.name}"


def build(folder, text=BURN, name="app", owner=None):
    """Compiled in the folder, which is its compilation directory."""
    (folder / f"{name}.c").write_text(text)
    subprocess.run([CC, "-g", "-O1", f"{name}.c", "-o", name], cwd=folder, check=True)
    for path in (folder / f"{name}.c", folder / name) if owner is not None else ():
        os.chown(path, owner, owner)
    return folder / name


def secret_of_root(folder):
    path = folder / "root-only" / "key.txt"
    path.parent.mkdir()
    path.write_text(f"{SECRET}\n" * 12)
    path.chmod(0o600)
    return path


def start_as_nobody(background, program):
    process = background([*AS_NOBODY, str(program)])
    comm = pathlib.Path(f"/proc/{process.pid}/comm")
    wait_for(lambda: comm.read_text(encoding="ascii").strip() == program.name, what="its exec")
    return process


def page_text(path):
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", path.read_text(), re.S)
    return gzip.decompress(base64.b64decode(scripts[1])).decode("latin-1")


def record_page(wick, process, *options):
    """The text of the page that wick record writes for a process, and the messages of wick."""
    done = wick.ok("record", "-p", process.pid, "-d", f"{0.6 * PATIENCE}s", "-F", 499, "-o", "r.wick",
                   "--flame", "r.html", *options)
    text = page_text(wick.folder / "r.html")
    assert "burn" in text  # it has been sampled
    return text, done.stderr


def flame_page(wick, path, *options, **kwargs):
    done = wick.ok("flame", path, "-o", "r.html", *options, **kwargs)
    return page_text(wick.folder / "r.html"), done.stderr


@pytest.mark.parametrize("asked", ((), ("--source",)))
@pytest.mark.parametrize("deleted", (False, True))
def test_the_program_of_a_stranger_gets_no_file_of_root_into_a_page(wick, background, stranger, asked,
                                                                    deleted):
    secret = secret_of_root(stranger.parent)
    program = build(stranger, naming(secret), owner=NOBODY)
    process = start_as_nobody(background, program)
    if deleted:  # then wick keeps a copy, which is root's
        program.unlink()
    text, said = record_page(wick, process, *asked)
    assert short(secret) in text, "the lines of that file have no costs: nothing was tested"
    assert SECRET not in text
    assert "wick: source left out: " in said
    assert (wick.folder / "r.html").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("kind", ("link", "hard link", "folder"))
def test_no_link_of_a_stranger_leads_to_a_file_of_root(wick, background, stranger, kind):
    secret = secret_of_root(stranger.parent)
    secret.parent.chmod(0o755)
    named = stranger / "src" / secret.name
    if kind == "folder":
        named.parent.symlink_to(secret.parent)
    else:
        named.parent.mkdir()
        (named.symlink_to if kind == "link" else named.hardlink_to)(secret)
    program = build(stranger, naming(named), owner=NOBODY)
    process = start_as_nobody(background, program)
    text, said = record_page(wick, process, "--source")
    assert short(named) in text and SECRET not in text
    assert "source left out: " in said
    for options in ((), ("--source-path", named.parent)):
        assert SECRET not in wick.ok("annotate", *options, "r.wick", "burn").stdout


def test_source_of_a_stranger_is_shown_when_asked_for(wick, background, stranger):
    process = start_as_nobody(background, build(stranger, owner=NOBODY))
    line = "burnt += (unsigned long)i;"
    text, said = record_page(wick, process)
    assert line not in text
    assert "--source" in said and "do not all belong to you or root" in said
    text, said = record_page(wick, process, "--source")
    assert line in text and "source left out" not in said
    assert line in wick.ok("annotate", "r.wick", "burn").stdout
    (wick.folder / "wick.json").write_text('{"view": {"source": true}}')  # of whoever owns the folder
    assert line not in flame_page(wick, "r.wick")[0]


def test_annotations_of_a_strangers_program_have_no_file_of_root(wick, background, stranger):
    secret = secret_of_root(stranger.parent)
    program = build(stranger, naming(secret), owner=NOBODY)
    record_page(wick, start_as_nobody(background, program))
    done = wick.ok("annotate", "r.wick", "burn")
    assert str(secret) in done.stdout and SECRET not in done.stdout
    assert "the owner of the program cannot read" in done.stdout


def test_source_that_is_all_ones_own_needs_no_asking(wick, open_folder):
    recording = wick.record([build(open_folder), "x"], "-F", 499)
    assert recording.info()["session"]["user_uid"] == str(os.geteuid())
    text, said = flame_page(wick, recording.path)
    assert "burnt += (unsigned long)i;" in text and "source left out" not in said
    (open_folder / "app.c").chmod(0o600)
    assert "burnt += (unsigned long)i;" in flame_page(wick, recording.path)[0]
    assert "burnt +=" not in flame_page(wick, recording.path, "--no-source")[0]


@pytest.mark.root
@pytest.mark.parametrize("whose", ("recording", "program", "source", "everybody's program"))
def test_what_is_not_ones_own_has_to_be_asked_for(wick, open_folder, whose):
    program = build(open_folder)
    recording = wick.record([program, "x"], "-F", 499)
    if whose == "everybody's program":
        program.chmod(0o777)
    else:
        os.chown({"recording": recording.path, "program": program, "source": open_folder / "app.c"}[whose],
                 NOBODY, NOBODY)
    text, said = flame_page(wick, recording.path)
    assert "burnt +=" not in text and "do not all belong to you or root" in said
    text, said = flame_page(wick, recording.path, "--source")
    assert "burnt +=" in text and "source left out" not in said


@pytest.mark.root
def test_the_debug_file_of_a_stranger_has_to_be_asked_for(wick, open_folder):
    if not shutil.which("objcopy"):
        pytest.skip("objcopy is not installed")
    program = build(open_folder)
    for command in (["objcopy", "--only-keep-debug", "app", "app.debug"], ["strip", "-g", "app"],
                    ["objcopy", "--add-gnu-debuglink=app.debug", "app"]):
        subprocess.run(command, cwd=open_folder, check=True)
    recording = wick.record([program, "x"], "-F", 499)
    assert "burnt +=" in flame_page(wick, recording.path)[0]
    os.chown(open_folder / "app.debug", NOBODY, NOBODY)
    text, said = flame_page(wick, recording.path)
    assert "burnt +=" not in text and "do not all belong to you or root" in said


@pytest.mark.root
def test_under_sudo_nothing_is_read_that_the_caller_may_not_read(wick, open_folder):
    recording = wick.record([build(open_folder), "x"], "-F", 499)
    env = {**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
    assert "burnt +=" in flame_page(wick, recording.path, "--source", env=env)[0]
    (open_folder / "app.c").chmod(0o600)
    for asked in ((), ("--source",), ("--source-path", open_folder)):
        text, said = flame_page(wick, recording.path, *asked, env=env)
        assert "burnt +=" not in text and "cannot read" in said
    assert "burnt +=" in flame_page(wick, recording.path, "--source")[0]


def test_a_file_far_from_the_compilation_directory_needs_its_folder_named(wick, open_folder):
    outside = "/etc/hostname" if os.path.exists("/etc/hostname") else "/etc/passwd"
    first = open(outside, encoding="utf-8").readline().strip()
    recording = wick.record([build(open_folder, naming(outside)), "x"], "-F", 499)
    lines = json.loads(wick.ok("annotate", "--format", "json", recording.path, "burn").stdout)
    assert lines["files"][0]["path"] == outside and lines["files"][0]["source"] is None
    assert any("--source-path" in note for note in lines["notes"])
    text, said = flame_page(wick, recording.path, "--source")
    assert "outside its compilation directory" in said
    assert f"\n{first}\n" not in text


@pytest.mark.parametrize("kind", ("pipe", "device", "link to a device"))
def test_what_is_no_file_is_not_read(wick, open_folder, kind):
    named = open_folder / "src" / "x.c"
    named.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(named)
    elif kind == "link to a device":
        named.symlink_to("/dev/zero")
    elif os.geteuid() != 0:
        pytest.skip("needs root to make a device")
    else:
        os.mknod(named, 0o20644, os.makedev(1, 5))
    recording = wick.record([build(open_folder, naming(named)), "x"], "-F", 499)
    (file,) = json.loads(wick.ok("annotate", "--format", "json", recording.path, "burn").stdout)["files"]
    assert file["path"] == str(named) and file["source"] is None
    flame_page(wick, recording.path, "--source")
    shown = json.loads(wick.ok("annotate", "--source-path", named.parent, "--format", "json",
                               recording.path, "burn").stdout)
    assert shown["files"][0]["source"] is None


def hostile_profile(folder, *paths):
    """A speedscope profile that names files."""
    frames = [{"name": f"f{i}", "file": str(path), "line": 1} for i, path in enumerate(paths)]
    path = folder / "hostile.json"
    path.write_text(json.dumps({
        "$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": frames},
        "profiles": [{"type": "sampled", "name": "t", "unit": "milliseconds", "startValue": 0,
                      "endValue": len(frames), "samples": [[i] for i in range(len(frames))],
                      "weights": [1] * len(frames)}]}))
    return path


def hostile_pprof(wick, folder, path):
    """The same as pprof."""
    wick.ok("export", "--format", "pprof", hostile_profile(folder, path), "-o", folder / "x.pb.gz")
    assert str(path) in pprof.Profile((folder / "x.pb.gz").read_bytes()).strings
    return folder / "x.pb.gz"


@pytest.mark.parametrize("form", ("speedscope", "pprof", "imported"))
def test_an_imported_profile_gets_no_file_into_a_page(wick, tmp_path, form):
    (tmp_path / "keys").mkdir()
    secret = tmp_path / "keys/key.txt"
    secret.write_text(SECRET)
    path = hostile_profile(tmp_path, secret) if form == "speedscope" else \
        hostile_pprof(wick, tmp_path, secret)
    if form == "imported":
        wick.ok("import", path, "-o", tmp_path / "x.wick")
        path = tmp_path / "x.wick"
    for asked in ((), ("--source",)):
        text, said = flame_page(wick, path, *asked)
        assert short(secret) in text and SECRET not in text
        if asked:
            assert "--source-path DIR" in said
    assert SECRET not in wick.ok("annotate", path, "f0").stdout
    assert SECRET in flame_page(wick, path, "--source-path", tmp_path / "keys")[0]
    assert SECRET in wick.ok("annotate", "--source-path", tmp_path / "keys", path, "f0").stdout


@pytest.mark.parametrize("way_out", ("../keys/key.txt", "/a/../../keys/key.txt", "/.hidden/key.txt",
                                     "/link/key.txt"))
def test_no_name_leads_out_of_a_folder_that_was_named(wick, tmp_path, way_out):
    for name in ("keys", "src/.hidden", "src/a"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("keys/key.txt", "src/.hidden/key.txt"):
        (tmp_path / name).write_text(SECRET)
    (tmp_path / "src/link").symlink_to(tmp_path / "keys")
    path = hostile_profile(tmp_path, way_out, "/x" + way_out)
    for options in (("--source-path", tmp_path / "src"), ("--path-map", f"/x={tmp_path / 'src'}")):
        assert SECRET not in flame_page(wick, path, "--source", *options)[0]
        for function in ("f0", "f1"):
            assert SECRET not in wick.ok("annotate", *options, path, function).stdout


def test_who_looks_at_the_source_has_the_rights_back(wick, background, stranger):
    """The page is written after sources were read with the permissions of others."""
    process = start_as_nobody(background, build(stranger, owner=NOBODY))
    closed = stranger.parent / "closed"
    closed.mkdir(mode=0o700)
    record_page(wick, process, "--source")
    wick.ok("flame", "r.wick", "--source", "-o", closed / "x.html")
    assert (closed / "x.html").stat().st_uid == 0
