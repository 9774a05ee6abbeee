/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/modules.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "preload/heap/heap.h"
#include "preload/heap/hook.h"
#include "preload/real_functions.h"
#include "preload/runtime.h"
#include "preload/session_file.h"
#include "safe/clock.h"
#include "safe/syscall.h"
#include "safe/ticks.h"

/*
 * The recorder is notified of changes; it reads the program's mappings itself and builds the
 * tables. Unloading a module waits at most this long for the recorder to see it.
 */
#define WAIT_NS 200000000ull

/*
 * Stacks of heap records contain addresses of code that may be gone when the recorder reads them,
 * with another module in its place. So the recorder must see everything that was loaded before any
 * of it is unloaded. Most modules stay longer than that takes.
 */
void modules_wait_until_known(void)
{
	static _Atomic uint32_t unanswered; /* what was known at the last timeout, + 1 */
	uint32_t changed = atomic_load(&preload.process->maps_changed);
	uint64_t end_ns = safe_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
	uint32_t known = atomic_load(&preload.process->maps_known);
	uint64_t now_ns;

	if (!(atomic_load(&preload.mode) & SESSION_HEAP) || (int32_t)(known - changed) >= 0 ||
	    atomic_load(&unanswered) == known + 1 || session_file_recorder_is_gone(preload.control))
		return;
	session_file_wake();
	while ((int32_t)((known = atomic_load(&preload.process->maps_known)) - changed) < 0 &&
	       (now_ns = safe_clock_ns(CLOCK_MONOTONIC)) < end_ns) {
		struct timespec left = {.tv_nsec = (long)(end_ns - now_ns)};

		(void)safe_syscall(SYS_futex, SAFE_POINTER(&preload.process->maps_known),
				   FUTEX_WAIT, known, SAFE_POINTER(&left), 0, 0);
	}
	/* After a timeout, do not wait again until the recorder has run. */
	if ((int32_t)(known - changed) < 0)
		atomic_store(&unanswered, known + 1);
}

/* Marks the start of a change of modules. Returns the pid, for end_move(). */
static uint32_t begin_move(void)
{
	if (!preload_active())
		return 0;
	(void)atomic_fetch_add(&preload.process->maps_moving, 1);
	return preload.pid;
}

/* A loaded module may fork in its constructor: a child has no change in progress. */
static void end_move(uint32_t pid)
{
	if (pid != 0 && pid == preload.pid && preload.process)
		(void)atomic_fetch_sub(&preload.process->maps_moving, 1);
}

static uint32_t tell(void)
{
	uint32_t changed = atomic_fetch_add(&preload.process->maps_changed, 1) + 1;

	if (atomic_load(&heap_is_on) > HEAP_OFF)
		hooks_set();
	session_file_wake();
	return changed;
}

/*
 * A library opened like this resolves malloc() to the C library's, not to ours. That is what the
 * program wants, so it stays; the recorder is notified.
 */
static void tell_deepbind(const char *name)
{
	char *to = preload.process->deepbind;
	size_t i = 0;

	if (atomic_fetch_add(&preload.process->counts[SESSION_HEAP_DEEPBIND], 1) != 0)
		return;
	for (; i < sizeof(preload.process->deepbind) - 1 && name[i]; i++)
		to[i] = name[i];
	to[i] = '\0';
}

REAL_DEFINE(dlopen);
PRELOAD_EXPORT void *dlopen(const char *name, int flags)
{
	uint32_t pid = begin_move();
	void *handle = REAL(dlopen)(name, flags);

	if (handle && name && preload_active()) {
		(void)tell();
		if ((flags & RTLD_DEEPBIND) && (atomic_load(&preload.mode) & SESSION_HEAP))
			tell_deepbind(name);
	}
	end_move(pid);
	return handle;
}

REAL_DEFINE(dlmopen);
PRELOAD_EXPORT void *dlmopen(Lmid_t space, const char *name, int flags)
{
	uint32_t pid = begin_move();
	void *handle = REAL(dlmopen)(space, name, flags);

	if (handle && name && preload_active())
		(void)tell();
	end_move(pid);
	return handle;
}

REAL_DEFINE(dlclose);
PRELOAD_EXPORT int dlclose(void *handle)
{
	uint32_t pid;
	int r;

	if (!preload_active()) {
		r = REAL(dlclose)(handle);
		heap_new_forget();
		return r;
	}
	modules_wait_until_known();
	pid = begin_move();
	/*
	 * From before the unload until the recorder has read the mappings again, no list is valid.
	 */
	atomic_store(&preload.unsure_until, atomic_load(&preload.process->maps_changed) + 1);
	r = REAL(dlclose)(handle);
	heap_new_forget();
	atomic_store(&preload.process->gone_ticks, safe_ticks());
	atomic_store(&preload.unsure_until, tell());
	end_move(pid);
	return r;
}
