# SPDX-License-Identifier: BSD-2-Clause
"""The example programs that use libwick do what they say."""
import subprocess

from conftest import BUILD, workload

PROFILE = BUILD / "examples/example_profile"


def test_the_example_profiles_a_process_and_draws_it(tmp_path):
    graph = tmp_path / "a flame.svg"
    with subprocess.Popen(workload("spin", 20000), stdout=subprocess.DEVNULL) as target:
        try:
            done = subprocess.run([str(PROFILE), str(target.pid), str(graph)],
                                  capture_output=True, text=True, check=False)
        finally:
            target.kill()
    assert done.returncode == 0, done.stderr
    assert "burn_until" in done.stdout, done.stdout
    assert graph.read_text(encoding="utf-8").startswith("<?xml")


def test_the_example_says_why_it_cannot():
    done = subprocess.run([str(PROFILE), "4194303", "x.svg"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1
    assert "4194303" in done.stderr, done.stderr
