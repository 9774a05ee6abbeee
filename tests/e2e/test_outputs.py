# SPDX-License-Identifier: BSD-2-Clause
"""Files that wick writes: only for their owner, without arguments, and never over somebody else's file."""
import fcntl
import os
import pathlib
import re
import signal
import stat
import subprocess

import pytest
from conftest import REFUSAL, ROOT, WICK, state_of, wait_for, workload

NOBODY = 65534
SECRET = "--password=hunter2"


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def recording(wick):
    if REFUSAL:
        pytest.skip(f"perf events are refused here: {REFUSAL}")
    return wick.record([*workload("split", 100), SECRET], "-F", 499)


@pytest.fixture
def sticky(tmp_path):
    folder = tmp_path / "sticky"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def outputs_of(wick, recording, folder):
    """A file of every command that writes one."""
    source = recording.path
    commands = {
        "record.wick": ("record", "-o", "FILE", "--", "true"),
        "last.wick": ("record", "--last", "10", "-o", "FILE", "--", "true"),
        "flame.svg": ("flame", source, "-o", "FILE"),
        "flame.html": ("flame", source, "-o", "FILE"),
        "beside.svg": ("record", "-o", folder / "beside.wick", "--flame", "FILE", "--", "true"),
        "diff.svg": ("diff", source, source, "-o", "FILE"),
        "export.json": ("export", source, "--format", "speedscope", "-o", "FILE"),
        "lines.json": ("export", source, "--format", "samples", "-o", "FILE"),
        "merged.wick": ("merge", source, source, "-o", "FILE"),
        "imported.wick": ("import", folder / "in.folded", "-o", "FILE"),
        "heap.wick": ("heap", "-o", "FILE", "--", "sh", "-c", "echo"),
        "heap.html": ("heap-report", folder / "heap.wick", "-o", "FILE"),
    }
    (folder / "in.folded").write_text("app;main;f 3\n")
    for name, command in commands.items():
        wick.ok(*[folder / name if word == "FILE" else word for word in command])
    return {name: folder / name for name in commands}


def test_what_any_command_writes_is_for_its_owner_alone(wick, recording, tmp_path):
    before = os.umask(0)
    try:
        files = outputs_of(wick, recording, tmp_path)
    finally:
        os.umask(before)
    assert {name: oct(mode_of(path)) for name, path in files.items()} == \
        {name: "0o600" for name in files}


def test_no_source_file_creates_outputs_of_its_own():
    """Results go through base/file/outfile; these few files create something else."""
    allowed = {
        "src/base/file/outfile.c",  # the one place
        "src/base/file/cache_dir.c",  # the caches, 0600 in a folder 0700
        "src/engine/signal/session.c",  # what a recorded program shares with wick, the same
        "src/preload/session_file.c",
        "src/agent/spool.c",  # windows on their way, 0600 in a folder 0700
        "src/server/audit.c",  # grows for ever, 0600
    }
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.c")
             if re.search(r'O_CREAT\b|\bcreat\(|fopen\([^;]*"[wa]', path.read_text(encoding="utf-8"))}
    assert found <= allowed


def texts_of(wick, recording, folder):
    """Everything that can be extracted from a recording."""
    looks = [("info", recording.path), ("info", recording.path, "--format", "json"),
             ("report", recording.path), ("report", recording.path, "--format", "json"),
             ("timeline", recording.path)]
    looks += [("export", recording.path, "--format", name, "-o", "-")
              for name in ("folded", "speedscope", "firefox", "json", "samples")]
    for look in looks:
        yield look, wick.ok(*look).stdout
    for name in ("x.svg", "x.html"):
        wick.ok("flame", recording.path, "-o", folder / name)
        yield name, (folder / name).read_text(encoding="utf-8")


def test_arguments_stay_out_of_a_recording_and_of_all_that_comes_of_it(wick, recording, tmp_path):
    assert recording.info()["session"]["command"] == workload("split")[0]
    for look, text in texts_of(wick, recording, tmp_path):
        assert "hunter2" not in text, look


def test_arguments_are_kept_when_asked_for(wick):
    if REFUSAL:
        pytest.skip(f"perf events are refused here: {REFUSAL}")
    command = [*workload("split", 50), SECRET]
    asked = wick.record(command, "--args")
    assert asked.info()["session"]["command"] == " ".join(command)
    path = wick.new_path()
    wick.ok("heap", "--args", "-o", path, "--", *command)
    assert SECRET in wick.ok("info", path).stdout
    wick.ok("heap", "-o", path, "--", *command)
    assert "hunter2" not in wick.ok("info", path).stdout


