/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/heap/hook.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "preload/heap/heap.h"
#include "preload/heap/hook_stub.h"
#include "safe/syscall.h"

/* Stubs are allocated in aligned pieces of this size: pages may be as large. */
#define PIECE_BYTES 65536u
#define PIECE_STUBS SESSION_HOOKS
#define TRIES 4096u

struct hook {
	uint64_t original;         /* the function without the jump */
	uint64_t function;         /* its address; 0: not hooked */
	struct session_hook found; /* a copy, because shared data may change */
};

static struct hook hooks[SESSION_HOOKS];
bool hooks_any;

/* Memory for stubs. */
static uint64_t piece;
static uint32_t piece_used;

/* Changes read-only code. */
static bool write_code(uint64_t address, const uint8_t *bytes, uint64_t count)
{
	long fd = safe_syscall(SYS_openat, AT_FDCWD, SAFE_POINTER("/proc/self/mem"),
			       O_WRONLY | O_CLOEXEC, 0);
	long r;

	if (fd < 0)
		return false;
	r = safe_syscall(SYS_pwrite64, fd, SAFE_POINTER(bytes), (long)count, (long)address);
	(void)safe_syscall(SYS_close, fd);
	__builtin___clear_cache((char *)address, (char *)address + count);
	return r == (long)count;
}

static bool is_near(uint64_t one, uint64_t other)
{
	return (one > other ? one - other : other - one) < ARCH_HOOK_REACH;
}

/* Maps memory at an address if it is free. */
static bool take_piece(uint64_t at)
{
	long r = safe_syscall(SYS_mmap, (long)at, PIECE_STUBS * HOOK_STUB_BYTES,
			      PROT_READ | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (r == (long)at) {
		piece = at;
		piece_used = 0;
		return true;
	}
	/* A kernel without the flag treats the address as a hint. */
	if (r > 0)
		(void)safe_syscall(SYS_munmap, r, PIECE_STUBS * HOOK_STUB_BYTES);
	return false;
}

/* Finds the next free memory from an address, in steps up or down. */
static bool find_piece(uint64_t from, int64_t step)
{
	uint64_t at = from & ~(uint64_t)(PIECE_BYTES - 1);

	for (uint32_t i = 0; i < TRIES && at > 2ull * PIECE_BYTES; i++) {
		at += (uint64_t)step;
		if (!is_near(at, from))
			return false;
		if (take_piece(at))
			return true;
	}
	return false;
}

/* A loaded module, as reported by the C library. */
struct module {
	const struct dl_phdr_info *info;
	bool is_program;
	uint64_t begin;
	uint64_t end;
	uint64_t device;
	uint64_t inode;
};

static bool holds_code(const struct module *module, uint64_t vaddr, uint64_t bytes)
{
	for (uint32_t i = 0; i < module->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &module->info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && (part->p_flags & (PF_X | PF_R)) == (PF_X | PF_R) &&
		    vaddr >= part->p_vaddr && vaddr - part->p_vaddr < part->p_filesz &&
		    bytes <= part->p_filesz - (vaddr - part->p_vaddr))
			return true;
	}
	return false;
}

static bool is_same_code(uint64_t function, const struct session_hook *hook)
{
	const uint8_t *there = (const uint8_t *)(uintptr_t)function;
	uint32_t at = 0;

	while (at < (uint32_t)hook->offset + hook->moved && there[at] == hook->code[at])
		at++;
	return at == (uint32_t)hook->offset + hook->moved;
}

/* Above the program its heap grows; below libraries are our own mappings. */
static bool find_piece_for(const struct module *module)
{
	return (!module->is_program && find_piece(module->end, PIECE_BYTES)) ||
	       find_piece(module->begin, -(int64_t)PIECE_BYTES);
}

static enum session_hook_state set(struct hook *hook, uint32_t index, const struct module *module)
{
	const struct session_hook *found = &hook->found;
	uint64_t function = module->info->dlpi_addr + found->vaddr;
	struct hook_place place = {
		.function = function, .gate = (uint64_t)(uintptr_t)hook_gate, .index = index};
	struct hook_stub stub;

	if (!holds_code(module, found->vaddr, (uint64_t)found->offset + found->moved) ||
	    !is_same_code(function, found))
		return SESSION_HOOK_DIFFERS;
	if ((!piece || piece_used == PIECE_STUBS || !is_near(piece, function)) &&
	    !find_piece_for(module))
		return SESSION_HOOK_NO_ROOM;
	place.stub = piece + (uint64_t)piece_used * HOOK_STUB_BYTES;
	if (!is_near(place.stub, function))
		return SESSION_HOOK_NO_ROOM;
	hook_stub_make(ARCH_HOOK_CPU, found, &place, &stub);
	if (!write_code(place.stub, stub.code, sizeof(stub.code)))
		return SESSION_HOOK_REFUSED;
	piece_used++;
	hook->original = place.stub + HOOK_STUB_ORIGINAL;
	hooks_any = true;
	if (!write_code(function + found->offset, stub.patch, stub.patch_bytes))
		return SESSION_HOOK_REFUSED;
	hook->function = function;
	return SESSION_HOOK_SET;
}

