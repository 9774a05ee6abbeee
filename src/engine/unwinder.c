/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/unwinder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "cfi/cache.h"
#include "model/entity.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "proc/remote_memory.h"
#include "process_stacks/module_tables.h"
#include "process_stacks/registers.h"
#include "unwind/arch/native.h"

/* Assumed size of an unknown stack: the usual limit. */
#define STACK_BYTES (8u << 20)

struct unwinder {
	struct module_files *files;
	struct module_tables *tables;
	VEC(struct module) modules; /* without paths; the index is the id for the tables */
};

/* An executable region. */
struct code_region {
	struct unwind_module module;
	const struct map_region *region; /* of the process's maps */
	bool tried;                      /* its table has been searched for */
};

struct unwinder_process {
	struct unwinder *unwinder;
	pid_t pid;
	struct maps maps;
	VEC(struct code_region) code;
	struct remote_memory memory;
	const struct stack_copy *copy; /* while one is walked */
	bool without_tables;
};

static void scope_release_process(struct unwinder_process **process)
{
	unwinder_process_close(*process);
}

struct unwinder *unwinder_new(void)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->files = module_files_new();
	unwinder->tables = unwinder->files ? module_tables_new(unwinder->files, false) : NULL;
	if (!unwinder->tables) {
		unwinder_free(unwinder);
		return NULL;
	}
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	module_tables_free(unwinder->tables);
	module_files_free(unwinder->files);
	vec_fini(&unwinder->modules);
	free(unwinder);
}

static bool is_same_file(const struct module *a, const struct module *b)
{
	/* A build id alone proves nothing: anybody can write it into a file. */
	return a->kind == b->kind && build_id_equal(&a->build_id, &b->build_id) &&
	       a->device == b->device && a->inode == b->inode && a->mtime_ns == b->mtime_ns &&
	       a->size_bytes == b->size_bytes;
}

/* The number of a file among those seen; ID_NONE: out of memory. */
static uint32_t module_id(struct unwinder *unwinder, const struct module *module)
{
	struct module identity = *module;

	for (size_t i = 0; i < unwinder->modules.count; i++)
		if (is_same_file(&unwinder->modules.items[i], module))
			return (uint32_t)i;
	identity.path = NULL; /* it belongs to the region */
	if (vec_push(&unwinder->modules, identity) < 0)
		return ID_NONE;
	return (uint32_t)unwinder->modules.count - 1;
}

/* Loads the table of a region that a walk has reached. */
static void load_region(struct unwinder_process *process, struct code_region *code)
{
	struct unwinder *unwinder = process->unwinder;
	struct module_table table;
	struct module_place place;
	uint32_t id;

	code->tried = true;
	if (module_files_identify(unwinder->files, process->pid, code->region, &place) < 0)
		return;
	code->module.bias = place.bias;
	if (place.module.kind != MODULE_FILE && place.module.kind != MODULE_VDSO)
		return;
	id = module_id(unwinder, &place.module);
	if (id == ID_NONE)
		return;
	module_tables_get(unwinder->tables, id, process->pid, code->region, NULL, &table);
	code->module.table = table.table;
	code->module.pages = table.pages;
}

int unwinder_process_refresh(struct unwinder_process *process, struct error *err)
{
	struct maps maps = {0};
	VEC(struct code_region) code = {0};
	int r;

	r = maps_read(&maps, process->pid, 0, err);
	for (size_t i = 0; r == 0 && i < maps.count; i++) {
		const struct map_region *region = &maps.items[i];

		if (region->protection & REGION_EXEC)
			r = vec_push(&code, (struct code_region){
						    .module = {.start = region->start,
							       .end = region->end,
							       .bias = region->start},
						    .region = region,
					    });
	}
	if (r < 0) {
		maps_fini(&maps);
		vec_fini(&code);
		return r;
	}
	maps_fini(&process->maps);
	vec_fini(&process->code);
	process->maps = maps;
	process->code.items = code.items;
	process->code.count = code.count;
	process->code.capacity = code.capacity;
	return 0;
}

int unwinder_process_open(struct unwinder *unwinder, pid_t pid, struct unwinder_process **ret,
			  struct error *err)
{
	SCOPED(process) struct unwinder_process *process = calloc(1, sizeof(*process));

	if (!process)
		return error_set(err, -ENOMEM, "out of memory");
	process->unwinder = unwinder;
	process->pid = pid;
	remote_memory_init(&process->memory, pid);
	int r = unwinder_process_refresh(process, err);
	if (r < 0)
		return r;
	*ret = scope_take(&process);
	return 0;
}

void unwinder_process_close(struct unwinder_process *process)
{
	if (!process)
		return;
	remote_memory_fini(&process->memory);
	maps_fini(&process->maps);
	vec_fini(&process->code);
	free(process);
}

