/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/walk.h"

#include "unwind/step.h"

uint32_t unwind_pages_count(const struct unwind_table *table)
{
	if (table->row_count == 0)
		return 0;
	return (table->rows[table->row_count - 1].pc >> UNWIND_PAGE_SHIFT) + 2;
}

void unwind_pages_fill(const struct unwind_table *table, uint32_t *pages)
{
	uint32_t count = unwind_pages_count(table);
	uint32_t row = 0;

	for (uint32_t page = 0; page < count; page++) {
		uint64_t start = (uint64_t)page << UNWIND_PAGE_SHIFT;

		while (row + 1 < table->row_count && table->rows[row + 1].pc <= start)
			row++;
		pages[page] = row;
	}
}

/* The reader that the step uses: the space's own, with code as defined by the modules. */
static bool space_read(void *context, uint64_t address, uint64_t *ret)
{
	const struct unwind_space *space = context;

	return space->reader.read(space->reader.context, address, ret);
}

static bool space_read_code(void *context, uint64_t address, uint64_t *ret)
{
	const struct unwind_space *space = context;

	return space->reader.read_code &&
	       space->reader.read_code(space->reader.context, address, ret);
}

static bool space_read_call(void *context, uint64_t address, uint64_t *ret)
{
	const struct unwind_space *space = context;

	if (space->reader.read_call)
		return space->reader.read_call(space->reader.context, address, ret);
	return space_read_code(context, address, ret);
}

static const struct unwind_module *space_find(const struct unwind_space *space, uint64_t pc)
{
	if (space->find)
		return space->find(space->reader.context, pc);
	return unwind_module_find(space->modules, space->module_count, pc);
}

static bool space_find_stack(void *context, uint64_t sp, struct unwind_stack *ret)
{
	const struct unwind_space *space = context;

	return space->reader.find_stack && space->reader.find_stack(space->reader.context, sp, ret);
}

static bool space_is_code(void *context, uint64_t address)
{
	const struct unwind_space *space = context;

	return space->unknown_code || space_find(space, address);
}

void unwind_walk(const struct unwind_space *space, const struct unwind_frame *start,
		 struct unwind_trace *trace)
{
	const struct unwind_reader reader = {
		.read = space_read,
		.read_code = space_read_code,
		.read_call = space_read_call,
		.is_code = space_is_code,
		.find_stack = space_find_stack,
		.context = __extension__(void *)(uintptr_t) space,
	};
	struct unwind_frame frame = *start;
	enum unwind_end end = UNWIND_GOING;

	trace->count = 0;
	trace->guessed = 0;
	if (trace->capacity > 0)
		trace->pcs[trace->count++] = frame.pc;
	end = unwind_begin(&space->limits, &frame);
	while (end == UNWIND_GOING) {
		uint64_t pc = unwind_lookup_pc(&frame);
		bool was_exact = frame.exact;
		uint64_t stored;
		const struct unwind_module *module = space_find(space, pc);

		end = unwind_step(&space->limits, &reader,
				  module ? unwind_module_rule(module, pc) : NULL, &frame, NULL);
		trace->guessed += frame.guessed;
		if (end != UNWIND_GOING)
			break;
		if (!space_is_code(reader.context, unwind_lookup_pc(&frame))) {
			end = UNWIND_BAD_ADDRESS;
			break;
		}
		stored = unwind_trace_pc(&frame, was_exact, trace->pcs, trace->count);
		if (trace->count == trace->capacity)
			end = UNWIND_DEPTH;
		else
			trace->pcs[trace->count++] = stored;
	}
	trace->end = end;
}

void unwind_frame_init(struct unwind_frame *frame, const struct unwind_arch *arch,
		       const uint64_t *registers, uint64_t pc)
{
	*frame = (struct unwind_frame){
		.pc = pc,
		.sp = registers[arch->sp_register],
		.fp = registers[arch->fp_register],
		.exact = true,
		.registers = registers,
	};
	if (arch->lr_register < UNWIND_REGISTERS) {
		frame->lr = registers[arch->lr_register];
		frame->lr_valid = true;
	}
}

const char *unwind_end_name(enum unwind_end end)
{
	static const char *const names[UNWIND_ENDS] = {
		[UNWIND_GOING] = "going",
		[UNWIND_ROOT] = "root",
		[UNWIND_DEPTH] = "depth limit",
		[UNWIND_NO_RULE] = "no rule",
		[UNWIND_UNREADABLE] = "unreadable memory",
		[UNWIND_NO_PROGRESS] = "no progress",
		[UNWIND_BAD_ADDRESS] = "bad return address",
	};

	return (unsigned int)end < UNWIND_ENDS ? names[end] : "unknown";
}
