# SPDX-License-Identifier: BSD-2-Clause
"""wick agent --offcpu and --heap: further types of the services that they name."""
import os
import signal
import time

import contract
import pprof
import pytest
from conftest import LONG, PATIENCE
from test_server import LIBRARY, run_query
from test_server import Server as WickServer

pytestmark = [pytest.mark.perf, pytest.mark.root]
STEADY = ("--breaker", "off", "--overhead", "off", "--max-memory", "off", "--window", "10s")
# It waits, and allocates 200 kB at a time.
CODE = "import time\nwhile True:\n    kept = [bytes(200000) for _ in range(50)]\n    time.sleep(0.01)"


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds * PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.2)


def stop(agent):
    agent.send_signal(signal.SIGTERM)
    _, err = agent.communicate(timeout=120 * PATIENCE)
    assert agent.returncode == 0, err
    return err


@pytest.fixture
def shop(wick, background):
    """Two processes, of which one belongs to the service that is named."""
    run = ["/usr/bin/python3", "-c", CODE]
    background(run, env={**os.environ, "WICK_SERVICE": "bank"})
    program = background(run, env={**os.environ, "WICK_SERVICE": "shop", "WICK_RELEASE": "v7"})
    done = wick.run("heap", "-p", program.pid, "-d", "1", "-q", "--sample", "512K", "-o", wick.new_path())
    if done.returncode != 0:
        pytest.skip("heaps of running processes cannot be recorded here")
    return program


def profile_of(wick, path, *options):
    out = wick.folder / "out.pb.gz"
    wick.ok("export", path, "--format", "pprof", "-o", out, *options)
    return pprof.Profile(out.read_bytes())


def test_waits_and_heaps_of_a_service_are_windows_of_their_own(wick, shop):
    spool = wick.folder / "spool"
    agent = wick.start("agent", "--spool", spool, *STEADY, "--offcpu", "shop", "--heap", "shop", "--label", "zone=b",
                       "--heap-sample", "64K")
    wait_for(lambda: agent.poll() is not None or list(spool.glob("*-wait*.wick")) and list(spool.glob("*-heap*.wick")))
    stop(agent)
    assert shop.poll() is None  # it goes on
    wants = {"wait": ["off-cpu"], "heap": ["alloc_space", "alloc_objects", "inuse_space", "inuse_objects"]}
    for kind, types in wants.items():
        path = sorted(spool.glob(f"*-{kind}*.wick"))[0]
        info = wick.json("info", path, "--format", "json")
        assert info["complete"] is True and info["session"]["agent.host"] == os.uname().nodename
        assert "rate.asked" not in info["session"]
        profile = profile_of(wick, path, "--label", "service=shop", "--label", "release=v7", "--label", "zone=b")
        assert {labels["pid"] for _, _, labels in profile.samples} == {shop.pid}
        assert set(types) <= {name for name, _ in profile.types}
        assert len(profile.samples) == len(profile_of(wick, path).samples)  # nobody else is in it
        column = [name for name, _ in profile.types].index(types[0])
        assert sum(values[column] for _, values, _ in profile.samples) > 1000000


@pytest.mark.skipif(not LONG, reason="waits for several windows of ten seconds: WICK_LONG=1")
@pytest.mark.skipif(LIBRARY is None, reason="libduckdb.so is not there: make fetches it")
def test_a_server_has_them_as_types(wick, shop, tmp_path):
    server = WickServer(tmp_path / "data")
    try:
        agent = wick.start("agent", "--server", server.url, "--spool", wick.folder / "spool", *STEADY, "--offcpu", "shop",
                           "--heap", "shop", "--heap-sample", "64K")

        def has(kind):
            return run_query(server, "shop", "--type", kind, "--format", "folded").stdout

        wait_for(lambda: agent.poll() is not None or has("off-cpu") and has("alloc_space") and has("cpu"))
        stop(agent)
        total = sum(int(line.rsplit(" ", 1)[1]) for line in has("alloc_space").splitlines())
        assert total > 1000000
        (host,) = server.json("/api/agents")["agents"]
        assert host["rate_asked"] == 99  # the other windows say nothing about it
    finally:
        assert server.stop() == 0


@pytest.mark.skipif(not LONG, reason="waits for several windows of ten seconds: WICK_LONG=1")
def test_nothing_is_recorded_before_the_service_runs(wick, background):
    spool = wick.folder / "spool"
    agent = wick.start("agent", "--spool", spool, *STEADY, "--offcpu", "late")
    wait_for(lambda: agent.poll() is not None or list(spool.glob("*.wick")))  # an ordinary window
    background(["/usr/bin/python3", "-c", CODE], env={**os.environ, "WICK_SERVICE": "late"})
    wait_for(lambda: agent.poll() is not None or list(spool.glob("*-wait*.wick")))
    assert "cannot be recorded" not in stop(agent)


@pytest.mark.parametrize("options, words", [
    (("--once", "1s", "-o", "x", "--offcpu", "shop"), "--once"),
    (("--spool", "s", *(f"--heap=s{i}" for i in range(9))), "more than 8"),
])
def test_wrong_options_are_refused(wick, options, words):
    done = wick.run("agent", *options)
    assert done.returncode == contract.USAGE
    assert words in done.stderr