/* The file of a module. The program itself has no name here. */
static bool identify(struct module *module)
{
	const char *name = module->info->dlpi_name;
	struct stat status;

	module->is_program = !name || !name[0];
	if (module->is_program)
		name = "/proc/self/exe";
	if (safe_syscall(SYS_newfstatat, AT_FDCWD, SAFE_POINTER(name), SAFE_POINTER(&status), 0) <
	    0)
		return false;
	module->device = status.st_dev;
	module->inode = status.st_ino;
	return true;
}

static void find_bounds(struct module *module)
{
	module->begin = UINT64_MAX;
	for (uint32_t i = 0; i < module->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &module->info->dlpi_phdr[i];
		uint64_t begin = module->info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		if (begin < module->begin)
			module->begin = begin;
		if (begin + part->p_memsz > module->end)
			module->end = begin + part->p_memsz;
	}
}

static int look_at(struct dl_phdr_info *info, size_t size, void *self)
{
	uint32_t *met = self; /* bits of hooks whose module is loaded */
	struct module module = {.info = info};

	(void)size;
	if (!identify(&module))
		return 0;
	find_bounds(&module);
	for (uint32_t i = 0; i < preload.control->hook_count; i++) {
		struct hook *hook = &hooks[i];

		if (hook->found.device != module.device || hook->found.inode != module.inode)
			continue;
		*met |= 1u << i;
		if (!hook->function &&
		    atomic_load(&preload.process->hook_states[i]) <= SESSION_HOOK_SET)
			atomic_store(&preload.process->hook_states[i], set(hook, i, &module));
	}
	return 0;
}

/* Copies the shared data once, if it is valid. */
static bool take_over(void)
{
	for (uint32_t i = 0; i < preload.control->hook_count; i++) {
		hooks[i].found = preload.control->hooks[i];
		if (hooks[i].found.argument >= HOOK_ARGUMENTS ||
		    (uint32_t)hooks[i].found.offset + hooks[i].found.moved > SESSION_HOOK_CODE ||
		    (hooks[i].found.factor != SESSION_HOOK_NONE &&
		     hooks[i].found.factor >= HOOK_ARGUMENTS))
			return false;
	}
	return true;
}

/* Hooks of an unloaded module are gone: it may be loaded again, elsewhere, without the jump. */
static void forget(uint32_t gone)
{
	for (uint32_t i = 0; i < SESSION_HOOKS; i++)
		if (gone & 1u << i)
			hooks[i].function = 0;
}

void hooks_set(void)
{
	uint32_t count = preload.control->hook_count;
	uint32_t before = 0;
	uint32_t met = 0;

	if (count == 0 || count > SESSION_HOOKS || (!hooks_any && !take_over()))
		return;
	/* The loader lets in one thread at a time, but others may come before and after. */
	for (uint32_t i = 0; i < count; i++)
		if (hooks[i].function)
			before |= 1u << i;
	(void)dl_iterate_phdr(look_at, &met);
	forget(before & ~met);
}

void hooks_tell(void)
{
	for (uint32_t i = 0; i < SESSION_HOOKS; i++)
		if (hooks[i].function)
			atomic_store(&preload.process->hook_states[i], SESSION_HOOK_SET);
}

static struct heap_site site_of(uint64_t frame)
{
	return (struct heap_site){
		.pc = ((const uint64_t *)(uintptr_t)frame)[1],
		.sp = frame + HOOK_FRAME_BYTES,
		.frame = frame,
	};
}

/* Whether the thread is already in a hooked function, and has not left it by longjmp. */
static bool is_nested(const struct preload_thread *thread, uint64_t frame)
{
	return thread->hooked > frame &&
	       nested_is_within(thread, (struct nested_call){thread->hooked, thread->hooked_word},
				frame);
}

static uint64_t size_of(const struct session_hook *hook, const uint64_t *arguments)
{
	uint64_t size = arguments[hook->argument];

	return hook->factor == SESSION_HOOK_NONE ? size : size * arguments[hook->factor];
}

static void freed(const void *block, uint64_t frame)
{
	struct heap_site site = site_of(frame);
	struct preload_thread *thread = heap_skips_free(block) ? NULL : heap_enter(&site);

	heap_freed_at(thread, &site, SESSION_POOL, block);
	heap_leave(thread);
}

bool hook_before(struct hook_call *call, uint64_t frame)
{
	const struct hook *hook = &hooks[call->index];
	struct preload_thread *thread = preload_self;

	call->target = hook->original;
	if (atomic_load_explicit(&heap_is_on, memory_order_relaxed) <= HEAP_OFF)
		return false;
	if (!thread) {
		preload_count(SESSION_HEAP_MISSED, 1);
		return false;
	}
	if (is_nested(thread, frame))
		return false;
	thread->hooked = frame;
	thread->hooked_word = nested_word(frame);
	call->size = size_of(&hook->found, call->arguments);
	if (hook->found.is_free)
		freed((const void *)(uintptr_t)call->size, frame);
	return true;
}

void hook_after(struct hook_call *call, uint64_t frame)
{
	struct preload_thread *thread = preload_self;

	if (!hooks[call->index].found.is_free) {
		struct heap_site site = site_of(frame);
		struct preload_thread *writer = heap_skips(call->size) ? NULL : heap_enter(&site);

		heap_allocated(writer, &site, SESSION_POOL, (const void *)(uintptr_t)call->result,
			       call->size);
		heap_leave(writer);
	}
	if (thread)
		thread->hooked = 0;
}
