/* SPDX-License-Identifier: BSD-2-Clause */
#include "native_walk.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <unwind.h>

/* Our own frames at the top, and those of the preload library: there are few. */
#define SKIPPED_MAX 16

struct range {
	uint64_t low;
	uint64_t high;
};

static struct {
	__typeof__(&_Unwind_Backtrace) backtrace;
	__typeof__(&_Unwind_GetIP) address_of;
	struct range own;
	struct range preload;
	struct range unwinder;
	struct range loop; /* _PyEval_EvalFrameDefault() */
} walker;

static bool is_in(const struct range *range, uint64_t address)
{
	return address - range->low < range->high - range->low;
}

struct search {
	uint64_t address;
	struct range found;
};

static int look_at_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	struct range range = {UINT64_MAX, 0};

	(void)size;
	for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t low = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		range.low = low < range.low ? low : range.low;
		range.high =
			low + header->p_memsz > range.high ? low + header->p_memsz : range.high;
	}
	if (range.high <= range.low || !is_in(&range, search->address))
		return 0;
	search->found = range;
	return 1;
}

/* The module of a function; an empty range for NULL. */
static struct range module_of(const void *function)
{
	struct search search = {.address = (uint64_t)(uintptr_t)function};

	if (function)
		(void)dl_iterate_phdr(look_at_module, &search);
	return search.found;
}

static struct range code_of(const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);
	const ElfW(Sym) *symbol = NULL;
	uint64_t low = (uint64_t)(uintptr_t)function;
	Dl_info info;

	if (!function || !dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return (struct range){0, 0};
	return (struct range){low, low + symbol->st_size};
}

int native_walk_begin(void)
{
	struct native_stack first;
	void *library;

	walker.preload = module_of(dlsym(RTLD_DEFAULT, "wick_observe_heap"));
	if (walker.backtrace)
		return 0;
	library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_NODELETE);
	if (!library)
		return -ENOSYS;
	walker.address_of = (__typeof__(walker.address_of))dlsym(library, "_Unwind_GetIP");
	walker.backtrace = (__typeof__(walker.backtrace))dlsym(library, "_Unwind_Backtrace");
	if (!walker.address_of || !walker.backtrace) {
		walker.backtrace = NULL;
		return -ENOSYS;
	}
	walker.own = module_of((const void *)native_walk_begin);
	walker.unwinder = module_of((const void *)walker.backtrace);
	walker.loop = code_of("_PyEval_EvalFrameDefault");
	/* The first walk fills tables and binds functions; it may allocate. */
	native_walk(&first, NATIVE_WALK_MAX);
	return 0;
}

struct walk {
	struct native_stack *to;
	uint32_t count_max;
	uint32_t skipped;
};

/* Any answer but _URC_NO_REASON ends the walk. */
static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *data)
{
	struct walk *walk = data;
	uint64_t address = walker.address_of(context);

	if (address == 0)
		return _URC_END_OF_STACK;
	if (walk->to->count == 0 && walk->skipped < SKIPPED_MAX &&
	    (is_in(&walker.own, address) || is_in(&walker.preload, address))) {
		walk->skipped++;
		return _URC_NO_REASON;
	}
	walk->to->words[walk->to->count++] = address;
	if (walk->to->count == walk->count_max || is_in(&walker.loop, address))
		return _URC_END_OF_STACK;
	return _URC_NO_REASON;
}

void native_walk(struct native_stack *ret, uint32_t count_max)
{
	struct walk walk = {ret, count_max, 0};

	ret->count = 0;
	if (count_max > 0)
		(void)walker.backtrace(on_frame, &walk);
}

bool native_walk_is_unwinder(uint64_t address)
{
	return is_in(&walker.unwinder, address);
}