def test_nothing_that_a_recorder_shares_holds_arguments(wick, background):
    """Neither its session files nor its answers to wick status."""
    recorder = wick.start("heap", "-o", "x.wick", "--", "sh", "-c", "sleep 1000 & wait", SECRET)
    wait_for(lambda: "recording" in wick.run("status").stdout or wick.run("status").stdout.strip(),
             what="a recorder that answers")
    told = wick.run("status", "--format", "json").stdout + wick.run("status").stdout
    assert "hunter2" not in told
    shared = [path for parent in ("/dev/shm", "/tmp") for path in pathlib.Path(parent).glob("wick-*/*")
              if path.is_file()]
    for path in shared:
        try:
            assert SECRET.encode() not in path.read_bytes(), path
        except OSError:
            continue  # of another recorder, which has ended
    os.killpg(recorder.pid, signal.SIGTERM)
    recorder.communicate(timeout=30)


@pytest.mark.parametrize("command", (("record", "-o", "FILE", "--", "true"),
                                     ("record", "--last", "10", "-o", "FILE", "--", "true"),
                                     ("flame", "IN", "-o", "FILE"),
                                     ("export", "IN", "--format", "folded", "-o", "FILE")))
@pytest.mark.parametrize("kind", ("link", "theirs", "pipe"))
def test_what_others_may_have_put_into_a_sticky_folder_is_refused(wick, sticky, tmp_path, kind,
                                                                  command):
    folded = tmp_path / "in.folded"
    folded.write_text("app;main;f 3\n")
    path = sticky / "out.svg"
    precious = tmp_path / "precious"
    precious.write_text("precious")
    if kind == "link":
        path.symlink_to(precious)
    elif kind == "pipe":
        os.mkfifo(path)
    elif os.geteuid() != 0:
        pytest.skip("needs root to have a file of another user")
    else:
        path.write_text("theirs")
        os.chown(path, NOBODY, NOBODY)
    words = {"FILE": path, "IN": folded}
    done = wick.run(*[words.get(word, word) for word in command])
    assert done.returncode == 1, done.stderr
    assert f"cannot write {path}" in done.stderr and "-o FILE" in done.stderr
    assert precious.read_text() == "precious"
    if kind == "theirs":
        assert path.read_text() == "theirs" and path.stat().st_uid == NOBODY


@pytest.mark.root
@pytest.mark.parametrize("command", (("record", "-o", "FILE", "--", "true"), ("flame", "IN", "-o", "FILE")))
def test_a_link_of_another_user_on_the_way_is_not_followed(wick, sticky, tmp_path, command):
    """The kernel refuses it as well where fs.protected_symlinks is set."""
    (tmp_path / "in.folded").write_text("app;main;f 3\n")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    link = sticky / "link"
    link.symlink_to(theirs)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    words = {"FILE": link / "out.svg", "IN": tmp_path / "in.folded"}
    done = wick.run(*[words.get(word, word) for word in command])
    assert done.returncode == 1 and f"cannot write {link}/out.svg" in done.stderr
    assert not list(theirs.iterdir())
    os.chown(link, 0, 0, follow_symlinks=False)
    again = tmp_path / "again"
    again.symlink_to("sticky/link/../theirs" if link.parent.parent == tmp_path else link)
    words["FILE"] = again / "out.svg"
    wick.ok(*[words.get(word, word) for word in command])
    assert [path.name for path in theirs.iterdir()] == ["out.svg"]


@pytest.mark.parametrize("size", (1, 200, 250, 255))
def test_names_may_be_as_long_as_the_file_system_lets_them(wick, tmp_path, size):
    (tmp_path / "in.folded").write_text("app;main;f 3\n")
    for name in (size * "n", (size - 4) * "n" + ".svg"):
        if name:
            wick.ok("flame", tmp_path / "in.folded", "-o", tmp_path / name)
            assert (tmp_path / name).stat().st_size > 1000


def test_a_new_file_in_a_sticky_folder_is_written(wick, sticky, tmp_path):
    (tmp_path / "in.folded").write_text("app;main;f 3\n")
    for _ in range(2):  # the second time it is our own
        wick.ok("flame", tmp_path / "in.folded", "-o", sticky / "x.svg")
    assert mode_of(sticky / "x.svg") == 0o600


@pytest.fixture
def device_names():
    """Restores /dev/stdout if wick, run as root, has replaced it with a file."""
    before = os.readlink("/dev/stdout")
    yield
    if not os.path.islink("/dev/stdout"):
        os.unlink("/dev/stdout")
        os.symlink(before, "/dev/stdout")
        pytest.fail("/dev/stdout was replaced")


@pytest.mark.parametrize("name", ("/dev/stdout", "/dev/fd/1", "-"))
@pytest.mark.parametrize("piped", (True, False))
def test_standard_output_has_several_names(device_names, tmp_path, name, piped):
    (tmp_path / "in.folded").write_text("app;main;f 3\n")
    command = [str(WICK), "export", str(tmp_path / "in.folded"), "--format", "folded", "-o", name]
    if piped:
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    else:
        with open(tmp_path / "out", "a", encoding="utf-8") as out:
            out.write("before\n")
            out.flush()
            subprocess.run(command, stdout=out, check=True)
        text = (tmp_path / "out").read_text(encoding="utf-8")
        assert text.startswith("before\n")
    assert text.endswith("main;f 3\n")


