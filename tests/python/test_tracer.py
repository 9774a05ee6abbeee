# SPDX-License-Identifier: BSD-2-Clause
"""The extension module itself: what happens when memory runs out, threads, forks, code that ends."""
import textwrap

HEAD = """
import ctypes, gc, os, sys, threading, time
from wick import _tracer
"""


def lines(text):
    return HEAD + textwrap.dedent(text)


def test_every_request_for_memory_may_fail(check):
    """A tracer without memory drops blocks or stacks and counts them; the program goes on."""
    check(lines("""
        def work(n):
            kept = []
            for i in range(400):
                code = compile(f"def f(x):\\n return [x, {{}}, bytes({n + i % 500})]", f"gen{n}.{i % 40}", "exec")
                names = {}
                if i % 10 == 0:
                    exec(code, names)
                kept.append(names.get("f", str)(i))
            return kept

        refused = 0
        for n in range(1, 40):
            _tracer._fail_request(n)
            try:
                _tracer.start(n % 7 + 1, events_kb=64 * (n % 3))
            except RuntimeError as error:
                assert "not enough memory" in str(error), error
                refused += 1
                _tracer._fail_request(0)
                continue
            kept = work(n)
            current, peak = _tracer.get_traced_memory()
            assert 0 < current <= peak
            assert sum(size for _, size, _, _ in _tracer._get_traces()) <= peak
            _tracer.clear_traces()
            del kept
            _tracer.stop()
            _tracer._fail_request(0)
            assert _tracer.get_traced_memory() == (0, 0)
        assert refused > 0
        """))


def test_threads_allocate_while_tracing_starts_and_stops(check):
    check(lines("""
        stop = False

        def work():
            raw = ctypes.CDLL(None)
            raw.PyMem_RawMalloc.restype = ctypes.c_void_p
            raw.PyMem_RawMalloc.argtypes = [ctypes.c_size_t]
            raw.PyMem_RawFree.argtypes = [ctypes.c_void_p]
            while not stop:
                kept = [{"a": i, "b": [i] * 10} for i in range(50)]
                for _ in range(20):
                    raw.PyMem_RawFree(raw.PyMem_RawMalloc(100))

        workers = [threading.Thread(target=work) for _ in range(6)]
        for worker in workers:
            worker.start()
        for i in range(60):
            sampled = {"sampling_bytes": 4096.0} if i % 3 == 0 else {}
            _tracer.start(i % 30 + 1, events_kb=64 * (i % 2), **sampled)
            time.sleep(0.002)
            snapshot = _tracer.snapshot()
            snapshot.sites()
            _tracer.read_events(0, 1000)
            if i % 4 == 0:
                _tracer.clear_traces()
            _tracer.stop()
        stop = True
        for worker in workers:
            worker.join()
        assert _tracer.get_traced_memory() == (0, 0)
        """))


def test_forks_with_threads_go_on_tracing(check):
    check(lines("""
        stop = False

        def work():
            while not stop:
                kept = [str(i) for i in range(100)]

        _tracer.start(5)
        workers = [threading.Thread(target=work) for _ in range(3)]
        for worker in workers:
            worker.start()
        for _ in range(12):
            child = os.fork()
            if child == 0:
                before = _tracer.get_traced_memory()[0]
                kept = [bytes(1000) for _ in range(100)]
                grown = _tracer.get_traced_memory()[0] - before
                frames = _tracer._get_object_traceback(kept[7])
                os._exit(0 if grown > 100000 and frames else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        stop = True
        for worker in workers:
            worker.join()
        """))


def test_code_objects_that_end_keep_their_names_and_lines(check):
    """Their memory is used again for others at once: nothing is taken for another's."""
    check(lines("""
        _tracer.start(3)
        kept = []
        for i in range(4000):
            names = {}
            exec(compile("\\n" * (i % 50) + "def made(): return bytes(1000)", f"generated {i}", "exec"), names)
            kept.append(names["made"]())
            del names
        for i, block in enumerate(kept):
            frames = _tracer._get_object_traceback(block)
            assert frames[0] == (f"generated {i}", i % 50 + 1), (i, frames)
        snapshot = _tracer.snapshot()
        stacks = {_tracer.site(site)[0] for site, *_ in snapshot.sites()}
        names = [_tracer.stack_names(stack)[0] for stack in stacks if _tracer.stack_names(stack)]
        assert names.count("made") == 4000, names.count("made")
        """))


def test_calls_without_the_gil_have_the_stack_of_their_thread(check):
    check(lines("""
        library = ctypes.CDLL(None)
        library.PyMem_RawMalloc.restype = ctypes.c_void_p
        library.PyMem_RawMalloc.argtypes = [ctypes.c_size_t]
        library.PyMem_RawRealloc.restype = ctypes.c_void_p
        library.PyMem_RawRealloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        library.PyMem_RawFree.argtypes = [ctypes.c_void_p]
        _tracer.start(2)

        def outside():
            return library.PyMem_RawMalloc(54321)

        def resized(block, size):
            return library.PyMem_RawRealloc(block, size)

        blocks = []
        worker = threading.Thread(target=lambda: blocks.append(outside()))
        worker.start()
        worker.join()
        found = [trace for trace in _tracer._get_traces() if trace[1] == 54321]
        assert len(found) == 1 and len(found[0][2]) == 2, found
        # A request that is refused leaves the block as it was.
        assert resized(blocks[0], sys.maxsize) is None
        assert [t for t in _tracer._get_traces() if t[1] == 54321] == found
        block = resized(blocks[0], 60001)
        sizes = [t[1] for t in _tracer._get_traces()]
        assert sizes.count(54321) == 0 and sizes.count(60001) == 1
        library.PyMem_RawFree(block)
        assert 60001 not in [t[1] for t in _tracer._get_traces()]
        """))


