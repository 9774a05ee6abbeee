/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Python module wick._tracer: the functions that wick.tracemalloc is made of. It checks
 * arguments and turns results into objects; the work is done elsewhere.
 */
#include <string.h>

#include "codes.h"
#include "event_records.h"
#include "hold.h"
#include "patch.h"
#include "record.h"
#include "snapshot.h"
#include "stacks.h"

#define CALLS_MAX 65535
#define EVENTS_KB_MAX ((Py_ssize_t)1 << 40)
/* Return addresses of a stack. */
#define NATIVE_MAX 32

static PyObject *start(PyObject *module, PyObject *arguments, PyObject *names)
{
	static char *keywords[] = {"nframe",    "sampling_bytes", "probability", "native",
				   "events_kb", "max_stacks",     NULL};
	struct tracer_settings settings = {0};
	const char *problem;
	int calls = 1;
	int with_native = 0;
	Py_ssize_t events_kb = 0;
	Py_ssize_t stacks_max = 0;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(arguments, names, "|i$ddpnn:start", keywords, &calls,
					 &settings.sampling_bytes, &settings.probability,
					 &with_native, &events_kb, &stacks_max))
		return NULL;
	if (calls < 1 || calls > CALLS_MAX)
		return PyErr_Format(PyExc_ValueError,
				    "the number of frames must be in range [1; %i]", CALLS_MAX);
	if (events_kb < 0 || events_kb > EVENTS_KB_MAX || stacks_max < 0 || stacks_max > UINT32_MAX)
		return PyErr_Format(
			PyExc_ValueError,
			"the buffer of events has at most %lld KiB, and there are at most "
			"%lld stacks",
			(long long)EVENTS_KB_MAX, (long long)UINT32_MAX);
	if (atomic_load(&tracer.is_tracing))
		Py_RETURN_NONE;
	settings.calls_max = (uint32_t)calls;
	settings.native_max = with_native ? NATIVE_MAX : 0;
	settings.events_bytes = (size_t)events_kb << 10;
	settings.stacks_max = (uint32_t)stacks_max;
	if (tracer_start(&settings, &problem) < 0)
		return PyErr_Format(PyExc_RuntimeError, "%s", problem);
	Py_RETURN_NONE;
}

/* What is called before tracing stops, to save what would be lost; NULL: nothing. */
static PyObject *before_stop;

/* Returns whether the function will call stop() again, when it has saved everything. */
static bool is_stopped_later(void)
{
	PyObject *answer;
	bool is_later;

	if (!before_stop)
		return false;
	answer = PyObject_CallNoArgs(before_stop);
	is_later = answer == Py_True;
	if (!answer)
		PyErr_WriteUnraisable(before_stop);
	Py_XDECREF(answer);
	return is_later;
}

static PyObject *stop(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	if (!atomic_load(&tracer.is_tracing) || is_stopped_later())
		Py_RETURN_NONE;
	if (atomic_load(&tracer.is_tracing)) /* another thread may have been faster */
		tracer_stop();
	Py_RETURN_NONE;
}

static PyObject *call_before_stop(PyObject *module, PyObject *function)
{
	PyObject *old = before_stop;

	(void)module;
	before_stop = function == Py_None ? NULL : function;
	Py_XINCREF(before_stop);
	Py_XDECREF(old);
	Py_RETURN_NONE;
}

static PyObject *is_tracing(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyBool_FromLong(atomic_load(&tracer.is_tracing));
}

static PyObject *clear_traces(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	if (atomic_load(&tracer.is_tracing))
		tracer_clear();
	Py_RETURN_NONE;
}

static PyObject *get_traceback_limit(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyLong_FromUnsignedLong(tracer.settings.calls_max > 0 ? tracer.settings.calls_max
								     : 1);
}

/*
 * Puts the hooks back if somebody has removed them, and says so. Returns -1 with an exception if
 * the warning became one.
 */
static int check_hooks(void)
{
	if (!atomic_load(&tracer.is_tracing) || hooks_are_reached())
		return 0;
	(void)hooks_install(); /* cannot fail: the old ones are gone */
	return PyErr_WarnEx(
		PyExc_RuntimeWarning,
		"another module, such as tracemalloc, has removed the allocator hooks of "
		"wick.tracemalloc; they are back, and what was allocated or freed in "
		"between is missing",
		2);
}

