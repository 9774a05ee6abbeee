/* SPDX-License-Identifier: BSD-2-Clause */
#include "native_walk.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <unwind.h>

#include "known_walks.h"

/* Includes the few frames of our own and of the preload library at the top. */
#define FRAMES_MAX (NATIVE_WALK_MAX + 16)

struct range {
	uint64_t low;
	uint64_t high;
};

static struct {
	__typeof__(&_Unwind_Backtrace) backtrace;
	__typeof__(&_Unwind_GetIP) address_of;
	__typeof__(&_Unwind_GetCFA) sp_of; /* returns the lowest address of a frame */
	uint32_t count_max;
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

int native_walk_begin(uint32_t count_max)
{
	struct native_stack first;
	void *library;

	walker.count_max = count_max < NATIVE_WALK_MAX ? count_max : NATIVE_WALK_MAX;
	known_walks_forget();
	walker.preload = module_of(dlsym(RTLD_DEFAULT, "wick_observe_heap"));
	if (walker.backtrace)
		return 0;
	library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_NODELETE);
	if (!library)
		return -ENOSYS;
	walker.address_of = (__typeof__(walker.address_of))dlsym(library, "_Unwind_GetIP");
	walker.backtrace = (__typeof__(walker.backtrace))dlsym(library, "_Unwind_Backtrace");
	walker.sp_of = (__typeof__(walker.sp_of))dlsym(library, "_Unwind_GetCFA");
	if (!walker.address_of || !walker.sp_of || !walker.backtrace) {
		walker.backtrace = NULL;
		return -ENOSYS;
	}
	walker.own = module_of((const void *)native_walk_begin);
	walker.unwinder = module_of((const void *)walker.backtrace);
	walker.loop = code_of("_PyEval_EvalFrameDefault");
	/* The first walk fills tables and binds functions; it may allocate. */
	native_walk(&first, 0);
	return 0;
}

struct walk {
	struct known_frame frames[FRAMES_MAX]; /* the first one is of native_walk() */
	uint32_t count;
	uint32_t wanted; /* frames that are not our own */
};

static bool is_own(uint64_t address)
{
	return is_in(&walker.own, address) || is_in(&walker.preload, address);
}

/* Any answer but _URC_NO_REASON ends the walk. */
static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *data)
{
	struct walk *walk = data;
	uint64_t address = walker.address_of(context);

	if (address == 0)
		return _URC_END_OF_STACK;
	walk->frames[walk->count++] = (struct known_frame){address, walker.sp_of(context)};
	if (walk->wanted > 0 || !is_own(address))
		walk->wanted++;
	if (walk->count == FRAMES_MAX || walk->wanted == walker.count_max ||
	    is_in(&walker.loop, address))
		return _URC_END_OF_STACK;
	return _URC_NO_REASON;
}

/* Appends an address, unless it is of our own frames at the top. */
static void append(struct native_stack *stack, uint64_t address)
{
	if (stack->count < NATIVE_WALK_MAX && (stack->count > 0 || !is_own(address)))
		stack->words[stack->count++] = address;
}

/* Not inlined: its frame is where a walk begins. */
void __attribute__((noinline)) native_walk(struct native_stack *ret, uint64_t hint)
{
	uint64_t sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();
	uint64_t addresses[KNOWN_WALK_FRAMES];
	struct walk walk = {.count = 0};
	uint32_t count;

	hint ^= (uint64_t)(uintptr_t)__builtin_return_address(0);
	ret->count = 0;
	if (known_walks_find(sp, hint, addresses, &count)) {
		for (uint32_t i = 0; i < count; i++)
			append(ret, addresses[i]);
		return;
	}
	(void)walker.backtrace(on_frame, &walk);
	for (uint32_t i = 0; i < walk.count; i++)
		append(ret, walk.frames[i].address);
	if (walk.count > 1) /* our own frame has copies of all addresses */
		known_walks_add(sp, hint, walk.frames + 1, walk.count - 1);
}

bool native_walk_is_unwinder(uint64_t address)
{
	return is_in(&walker.unwinder, address);
}