def test_the_number_of_calls_is_that_of_the_whole_stack(check):
    check(lines("""
        def depth():
            frame, n = sys._getframe(1), 0
            while frame:
                frame, n = frame.f_back, n + 1
            return n

        def make(kept):
            kept.append((depth(), bytes(700)))

        def descend(level, kept):
            make(kept)
            if level % 7 == 0:
                list(map(lambda _: make(kept), [1]))
            if level:
                descend(level - 1, kept)

        for nframe in (1, 4):
            _tracer.start(nframe)
            kept = []
            descend(200, kept)
            descend(3, kept)
            descend(200, kept)
            sizes = sorted(total for _, size, _, total in _tracer._get_traces() if size == sys.getsizeof(bytes(700)))
            assert sizes == sorted(n for n, _ in kept), (sizes[:9], sorted(n for n, _ in kept)[:9])
            _tracer.stop()
        """))


def test_a_generator_that_is_resumed_by_different_callers_has_their_number(check):
    check(lines("""
        import operator

        def generate():
            while True:
                yield bytes(4321)

        def resume(generator):
            return (lambda: next(generator))()

        def resume_in_c(generator):
            return list(map(next, [generator]))[0]

        for nframe in (1, 2):
            _tracer.start(nframe)
            generator, kept = generate(), []
            for _ in range(5):
                kept.append(resume(generator))
                kept.append(resume_in_c(generator))
            size = sys.getsizeof(kept[0])
            depths = sorted(total for _, n, _, total in _tracer._get_traces() if n == size)
            assert depths == [3] * 5 + [4] * 5, depths
            _tracer.stop()
        """))


def test_estimates_of_samples_are_unbiased(check):
    """Within six standard errors, which the tracer reports itself."""
    check(lines("""
        for settings in ({"sampling_bytes": 65536.0}, {"probability": 0.01}):
            _tracer.start(1, **settings)
            kept = [bytes(500 + i % 1000) for i in range(60000)]
            true_size = sum(map(sys.getsizeof, kept))
            sites = _tracer.snapshot().sites()
            size = sum(site[2] for site in sites)
            error = sum(site[4] for site in sites) ** 0.5
            count_error = sum(site[3] for site in sites) ** 0.5
            assert 0 < error < true_size / 5, (error, true_size)
            assert abs(size - true_size) < 6 * error, (settings, size, true_size, error)
            assert abs(sum(site[1] for site in sites) - 60000) < 6 * count_error
            assert abs(_tracer.get_traced_memory()[0] - size) < 100 * len(kept)
            del kept
            assert _tracer.get_traced_memory()[0] < true_size / 100 + 10 * 65536
            _tracer.stop()
        """))


def test_another_interpreter_ends_with_its_memory(check):
    check(lines("""
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        _tracer.start(4)
        run = getattr(interpreters, "run_string")
        for i in range(5):
            other = interpreters.create()
            run(other, "def f(n):\\n    return [bytes(100) for _ in range(n)]\\nkept = f(500)\\nimport json")
            _tracer.snapshot().sites()
            interpreters.destroy(other)
            gc.collect()
            for stack in {_tracer.site(site)[0] for site, *_ in _tracer.snapshot().sites()}:
                _tracer.stack(stack), _tracer.stack_names(stack)
        assert {_tracer.site(site)[3] for site, *_ in _tracer.snapshot().sites()} >= {0}
        _tracer.stop()
        """))


def test_ways_to_end(python, tmp_path):
    """Exit status and output are those of the program."""
    endings = {
        "os._exit(3)": 3,
        "threading.Thread(target=sys.exit, args=(5,)).start()": 0,
        "threading.Thread(target=lambda: [str(i) for i in iter(int, 1)], daemon=True).start(); time.sleep(0.05)": 0,
        "raise SystemExit(7)": 7,
        "import atexit; atexit.register(lambda: print(_tracer.is_tracing()))": 0,
        "_tracer.stop(); _tracer.stop()": 0,
    }
    for ending, status in endings.items():
        for arguments in ("5", "5, events_kb=64", "5, sampling_bytes=1000.0"):
            script = tmp_path / "ends.py"
            script.write_text(HEAD + f"_tracer.start({arguments})\nkept = [str(i) for i in range(10000)]\n{ending}\n",
                              encoding="utf-8")
            done = python.run("-X", "faulthandler", script)
            assert (done.returncode, done.stderr) == (status, ""), (ending, arguments, done)


def test_an_excluded_thread_is_not_recorded(check):
    check(lines("""
        _tracer.start(2)
        assert _tracer.exclude_thread(True) is False
        kept = [bytes(3333) for _ in range(10)]
        assert _tracer.exclude_thread(False) is True
        assert sys.getsizeof(kept[0]) not in [t[1] for t in _tracer._get_traces()]
        del kept
        """))


def test_ids_that_do_not_exist_are_refused(check):
    check(lines("""
        for function in (_tracer.stack, _tracer.stack_names, _tracer.stack_native, _tracer.site):
            for wrong in (10 ** 6, 0x80000000 + 10 ** 6):
                try:
                    function(wrong)
                except IndexError as error:
                    assert str(wrong) in str(error)
                else:
                    raise AssertionError(function)
        """))


def test_a_fresh_snapshot_has_nothing_of_ours(check):
    check("""
import wick.tracemalloc as t
def blocks(**settings):
    t.start(5, **settings)
    snapshot = t.take_snapshot()
    t.stop()
    return [str(trace) for trace in snapshot.traces if trace.domain == 0]
for settings in ({}, {}, {"sampling": 1}, {"native": True}):
    assert blocks(**settings) == [], (settings, blocks(**settings))
t.configure(ring_buffer_kb=64)
assert blocks() == []
""")
