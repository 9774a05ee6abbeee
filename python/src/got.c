/* SPDX-License-Identifier: BSD-2-Clause */
#include "got.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/relocation.h"
#include "c_blocks.h"

#define CALLER() ((uint64_t)(uintptr_t)__builtin_return_address(0))

static void *hooked_malloc(size_t size)
{
	void *block = malloc(size);
	uint64_t caller = CALLER();

	c_blocks_allocated(block, size, caller);
	return block;
}

static void *hooked_calloc(size_t count, size_t size)
{
	void *block = calloc(count, size);
	uint64_t caller = CALLER();

	c_blocks_allocated(block, count * size, caller);
	return block;
}

static void *resize(void *old, size_t size, uint64_t caller)
{
	void *block;

	c_blocks_moving(old);
	block = realloc(old, size);
	if (block)
		c_blocks_allocated(block, size, caller);
	else if (size > 0)
		c_blocks_stayed(old);
	return block;
}

static void *hooked_realloc(void *old, size_t size)
{
	return resize(old, size, CALLER());
}

static void *hooked_reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(old, bytes, CALLER());
}

static void hooked_free(void *block)
{
	c_blocks_freeing(block);
	free(block);
}

static int hooked_posix_memalign(void **ret, size_t alignment, size_t size)
{
	int r = posix_memalign(ret, alignment, size);
	uint64_t caller = CALLER();

	if (r == 0)
		c_blocks_allocated(*ret, size, caller);
	return r;
}

static void *hooked_aligned_alloc(size_t alignment, size_t size)
{
	void *block = aligned_alloc(alignment, size);
	uint64_t caller = CALLER();

	c_blocks_allocated(block, size, caller);
	return block;
}

static void *hooked_memalign(size_t alignment, size_t size)
{
	void *block = memalign(alignment, size);
	uint64_t caller = CALLER();

	c_blocks_allocated(block, size, caller);
	return block;
}

static void *hooked_valloc(size_t size)
{
	void *block = valloc(size);
	uint64_t caller = CALLER();

	c_blocks_allocated(block, size, caller);
	return block;
}

#define HOOK(name)                                                                                 \
	{                                                                                          \
#name, (uint64_t)(uintptr_t)hooked_##name, 0                                       \
	}

static struct hook {
	const char *name;
	uint64_t ours;
	uint64_t real; /* what all modules share */
} hooks[] = {
	HOOK(malloc),         HOOK(calloc),        HOOK(realloc),  HOOK(reallocarray), HOOK(free),
	HOOK(posix_memalign), HOOK(aligned_alloc), HOOK(memalign), HOOK(valloc),
};

/* How often to look again at a module that was still being loaded. */
#define TRIES 16

#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

/* A module, and what is done to it. */
struct module {
	uint64_t base;
	uint64_t code_low; /* where its code is */
	uint64_t code_high;
	uint64_t fixed_low; /* what the linker made read-only */
	uint64_t fixed_high;
	const ElfW(Dyn) * dynamic;
	const ElfW(Sym) * symbols;
	const char *names;
	bool unhooks;
	bool is_writable; /* fixed_low to fixed_high, for now */
	bool is_loading;  /* the linker has not filled in an entry yet */
	int count;
};

/* Some linkers relocate the addresses in the dynamic section, others do not. */
static uint64_t relocated(const struct module *module, uint64_t value)
{
	return value < module->base ? module->base + value : value;
}

static const struct hook *hook_of(const char *name)
{
	for (size_t i = 0; i < HOOKS; i++)
		if (strcmp(hooks[i].name, name) == 0)
			return &hooks[i];
	return NULL;
}

static bool make_writable(struct module *module, uint64_t place)
{
	if (place < module->fixed_low || place >= module->fixed_high || module->is_writable)
		return true;
	module->is_writable =
		mprotect((void *)(uintptr_t)module->fixed_low,
			 module->fixed_high - module->fixed_low, PROT_READ | PROT_WRITE) == 0;
	return module->is_writable;
}

/* Whether an entry leads to the shared function, or to the linker that will look it up. */
static bool leads_there(const struct module *module, const ElfW(Sym) * symbol,
			const struct hook *hook, uint64_t value)
{
	return value == hook->real || (symbol->st_shndx == SHN_UNDEF && value >= module->code_low &&
				       value < module->code_high);
}

static void change_entry(struct module *module, const ElfW(Rela) * relocation)
{
	const ElfW(Sym) *symbol = &module->symbols[ELF64_R_SYM(relocation->r_info)];
	uint32_t type = ELF64_R_TYPE(relocation->r_info);
	uint64_t place = module->base + relocation->r_offset;
	_Atomic uint64_t *entry = (_Atomic uint64_t *)(uintptr_t)place;
	const struct hook *hook;
	uint64_t value;

	if ((type != RELOCATION_CALL && type != RELOCATION_ADDRESS) || place % sizeof(value) != 0)
		return;
	hook = hook_of(module->names + symbol->st_name);
	if (!hook || hook->real == 0)
		return;
	value = atomic_load_explicit(entry, memory_order_relaxed);
	if (module->unhooks ? value != hook->ours : !leads_there(module, symbol, hook, value)) {
		module->count += !module->unhooks && value == hook->ours;
		/* Still as in the file: an address that is not relocated, or 0. */
		module->is_loading |= value < module->code_high - module->base;
		return;
	}
	if (!make_writable(module, place))
		return;
	atomic_store(entry, module->unhooks ? hook->real : hook->ours);
	module->count++;
}

