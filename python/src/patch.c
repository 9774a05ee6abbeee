/* SPDX-License-Identifier: BSD-2-Clause */
#include "patch.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/jump.h"
#include "record.h"
#include "simple_record.h"
#include "stacks.h"

#define PAGE_BYTES 4096
/* How far apart places for the far jumps are tried. */
#define SEARCH_STEP (1ll << 20)

static bool is_traced(void)
{
	return atomic_load_explicit(&tracer.is_tracing, memory_order_relaxed);
}

static int track(unsigned int domain, uintptr_t address, size_t size)
{
	PyThreadState *thread;
	bool holds_gil;

	if (!is_traced())
		return -2;
	if (tracer_thread.state & THREAD_EXCLUDED)
		return 0;
	thread = record_own_thread(&holds_gil);
	return record_tracked(thread, holds_gil, domain, address, size) < 0 ? -1 : 0;
}

static int untrack(unsigned int domain, uintptr_t address)
{
	if (!is_traced())
		return -2;
	record_untracked(domain, address);
	return 0;
}

static PyObject *get_traceback(unsigned int domain, uintptr_t address)
{
	return stacks_traceback_of_block(domain, address);
}

/* An object that was just allocated has the right site. Only then is it this close to the block. */
static void object_begins(PyObject *object)
{
	if ((uintptr_t)object - tracer.newest <= 4 * sizeof(void *)) {
		tracer.newest = 0;
		return;
	}
	if (tracer_thread.state != 0)
		return;
	if (tracer.is_simple)
		record_reuse_simply(object, Py_TYPE(object));
	else if (is_traced())
		record_reuse(object, Py_TYPE(object));
}

#if PY_VERSION_HEX >= 0x030d0000

static int on_reference(PyObject *object, PyRefTracerEvent event, void *data)
{
	(void)data;
	if (event == PyRefTracer_CREATE)
		object_begins(object);
	return 0;
}

#else

/* In place of _Py_NewReference(). */
static void new_reference(PyObject *object)
{
	object->ob_refcnt = 1;
	object_begins(object);
}

/* In place of _PyTraceMalloc_NewReference(). */
static int traced_reference(PyObject *object)
{
	object_begins(object);
	return 0;
}

#endif

struct patched {
	uint64_t function; /* 0: not patched */
	uint8_t original[JUMP_NEAR_BYTES];
};

#define REPLACEMENT(function) ((uint64_t)(uintptr_t)(function))

static struct {
	bool sees_reuse;
	int *standard_flag; /* set by us: the interpreter believes that its own tracer runs */
	uint8_t *near;      /* far jumps, close to the interpreter's code */
	int near_count;
	struct patched functions[4];
} patch;

/* Overwrites instructions without making their page writable, even for a moment. */
static bool write_code(uint64_t address, const uint8_t *code, size_t size)
{
	int fd = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
	ssize_t written;

	if (fd < 0)
		return false;
	written = pwrite(fd, code, size, (off_t)address);
	close(fd);
	__builtin___clear_cache((char *)(uintptr_t)address, (char *)(uintptr_t)(address + size));
	return written == (ssize_t)size;
}

/* A page that a near jump from `function` reaches. */
static bool find_near_page(uint64_t function)
{
	if (patch.near)
		return true;
	for (int64_t distance = SEARCH_STEP; distance < JUMP_REACH - SEARCH_STEP;
	     distance += SEARCH_STEP)
		for (int sign = -1; sign <= 1; sign += 2) {
			uint64_t wanted =
				(function + (uint64_t)(sign * distance)) / PAGE_BYTES * PAGE_BYTES;
			void *page =
				mmap((void *)(uintptr_t)wanted, PAGE_BYTES, PROT_READ | PROT_EXEC,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

			if (page == MAP_FAILED)
				continue;
			if (page == (void *)(uintptr_t)wanted) {
				patch.near = page;
				return true;
			}
			munmap(page, PAGE_BYTES); /* a kernel that knows no NOREPLACE */
		}
	return false;
}

/* The function must be long enough for a jump, and be code of the interpreter. */
static uint64_t find_function(const char *name, uint64_t *ret_size, void **ret_file)
{
	void *function = dlsym(RTLD_DEFAULT, name);
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!function || !dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
	    symbol->st_size < JUMP_FAR_BYTES)
		return 0;
	*ret_size = symbol->st_size;
	*ret_file = info.dli_fbase;
	return (uint64_t)(uintptr_t)function;
}

static bool install_at(struct patched *patched, uint64_t function, uint64_t replacement)
{
	uint8_t far_jump[JUMP_FAR_BYTES] = {0};
	uint8_t near_jump[JUMP_NEAR_BYTES];
	uint64_t place;

	if (function == 0 || !find_near_page(function))
		return false;
	place = (uint64_t)(uintptr_t)patch.near + (uint64_t)patch.near_count * JUMP_FAR_BYTES;
	jump_far(replacement, far_jump);
	memcpy(patched->original, (const void *)(uintptr_t)function, sizeof(patched->original));
	if (!jump_near(function, place, near_jump) ||
	    !write_code(place, far_jump, sizeof(far_jump)) ||
	    !write_code(function, near_jump, sizeof(near_jump)))
		return false;
	patch.near_count++;
	patched->function = function;
	return true;
}