static PyObject *get_traced_memory(PyObject *module, PyObject *unused)
{
	int64_t bytes = tracer_live_bytes();
	int64_t peak = atomic_load(&tracer.peak_bytes);

	(void)module;
	(void)unused;
	if (!atomic_load(&tracer.is_tracing))
		return Py_BuildValue("ii", 0, 0);
	if (check_hooks() < 0)
		return NULL;
	return Py_BuildValue("LL", (long long)bytes, (long long)(peak > bytes ? peak : bytes));
}

static PyObject *reset_peak(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	atomic_store(&tracer.peak_bytes, tracer_live_bytes());
	Py_RETURN_NONE;
}

static PyObject *get_tracemalloc_memory(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyLong_FromUnsignedLongLong(atomic_load(&tracer.memory.bytes));
}

static PyObject *trace_tuple(uint32_t site, uint64_t size)
{
	struct trace_site found = stacks_site(site);
	uint32_t stack = stacks_of_site(site);
	PyObject *frames = stacks_frames(stack);

	if (!frames)
		return NULL;
	return Py_BuildValue("(IKNI)", trace_site_domain(&found), (unsigned long long)size, frames,
			     stacks_depth(stack));
}

static PyObject *trace_list(PyObject *pairs)
{
	Py_ssize_t count = PyList_GET_SIZE(pairs);
	PyObject *list = PyList_New(count);

	for (Py_ssize_t i = 0; list && i < count; i++) {
		unsigned int site;
		unsigned long long size;
		double weight;
		PyObject *item = NULL;

		if (PyArg_ParseTuple(PyList_GET_ITEM(pairs, i), "IKd", &site, &size, &weight))
			item = trace_tuple(site, size);
		if (!item)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, i, item);
	}
	return list;
}

static PyObject *get_traces(PyObject *module, PyObject *unused)
{
	PyObject *snapshot;
	PyObject *pairs = NULL;
	PyObject *list = NULL;
	uint32_t outer;

	(void)module;
	(void)unused;
	if (!atomic_load(&tracer.is_tracing))
		return PyList_New(0);
	outer = tracer_thread_enter(THREAD_OWN);
	snapshot = snapshot_take();
	if (snapshot)
		pairs = PyObject_CallMethod(snapshot, "traces", NULL);
	if (pairs)
		list = trace_list(pairs);
	Py_XDECREF(pairs);
	Py_XDECREF(snapshot);
	tracer_thread.state = outer;
	return list;
}

static uint64_t block_of_object(const PyObject *object)
{
	return (uint64_t)(uintptr_t)object - version_header_bytes(Py_TYPE(object));
}

static PyObject *get_object_traceback(PyObject *module, PyObject *object)
{
	(void)module;
	return stacks_traceback_of_block(0, block_of_object(object));
}

static PyObject *object_stack(PyObject *module, PyObject *object)
{
	uint32_t stack = stacks_of_block(0, block_of_object(object));

	(void)module;
	if (stack == TRACE_NONE)
		Py_RETURN_NONE;
	return PyLong_FromUnsignedLong(stack);
}

static PyObject *track(PyObject *module, PyObject *arguments)
{
	unsigned int domain;
	unsigned long long address;
	unsigned long long size;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "IKK:track", &domain, &address, &size))
		return NULL;
	if (!atomic_load(&tracer.is_tracing))
		return PyLong_FromLong(-2);
	return PyLong_FromLong(
		record_tracked(version_current_thread(), true, domain, address, size) < 0 ? -1 : 0);
}

static PyObject *untrack(PyObject *module, PyObject *arguments)
{
	unsigned int domain;
	unsigned long long address;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "IK:untrack", &domain, &address))
		return NULL;
	if (!atomic_load(&tracer.is_tracing))
		return PyLong_FromLong(-2);
	record_untracked(domain, address);
	return PyLong_FromLong(0);
}

