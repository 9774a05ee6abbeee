/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * modules: what the program loads and lets go while it runs. The recorder is told that
 * something has changed; it looks at the program's map itself and makes the tables.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#include "inproc/heap.h"
#include "inproc/hook.h"
#include "inproc/real.h"
#include "inproc/runtime.h"
#include "inproc/session_file.h"

static uint32_t tell(void)
{
	uint32_t changed = atomic_fetch_add(&inproc.process->maps_changed, 1) + 1;

	if (atomic_load(&heap_is_on) > HEAP_OFF)
		hooks_set();
	session_file_wake();
	return changed;
}

/*
 * A library that is opened so has its own malloc() before ours: the C library's, which it
 * needs. That is what the program wants, so it stays; the recorder is told.
 */
static void tell_deepbind(const char *name)
{
	char *to = inproc.process->deepbind;
	size_t i = 0;

	if (atomic_fetch_add(&inproc.process->counts[SESSION_HEAP_DEEPBIND], 1) != 0)
		return;
	for (; i < sizeof(inproc.process->deepbind) - 1 && name[i]; i++)
		to[i] = name[i];
	to[i] = '\0';
}

REAL_DEFINE(dlopen);
INPROC_EXPORT void *dlopen(const char *name, int flags)
{
	void *handle = REAL(dlopen)(name, flags);

	if (handle && name && inproc_active()) {
		(void)tell();
		if ((flags & RTLD_DEEPBIND) && (atomic_load(&inproc.mode) & SESSION_HEAP))
			tell_deepbind(name);
	}
	return handle;
}

REAL_DEFINE(dlmopen);
INPROC_EXPORT void *dlmopen(Lmid_t space, const char *name, int flags)
{
	void *handle = REAL(dlmopen)(space, name, flags);

	if (handle && name && inproc_active())
		(void)tell();
	return handle;
}

REAL_DEFINE(dlclose);
INPROC_EXPORT int dlclose(void *handle)
{
	int r;

	if (!inproc_active()) {
		r = REAL(dlclose)(handle);
		heap_new_forget();
		return r;
	}
	/* From before it goes until the recorder has looked again no list is to be trusted. */
	atomic_store(&inproc.unsure_until, atomic_load(&inproc.process->maps_changed) + 1);
	r = REAL(dlclose)(handle);
	heap_new_forget();
	atomic_store(&inproc.unsure_until, tell());
	return r;
}