static bool install(struct patched *patched, const char *name, uint64_t replacement)
{
	uint64_t size;
	void *file;

	return install_at(patched, find_function(name, &size, &file), replacement);
}

#if PY_VERSION_HEX < 0x030d0000 && !defined(Py_REF_DEBUG) && !defined(Py_TRACE_REFS)

/* struct _PyTraceMalloc_Config, which exists until 3.11. */
struct standard_config {
	int initialized;
	int tracing;
	int max_nframe;
};

/* Whether a function starts there, by what unwinders know: bytes may look like a call by chance. */
static bool is_function(uint64_t address)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_LAZY);
	void *(*find)(void *pc) = NULL;

	if (library)
		*(void **)&find = dlsym(library, "_Unwind_FindEnclosingFunction");
	return find && find((void *)(uintptr_t)(address + 1)) == (void *)(uintptr_t)address;
}

/* The only function that another one calls, or 0. It must belong to the same file. */
static uint64_t find_callee(const char *name)
{
	uint64_t size;
	void *file;
	uint64_t function = find_function(name, &size, &file);
	uint64_t found = 0;
	Dl_info info;

	if (function == 0)
		return 0;
	for (uint64_t i = 0; i + JUMP_NEAR_BYTES <= size; i += CALL_STEP) {
		uint64_t target = call_target(function + i);

		if (target == 0 || !dladdr((void *)(uintptr_t)target, &info) ||
		    info.dli_fbase != file || !is_function(target))
			continue;
		if (found != 0)
			return 0;
		found = target;
	}
	return found;
}

/*
 * Starts and stops the interpreter's own tracer once, over our hooks: when it is stopped while its
 * flag is set by us, at the end of the interpreter for example, it puts our hooks back.
 */
static bool prepare_standard_tracer(void)
{
	PyObject *module = PyImport_ImportModule("_tracemalloc");
	PyObject *started = module ? PyObject_CallMethod(module, "start", "i", 1) : NULL;
	PyObject *stopped = started ? PyObject_CallMethod(module, "stop", NULL) : NULL;
	bool is_done = stopped != NULL;

	Py_XDECREF(module);
	Py_XDECREF(started);
	Py_XDECREF(stopped);
	PyErr_Clear();
	return is_done;
}

/*
 * Compilers put the body of _Py_NewReference() into its callers. All that is left then is the call
 * of the interpreter's own tracer, which is made if a flag says that it runs.
 */
static bool see_inlined_reuse(void)
{
	struct standard_config *config = dlsym(RTLD_DEFAULT, "_Py_tracemalloc_config");
	uint64_t function = find_callee("_Py_NewReference");

	if (!config || function == 0 || config->tracing || !prepare_standard_tracer() ||
	    !install_at(&patch.functions[3], function, REPLACEMENT(traced_reference)))
		return false;
	patch.standard_flag = &config->tracing;
	*patch.standard_flag = 1;
	return true;
}

#endif

static bool see_reuse(void)
{
#if PY_VERSION_HEX >= 0x030d0000
	void *data;

	if (PyRefTracer_GetTracer(&data))
		return false; /* there is room for one */
	return PyRefTracer_SetTracer(on_reference, NULL) == 0;
#elif defined(Py_REF_DEBUG) || defined(Py_TRACE_REFS)
	return false; /* the function does more in such builds */
#else
	return see_inlined_reuse() ||
	       install(&patch.functions[3], "_Py_NewReference", REPLACEMENT(new_reference));
#endif
}

void patch_install(bool with_reuse)
{
	/* Other interpreters may be running these functions. */
	bool is_alone = !tracer.tables[TABLE_GIL].has_lock;

	patch.near_count = 0;
	if (is_alone) {
		(void)install(&patch.functions[0], "PyTraceMalloc_Track", REPLACEMENT(track));
		(void)install(&patch.functions[1], "PyTraceMalloc_Untrack", REPLACEMENT(untrack));
		(void)install(&patch.functions[2], "_PyTraceMalloc_GetTraceback",
			      REPLACEMENT(get_traceback));
	}
	patch.sees_reuse = with_reuse && is_alone && see_reuse();
}

void patch_remove(void)
{
	/* If there are hooks over ours, they may be those of the standard tracer: it runs then. */
	if (patch.standard_flag && hooks_are_last())
		*patch.standard_flag = 0;
	patch.standard_flag = NULL;
	for (size_t i = 0; i < sizeof(patch.functions) / sizeof(patch.functions[0]); i++) {
		struct patched *patched = &patch.functions[i];

		if (patched->function != 0)
			(void)write_code(patched->function, patched->original,
					 sizeof(patched->original));
		patched->function = 0;
	}
#if PY_VERSION_HEX >= 0x030d0000
	if (patch.sees_reuse)
		(void)PyRefTracer_SetTracer(NULL, NULL);
#endif
	patch.sees_reuse = false;
}

bool patch_sees_reuse(void)
{
	return patch.sees_reuse;
}