static PyObject *stats(PyObject *module, PyObject *unused)
{
	uint64_t blocks = tracer.tracked.count;
	uint64_t stacks = 0;
	uint64_t stack_bytes = 0;
	uint64_t sites = 0;

	(void)module;
	(void)unused;
	for (int id = 0; id < TABLE_COUNT; id++) {
		blocks += tracer.tables[id].blocks.count;
		stacks += tracer.tables[id].sites.stack_count;
		stack_bytes += trace_sites_bytes(&tracer.tables[id].sites);
		sites += tracer.tables[id].sites.site_count;
	}
	return Py_BuildValue(
		"{sKsKsKsKsKsKsKsKsKsIsOsO}", "events",
		(unsigned long long)(tracer.hook_calls + atomic_load(&tracer.raw_calls)), "hook_ns",
		(unsigned long long)event_records_hook_ns(), "dropped",
		(unsigned long long)atomic_load(&tracer.dropped), "dropped_stacks",
		(unsigned long long)atomic_load(&tracer.dropped_stacks), "stacks",
		(unsigned long long)stacks, "stack_bytes", (unsigned long long)stack_bytes, "sites",
		(unsigned long long)sites, "live_blocks", (unsigned long long)blocks, "own_bytes",
		(unsigned long long)atomic_load(&tracer.memory.bytes), "code_objects",
		codes_count(), "sampled", tracer.is_sampled ? Py_True : Py_False, "sees_reuse",
		patch_sees_reuse() ? Py_True : Py_False);
}

static PyObject *snapshot(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return check_hooks() < 0 ? NULL : snapshot_take();
}

static PyObject *hold(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return hold_get();
}

/* Returns false with an exception for an id that does not exist. */
static bool parse_id(PyObject *argument, bool (*exists)(uint32_t id), const char *what,
		     uint32_t *ret)
{
	unsigned long id = PyLong_AsUnsignedLong(argument);

	if (PyErr_Occurred())
		return false;
	if (id > UINT32_MAX || !exists((uint32_t)id)) {
		PyErr_Format(PyExc_IndexError, "there is no %s %lu", what, id);
		return false;
	}
	*ret = (uint32_t)id;
	return true;
}

static PyObject *stack(PyObject *module, PyObject *argument)
{
	uint32_t id;
	PyObject *frames;

	(void)module;
	if (!parse_id(argument, stacks_has_stack, "stack", &id))
		return NULL;
	frames = stacks_frames(id);
	if (!frames)
		return NULL;
	return Py_BuildValue("(NI)", frames, stacks_depth(id));
}

static PyObject *stack_names(PyObject *module, PyObject *argument)
{
	uint32_t id;

	(void)module;
	return parse_id(argument, stacks_has_stack, "stack", &id) ? stacks_names(id) : NULL;
}

static PyObject *stack_native(PyObject *module, PyObject *argument)
{
	uint32_t id;

	(void)module;
	return parse_id(argument, stacks_has_stack, "stack", &id) ? stacks_native(id) : NULL;
}

static PyObject *stack_native_places(PyObject *module, PyObject *argument)
{
	uint32_t id;

	(void)module;
	return parse_id(argument, stacks_has_stack, "stack", &id) ? stacks_native_places(id) : NULL;
}

static PyObject *site(PyObject *module, PyObject *argument)
{
	struct trace_site found;
	uint32_t id;

	(void)module;
	if (!parse_id(argument, stacks_has_site, "site", &id))
		return NULL;
	found = stacks_site(id);
	return Py_BuildValue("(IIII)", stacks_of_site(id), trace_site_domain(&found),
			     trace_site_thread(&found), stacks_interpreter(stacks_of_site(id)));
}

static PyObject *keep_events(PyObject *module, PyObject *argument)
{
	size_t kb = PyLong_AsSize_t(argument);

	(void)module;
	if (PyErr_Occurred())
		return NULL;
	if (kb == 0 || kb > SIZE_MAX >> 10)
		return PyErr_Format(PyExc_ValueError, "invalid size of the buffer: %zu KiB", kb);
	if (atomic_load(&tracer.is_tracing) && tracer_keep_events(kb << 10) < 0)
		return PyErr_NoMemory();
	Py_RETURN_NONE;
}