@pytest.mark.parametrize("name", ("/dev/stdout", "/dev/fd/1", "-"))
def test_a_recording_goes_to_standard_output_by_every_name(tmp_path, name):
    with open(tmp_path / "out", "ab") as out:
        out.write(b"before")
        out.flush()
        done = subprocess.run([str(WICK), "record", "-q", "-o", name, "--", "echo", "printed"], stdout=out,
                              stderr=subprocess.PIPE, text=True, check=True)
    written = (tmp_path / "out").read_bytes()
    assert written.startswith(b"before") and b"printed\n" not in written
    assert "printed" in done.stderr  # else it would stand in the middle of the recording
    (tmp_path / "copy.wick").write_bytes(written.removeprefix(b"before"))
    subprocess.run([str(WICK), "info", "--check", str(tmp_path / "copy.wick")], check=True, capture_output=True)


@pytest.mark.root
@pytest.mark.parametrize("kind", ["full", "no folder", "the recording"])
def test_a_flame_graph_that_cannot_be_written_names_its_own_option(wick, tmp_path, kind):
    """-o FILE names the recording, which was written."""
    output = tmp_path / "out.wick"
    (tmp_path / "same.svg").symlink_to(output)
    flame = {"full": pathlib.Path("/dev/full"), "no folder": tmp_path / "no" / "flame.svg",
             "the recording": tmp_path / "same.svg"}[kind]
    done = wick.run("record", "-o", output, "--flame", flame, "--", "true")
    assert done.returncode in (1, 2) and output.stat().st_size > 0
    remedy = done.stderr[done.stderr.index(str(flame)):].splitlines()[1]
    assert "--flame FILE" in remedy and "-o FILE" not in remedy


def test_a_folder_that_another_group_can_write_to_is_shared(wick, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    folder = tmp_path / "group"
    folder.mkdir()
    os.chown(folder, 0, NOBODY)
    folder.chmod(0o775)
    (folder / "x.wick").symlink_to(precious)
    done = wick.run("record", "-o", folder / "x.wick", "--", "true")
    assert done.returncode == 1 and "it is a link in a directory that others can write to" in done.stderr
    assert precious.read_text() == "precious"
    os.chown(folder, 0, 0)
    wick.ok("record", "-o", folder / "x.wick", "--", "true")


def test_devices_and_pipes_take_a_recording(wick, tmp_path):
    with open("/dev/null", "wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)  # as a recorder claims the file that it writes
        wick.ok("record", "-o", "/dev/null", "--", "true")
    reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    done = wick.run("record", "-o", f"/dev/fd/{reader.stdin.fileno()}", "--", "true",
                    pass_fds=(reader.stdin.fileno(),))
    out, _ = reader.communicate(timeout=30)
    assert done.returncode == 0, done.stderr
    (tmp_path / "copy.wick").write_bytes(out)
    wick.ok("info", tmp_path / "copy.wick")


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_waiting_for_the_reader_of_a_pipe_can_be_ended(wick, tmp_path, number):
    os.mkfifo(tmp_path / "pipe")
    process = wick.start("record", "-o", "pipe", "--", "touch", "ran")

    def waits():
        stack = pathlib.Path(f"/proc/{process.pid}/wchan").read_text(encoding="ascii")
        return "fifo" in stack or "wait_for_partner" in stack

    if os.geteuid() == 0:
        wait_for(waits, what="a recorder that waits for a reader")
    else:
        wait_for(lambda: state_of(process.pid) == "S", what="a recorder that waits")
    process.send_signal(number)
    assert process.wait(timeout=30) == -number
    assert not (tmp_path / "ran").exists()


@pytest.mark.root
def test_under_sudo_results_belong_to_the_caller(wick, tmp_path):
    (tmp_path / "in.folded").write_text("app;main;f 3\n")
    env = {**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
    wick.ok("flame", "in.folded", "-o", "x.svg", env=env)
    wick.ok("record", "-o", "x.wick", "--", "true", env=env)
    for name in ("x.svg", "x.wick"):
        status = (tmp_path / name).stat()
        assert (status.st_uid, status.st_gid, mode_of(tmp_path / name)) == (NOBODY, NOBODY, 0o600)


def test_a_process_has_the_title_that_it_gives_itself_without_arguments(wick, background):
    target = background([*workload("titled", 20000), 40 * "x"])
    assert target.stdout.readline() == "ready\n"
    recording = wick.attach("-p", target.pid, "-d", 0.5)
    assert "titled: worker process/" in wick.ok("timeline", "--by", "process", recording.path).stdout
    assert "secret" not in wick.ok("export", recording.path, "--format", "json").stdout