bool unwinder_process_prepare(struct unwinder_process *process, uint64_t until_ns)
{
	for (size_t i = 0; i < process->code.count && !process->without_tables; i++) {
		if (process->code.items[i].tried)
			continue;
		if (clock_monotonic_ns() >= until_ns)
			return false;
		load_region(process, &process->code.items[i]);
	}
	return true;
}

void unwinder_process_without_tables(struct unwinder_process *process)
{
	process->without_tables = true;
	for (size_t i = 0; i < process->code.count; i++)
		process->code.items[i].module.table = NULL;
}

static const struct unwind_module *find_module(void *context, uint64_t pc)
{
	struct unwinder_process *process = context;
	size_t low = 0;
	size_t high = process->code.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct code_region *code = &process->code.items[middle];

		if (pc < code->module.start) {
			high = middle;
		} else if (pc >= code->module.end) {
			low = middle + 1;
		} else {
			if (!code->tried && !process->without_tables)
				load_region(process, code);
			return &code->module;
		}
	}
	return NULL;
}

static bool read_remote(void *context, uint64_t address, uint64_t *ret)
{
	struct unwinder_process *process = context;

	return remote_memory_read(&process->memory, address, ret);
}

static bool read_copy(void *context, uint64_t address, uint64_t *ret)
{
	const struct unwinder_process *process = context;
	const struct stack_copy *copy = process->copy;
	uint64_t offset = address - copy->registers->values[UNWIND_NATIVE.sp_register];

	if (offset > copy->size_bytes || copy->size_bytes - offset < sizeof(*ret))
		return false;
	memcpy(ret, (const char *)copy->bytes + offset, sizeof(*ret));
	return true;
}

/*
 * The mapping that contains sp. The stack of the main thread grows: the space below its mapping,
 * down to the next one, belongs to it too.
 */
static bool find_stack(void *context, uint64_t sp, struct unwind_stack *ret)
{
	const struct unwinder_process *process = context;
	const struct map_region *region = maps_find(&process->maps, sp);

	for (size_t i = 1; !region && i < process->maps.count; i++)
		if (strcmp(process->maps.items[i].path, "[stack]") == 0 &&
		    sp < process->maps.items[i].start && sp >= process->maps.items[i - 1].end)
			region = &process->maps.items[i];
	if (!region)
		return false;
	*ret = (struct unwind_stack){region->start < sp ? region->start : sp, region->end};
	return true;
}

static struct unwind_space make_space(struct unwinder_process *process)
{
	return (struct unwind_space){
		.limits = {.arch = &UNWIND_NATIVE,
			   .pac_mask = UNWIND_NATIVE.lr_register < UNWIND_REGISTERS
					       ? UNWIND_PAC_MASK
					       : 0},
		.reader = {.read = read_remote,
			   .read_code = read_remote,
			   .find_stack = find_stack,
			   .context = process},
		.find = find_module,
	};
}

int unwinder_walk_thread(struct unwinder_process *process, pid_t tid, struct unwind_trace *trace)
{
	struct unwind_space space = make_space(process);
	struct registers registers;
	struct unwind_frame frame;
	bool known;
	int r;

	r = registers_of_thread(tid, &registers);
	if (r < 0)
		return r;
	unwind_frame_init(&frame, &UNWIND_NATIVE, registers.values, registers.pc);
	/* It is unknown which of its stacks a thread is on: see unwind_signal(). */
	known = find_stack(process, frame.sp, &space.limits.alternate);
	if (!known) /* that of a new thread; the walk ends at unreadable memory */
		space.limits.alternate = (struct unwind_stack){frame.sp, frame.sp + STACK_BYTES};
	process->memory.pid =
		tid; /* the main thread may have ended; then its memory cannot be read */
	remote_memory_window(&process->memory, frame.sp, space.limits.alternate.high);
	unwind_walk(&space, &frame, trace);
	return known ? 0 : 1;
}

void unwinder_walk_copy(struct unwinder_process *process, const struct stack_copy *copy,
			struct unwind_trace *trace)
{
	struct unwind_space space = make_space(process);
	struct unwind_frame frame;

	unwind_frame_init(&frame, &UNWIND_NATIVE, copy->registers->values, copy->registers->pc);
	/* The copy may or may not be the whole stack, so its end is not the end of the stack. */
	space.limits.stack.low = frame.sp;
	space.limits.stack.high = UINT64_MAX;
	space.reader.read = read_copy;
	space.reader.find_stack = NULL;
	process->copy = copy;
	remote_memory_window(&process->memory, 0, 0);
	unwind_walk(&space, &frame, trace);
	process->copy = NULL;
}