static PyObject *hold_events(PyObject *module, PyObject *argument)
{
	unsigned long long number = 0;

	(void)module;
	if (argument != Py_None)
		number = PyLong_AsUnsignedLongLong(argument);
	if (PyErr_Occurred())
		return NULL;
	if (argument == Py_None)
		tracer_hold_no_events();
	else
		tracer_hold_events(number);
	Py_RETURN_NONE;
}

static PyObject *event_position(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyLong_FromUnsignedLongLong(atomic_load(&tracer.events.next));
}

static PyObject *read_events(PyObject *module, PyObject *arguments)
{
	unsigned long long position;
	Py_ssize_t events_max;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "Kn:read_events", &position, &events_max))
		return NULL;
	return event_records_read(position, events_max > 0 ? (size_t)events_max : 0);
}

static PyObject *live_blocks(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return snapshot_blocks_as_events();
}

static PyObject *mark(PyObject *module, PyObject *argument)
{
	unsigned long number = PyLong_AsUnsignedLong(argument);

	(void)module;
	if (PyErr_Occurred())
		return NULL;
	if (tracer.events.slots)
		tracer_put_event(TRACE_MARK, 0, number, 0);
	Py_RETURN_NONE;
}

static PyObject *exclude_thread(PyObject *module, PyObject *argument)
{
	bool was = tracer_thread.state & THREAD_EXCLUDED;
	int wanted = PyObject_IsTrue(argument);

	(void)module;
	if (wanted < 0)
		return NULL;
	if (wanted)
		tracer_thread.state |= THREAD_EXCLUDED;
	else
		tracer_thread.state &= ~(uint32_t)THREAD_EXCLUDED;
	return PyBool_FromLong(was);
}