static void change_entries(struct module *module, uint64_t start, uint64_t bytes)
{
	const ElfW(Rela) *relocations = (const ElfW(Rela) *)(uintptr_t)relocated(module, start);

	for (uint64_t i = 0; start != 0 && i < bytes / sizeof(*relocations); i++)
		change_entry(module, &relocations[i]);
}

static void change_module(struct module *module)
{
	uint64_t values[DT_JMPREL + 1] = {0};

	for (const ElfW(Dyn) *entry = module->dynamic; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag > 0 && entry->d_tag <= DT_JMPREL)
			values[entry->d_tag] = entry->d_un.d_val;
	if (values[DT_SYMTAB] == 0 || values[DT_STRTAB] == 0)
		return;
	module->symbols = (const ElfW(Sym) *)(uintptr_t)relocated(module, values[DT_SYMTAB]);
	module->names = (const char *)(uintptr_t)relocated(module, values[DT_STRTAB]);
	change_entries(module, values[DT_RELA], values[DT_RELASZ]);
	if (values[DT_PLTREL] == DT_RELA)
		change_entries(module, values[DT_JMPREL], values[DT_PLTRELSZ]);
	/* A module that is hooked may still be being loaded: the linker writes there too. */
	if (module->unhooks && module->is_writable) /* if out of memory, it stays writable */
		(void)mprotect((void *)(uintptr_t)module->fixed_low,
			       module->fixed_high - module->fixed_low, PROT_READ);
}

static void note_segment(struct module *module, const ElfW(Phdr) * header, uint64_t page_bytes)
{
	uint64_t low = module->base + header->p_vaddr;
	uint64_t high = low + header->p_memsz;

	if (header->p_type == PT_DYNAMIC)
		module->dynamic = (const ElfW(Dyn) *)(uintptr_t)low;
	if (header->p_type == PT_GNU_RELRO) {
		module->fixed_low = low / page_bytes * page_bytes;
		module->fixed_high = high / page_bytes * page_bytes;
	}
	if (header->p_type == PT_LOAD && (header->p_flags & PF_X)) {
		module->code_low = low;
		module->code_high = high;
	}
}

static atomic_bool is_unfinished; /* a module was being loaded */
static atomic_int tries_left;     /* for an entry that is never filled in */
static atomic_bool is_on;         /* no other thread may hook after got_unhook() */

struct change {
	bool unhooks;
	bool are_loading; /* some modules */
	int count;
};

/* The linker's list is locked: nothing is unloaded, and no other thread is here meanwhile. */
static int look_at_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct change *change = data;
	struct module module = {.base = info->dlpi_addr, .unhooks = change->unhooks};
	uint64_t own = (uint64_t)(uintptr_t)got_hook;
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)size;
	for (uint32_t i = 0; i < info->dlpi_phnum; i++)
		note_segment(&module, &info->dlpi_phdr[i], page_bytes);
	/* The kernel's own module has a dynamic section that nobody relocated, and no calls. */
	if (atomic_load(&is_on) == change->unhooks || !module.dynamic ||
	    (own >= module.code_low && own < module.code_high) ||
	    (info->dlpi_name && strstr(info->dlpi_name, "linux-vdso")))
		return 0;
	change_module(&module);
	change->count += module.count;
	change->are_loading |= module.is_loading;
	return 0;
}

static int change_all(bool unhooks)
{
	struct change change = {.unhooks = unhooks};

	(void)dl_iterate_phdr(look_at_module, &change);
	atomic_store(&is_unfinished, change.are_loading && !unhooks);
	return change.count;
}

/*
 * The function that modules share. In a program that is not position independent, its name may
 * stand for a stub of the program, which leads there.
 */
static uint64_t find_shared(const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);
	const ElfW(Sym) *symbol = NULL;
	void *library;
	Dl_info info;

	if (!function || !dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT))
		return 0;
	if (symbol && symbol->st_shndx != SHN_UNDEF)
		return (uint64_t)(uintptr_t)function;
	library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	function = library ? dlsym(library, name) : NULL;
	if (library)
		dlclose(library); /* it stays: all use it */
	return (uint64_t)(uintptr_t)function;
}

int got_hook(void)
{
	for (size_t i = 0; i < HOOKS; i++)
		hooks[i].real = find_shared(hooks[i].name);
	atomic_store(&is_on, true);
	return change_all(false);
}

void got_hook_new_modules(bool are_new)
{
	if (are_new)
		atomic_store(&tries_left, TRIES);
	else if (!atomic_load_explicit(&is_unfinished, memory_order_relaxed) ||
		 atomic_load_explicit(&tries_left, memory_order_relaxed) <= 0)
		return;
	atomic_fetch_sub(&tries_left, 1);
	(void)change_all(false);
}

void got_unhook(void)
{
	atomic_store(&is_on, false);
	(void)change_all(true);
}
