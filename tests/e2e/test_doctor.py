# SPDX-License-Identifier: BSD-2-Clause
"""wick doctor: tries the engines for real, where they are allowed and where they are not."""
import json
import resource
import shutil

import pytest

import contract
from conftest import workload

ENGINES = ("engine_ebpf", "engine_perf", "engine_signal", "engine_ptrace", "record", "waker",
           "heap", "heap_attach")


def examined(wick, **options):
    """The checks by name; also checks the formats that scripts rely on."""
    done = wick.run("doctor", "--format", "json", **options)
    report = json.loads(done.stdout)
    checks = {check["name"]: check for check in report["checks"]}
    assert len(checks) == len(report["checks"])
    for check in report["checks"]:
        assert set(check) == {"name", "status", "text", "remedy"}
        assert check["status"] in ("ok", "limited", "no") and check["text"]
    for name in ENGINES:
        assert checks[name]["remedy"] or checks[name]["status"] == "ok", checks[name]
    works = checks["record"]["status"] != "no"
    assert report["usable"] == works
    assert (report["engine"] is not None) == works
    assert not works or f"with engine {report['engine']}: " in checks["record"]["text"]
    assert done.returncode == (contract.DONE if works else contract.FAILED)
    return checks


def test_engines_that_need_no_rights_sample_a_program(wick):
    checks = examined(wick)
    assert "samples of a test program" in checks["engine_signal"]["text"]
    assert "blocks of a test program" in checks["heap"]["text"]
    for name in ("perf_event_paranoid", "memlock", "btf", "ptrace", "seccomp", "kernel_symbols",
                 "libc_symbols", "open_files", "shared_memory", "lockdown", "parts"):
        assert name in checks


@pytest.mark.root
def test_a_sandbox_that_kills_is_named_and_survived(wick):
    checks = examined(wick, prefix=workload("forbid", "kill", "sandbox"))
    refused = "blocks perf_event_open, bpf, ptrace, process_vm_readv"
    assert refused in checks["seccomp"]["text"]
    for name, call in (("engine_ebpf", "bpf"), ("engine_perf", "perf_event_open"),
                       ("engine_ptrace", "ptrace"), ("heap_attach", "bpf")):
        assert checks[name]["status"] == "no" and call in checks[name]["text"]
        assert "seccomp=unconfined" in checks[name]["remedy"] or "Unconfined" in checks[name]["remedy"]
    assert checks["engine_signal"]["status"] == "ok"
    assert checks["record"]["status"] == "no" and "killed" in checks["record"]["text"]


@pytest.mark.root
def test_where_perf_events_alone_are_refused_record_goes_on_as_doctor_says(wick):
    prefix = workload("forbid", 1, "perf")
    assert "with engine signal" in examined(wick, prefix=prefix)["record"]["text"]
    recording = wick.run("record", "-o", wick.new_path(), "--", *workload("short"), prefix=prefix)
    assert recording.returncode == contract.DONE
    assert "signal engine" in recording.stderr and "perf events are not allowed" in recording.stderr


@pytest.mark.root
def test_without_rights_it_says_which_are_missing(wick, as_nobody):
    checks = examined(wick, prefix=["prlimit", "--memlock=0:0", *as_nobody])
    assert checks["engine_ebpf"]["status"] == "no" and "setcap" in checks["engine_ebpf"]["remedy"]
    assert checks["engine_signal"]["status"] == "ok"
    assert checks["capabilities"]["text"].startswith("missing: cap_bpf")
    assert "ulimit -l" in checks["memlock"]["remedy"]


def test_where_files_are_too_few_no_engine_works_and_each_says_so(wick):
    limit = 8  # too few for one CPU, too
    checks = examined(wick, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                 (limit, limit)))
    assert all("nofile=65536" in checks[name]["remedy"] for name in ENGINES)
    assert f"is {limit}" in checks["open_files"]["text"]


def without(folder):
    """A prefix that runs a command with nothing mounted at a folder of the kernel."""
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    return ["unshare", "-m", "sh", "-c", f'mount -t tmpfs none {folder} && exec "$@"', "sh"]


@pytest.mark.root
def test_without_proc_nothing_else_is_said_to_be_missing(wick, tmp_path):
    done = wick.run("doctor", prefix=without("/proc"))
    lines = done.stdout.splitlines()
    assert done.returncode == contract.FAILED and "/proc is not mounted" in lines[0]
    assert lines[1].strip() == "mount -t proc proc /proc"
    assert [line.split()[0] for line in lines[2:] if line] == ["ok", "No"]
    (tmp_path / "x").write_text("main;parse 1\n", encoding="utf-8")
    done = wick.run("report", tmp_path / "x", prefix=without("/proc"))
    assert done.returncode == contract.DONE or "mount -t proc proc /proc" in done.stderr


@pytest.mark.root
def test_without_sys_the_kernel_is_not_blamed(wick):
    checks = examined(wick, prefix=without("/sys"))
    assert checks["btf"]["remedy"] == checks["mounts"]["remedy"] == "mount -t sysfs sysfs /sys"


def test_no_flag_is_recommended_that_leaves_stacks_cut(wick):
    report = wick.run("doctor").stdout
    assert "node --perf-basic-prof" in report
    assert "java -XX:+PreserveFramePointer" in report
    assert "-X perf" not in report