static PyObject *fail_request(PyObject *module, PyObject *argument)
{
	unsigned long number = PyLong_AsUnsignedLong(argument);

	(void)module;
	if (PyErr_Occurred())
		return NULL;
	atomic_store(&tracer.memory.fails_at,
		     number > 0 ? atomic_load(&tracer.memory.requests) + number : 0);
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{"start", (PyCFunction)(void (*)(void))start, METH_VARARGS | METH_KEYWORDS,
	 "start(nframe=1, *, sampling_bytes=0.0, probability=0.0, native=False, events_kb=0, "
	 "max_stacks=0)"},
	{"stop", stop, METH_NOARGS,
	 "stop()\n--\n\n"
	 "Stop tracing memory allocations, and forget all traces.\n\n"
	 "Take a snapshot before, or the traces are lost."},
	{"is_tracing", is_tracing, METH_NOARGS,
	 "is_tracing()\n--\n\n"
	 "Return True if memory allocations are being traced, False otherwise."},
	{"clear_traces", clear_traces, METH_NOARGS,
	 "clear_traces()\n--\n\n"
	 "Forget all traces of memory blocks. Tracing goes on with new ones."},
	{"get_traceback_limit", get_traceback_limit, METH_NOARGS,
	 "get_traceback_limit()\n--\n\n"
	 "Return how many frames the traceback of a trace has at most: the nframe of start()."},
	{"get_traced_memory", get_traced_memory, METH_NOARGS,
	 "get_traced_memory()\n--\n\n"
	 "Return the size of all traced blocks now, and the largest it has been: a tuple of two\n"
	 "numbers of bytes. Exact if every block is traced, an estimate if blocks are sampled."},
	{"reset_peak", reset_peak, METH_NOARGS,
	 "reset_peak()\n--\n\n"
	 "Set the peak of get_traced_memory() to the present size. Does nothing if not tracing."},
	{"get_tracemalloc_memory", get_tracemalloc_memory, METH_NOARGS,
	 "get_tracemalloc_memory()\n--\n\n"
	 "Return how many bytes of memory the tracer itself uses for its tables."},
	{"_get_traces", get_traces, METH_NOARGS,
	 "_get_traces() -> list of (domain, size, frames, total_nframe)"},
	{"_get_object_traceback", get_object_traceback, METH_O,
	 "_get_object_traceback(obj) -> frames or None"},
	{"object_stack", object_stack, METH_O, "object_stack(obj) -> id of its stack or None"},
	{"track", track, METH_VARARGS, "track(domain, address, size) -> int"},
	{"untrack", untrack, METH_VARARGS, "untrack(domain, address) -> int"},
	{"stats", stats, METH_NOARGS, "stats() -> dict"},
	{"snapshot", snapshot, METH_NOARGS, "snapshot() -> Snapshot"},
	{"hold", hold, METH_NOARGS,
	 "hold() -> Hold; ids of stacks and sites keep their meaning while it exists"},
	{"stack", stack, METH_O, "stack(id) -> (frames, total_nframe)"},
	{"stack_names", stack_names, METH_O, "stack_names(id) -> tuple of str"},
	{"stack_native", stack_native, METH_O, "stack_native(id) -> tuple of addresses"},
	{"stack_native_places", stack_native_places, METH_O,
	 "stack_native_places(id) -> tuple of (path or None, address in that file)"},
	{"site", site, METH_O, "site(id) -> (stack, domain, thread, interpreter)"},
	{"call_before_stop", call_before_stop, METH_O,
	 "call_before_stop(function): call it whenever tracing is about to stop; None: no more. If "
	 "it "
	 "returns True, tracing goes on, and it calls stop() again later"},
	{"keep_events", keep_events, METH_O,
	 "keep_events(kb): keep events from now on, if they are not kept yet"},
	{"hold_events", hold_events, METH_O,
	 "hold_events(position): events from there on are not overwritten, the buffer grows; None: "
	 "they are"},
	{"event_position", event_position, METH_NOARGS, "event_position() -> int"},
	{"read_events", read_events, METH_VARARGS,
	 "read_events(position, max_events) -> (bytes, next_position, lost)"},
	{"live_blocks", live_blocks, METH_NOARGS, "live_blocks() -> bytes"},
	{"mark", mark, METH_O, "mark(number)"},
	{"exclude_thread", exclude_thread, METH_O, "exclude_thread(bool) -> bool"},
	{"_fail_request", fail_request, METH_O,
	 "_fail_request(n): for tests, the n-th request for memory from now on fails"},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
					"_tracer",
					"The tracer of wick.tracemalloc.",
					-1,
					methods,
					NULL,
					NULL,
					NULL,
					NULL};

/* What was compiled in must be what runs: layouts differ between minor versions. */
static bool is_right_python(void)
{
	unsigned int major = 0;
	unsigned int minor = 0;

	if (sscanf(Py_GetVersion(), "%u.%u", &major, &minor) == 2 && major == PY_MAJOR_VERSION &&
	    minor == PY_MINOR_VERSION)
		return true;
	PyErr_Format(PyExc_ImportError,
		     "wick._tracer was built for Python %d.%d and this is Python %u.%u; install "
		     "wick for this one: python%u.%u -m pip install ./python",
		     PY_MAJOR_VERSION, PY_MINOR_VERSION, major, minor, major, minor);
	return false;
}

/* Tracing ends before the interpreter takes its modules apart. */
static int stop_at_exit(PyObject *module)
{
	PyObject *atexit = PyImport_ImportModule("atexit");
	PyObject *function = PyObject_GetAttrString(module, "stop");
	PyObject *answer = NULL;

	if (atexit && function)
		answer = PyObject_CallMethod(atexit, "register", "O", function);
	Py_XDECREF(atexit);
	Py_XDECREF(function);
	Py_XDECREF(answer);
	return answer ? 0 : -1;
}

PyMODINIT_FUNC PyInit__tracer(void);

PyMODINIT_FUNC PyInit__tracer(void)
{
	PyObject *module;

	if (!is_right_python())
		return NULL;
	module = PyModule_Create(&definition);
	if (module && (hold_add_type(module) < 0 || snapshot_add_type(module) < 0 ||
		       stop_at_exit(module) < 0 ||
		       PyModule_AddIntConstant(module, "NATIVE_DOMAIN", TRACER_C_DOMAIN) < 0))
		Py_CLEAR(module);
	return module;
}
