/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks.h"

#include "codes.h"
#include "hold.h"
#include "modules.h"

/* Frames of stacks that were asked for. */
static struct trace_array made[TABLE_COUNT] = {{.item_bytes = sizeof(PyObject *)},
					       {.item_bytes = sizeof(PyObject *)}};

static enum tracer_table_id table_of(uint32_t id)
{
	return id & TRACER_LOCKED_BIT ? TABLE_LOCKED : TABLE_GIL;
}

static const struct trace_sites *sites_of(uint32_t id)
{
	return &tracer.tables[table_of(id)].sites;
}

/* A stack, and a place in it. */
struct stack_view {
	uint32_t node;
	uint32_t calls;
	uint32_t native;
	uint32_t depth;
	uint32_t interpreter;
};

/* The table may move while it is locked by another thread: what is returned is a copy. */
static struct stack_view stack_at(uint32_t id)
{
	struct tracer_table *table = &tracer.tables[table_of(id)];
	struct trace_stack stack;
	struct trace_key key = {0};

	tracer_lock(table);
	stack = *trace_stack(&table->sites, id & ~TRACER_LOCKED_BIT);
	tracer_unlock(table);
	key.counts = stack.counts;
	return (struct stack_view){stack.node, trace_key_calls(&key), trace_key_native(&key),
				   trace_key_depth(&key), trace_key_interpreter(&key)};
}

/* Returns the frame at the place, and moves the place to the next one. */
static uint32_t next_frame(enum tracer_table_id id, struct stack_view *stack)
{
	struct tracer_table *table = &tracer.tables[id];
	struct trace_node node;

	tracer_lock(table);
	node = *trace_node(&table->sites.tree, stack->node);
	tracer_unlock(table);
	stack->node = node.parent;
	return node.frame;
}

static struct stack_view first_call(uint32_t id)
{
	struct stack_view stack = stack_at(id);

	for (uint32_t i = 0; i < stack.native; i++)
		(void)next_frame(table_of(id), &stack);
	return stack;
}

bool stacks_has_stack(uint32_t id)
{
	return (id & ~TRACER_LOCKED_BIT) < sites_of(id)->stack_count;
}

bool stacks_has_site(uint32_t id)
{
	return (id & ~TRACER_LOCKED_BIT) < sites_of(id)->site_count;
}

static PyObject *frame_object(PyObject *file, int line)
{
	if (!file || !PyUnicode_Check(file))
		return Py_BuildValue("(si)", "<unknown>", line < 0 ? 0 : line);
	return Py_BuildValue("(Oi)", file, line < 0 ? 0 : line);
}

static PyObject *make_frames(uint32_t id)
{
	struct stack_view stack = first_call(id);
	PyObject *frames = PyTuple_New(stack.calls > 0 ? stack.calls : 1);

	for (uint32_t i = 0; frames && i < (stack.calls > 0 ? stack.calls : 1); i++) {
		struct codes_call call = {0};
		PyObject *frame;

		if (stack.calls > 0)
			call = codes_call_at(table_of(id), next_frame(table_of(id), &stack));
		frame = frame_object(call.file, call.line);
		Py_XDECREF(call.file);
		Py_XDECREF(call.name);
		if (!frame)
			Py_CLEAR(frames);
		else
			PyTuple_SET_ITEM(frames, i, frame);
	}
	return frames;
}

PyObject *stacks_frames(uint32_t id)
{
	struct trace_array *cache = &made[table_of(id)];
	uint32_t number = id & ~TRACER_LOCKED_BIT;
	PyObject *frames;

	if (number < cache->capacity && ((PyObject **)cache->items)[number])
		frames = ((PyObject **)cache->items)[number];
	else {
		frames = make_frames(id);
		if (!frames)
			return NULL;
		if (trace_array_reserve(&tracer.memory, cache, (size_t)number + 1) < 0)
			return frames;
		((PyObject **)cache->items)[number] = frames;
	}
	Py_INCREF(frames);
	return frames;
}

void stacks_forget(void)
{
	for (int id = 0; id < TABLE_COUNT; id++) {
		struct trace_array cache = made[id];

		made[id] = (struct trace_array){.item_bytes = sizeof(PyObject *)};
		for (size_t i = 0; i < cache.capacity; i++)
			Py_XDECREF(((PyObject **)cache.items)[i]);
		trace_array_free(&tracer.memory, &cache);
	}
}

uint32_t stacks_depth(uint32_t id)
{
	return stack_at(id).depth;
}

uint32_t stacks_interpreter(uint32_t id)
{
	return stack_at(id).interpreter;
}

PyObject *stacks_names(uint32_t id)
{
	struct stack_view stack = first_call(id);
	PyObject *names = PyTuple_New(stack.calls);

	for (uint32_t i = 0; names && i < stack.calls; i++) {
		uint32_t frame = next_frame(table_of(id), &stack);
		struct codes_call call = codes_call_at(table_of(id), frame);

		Py_XDECREF(call.file);
		if (!call.name)
			Py_INCREF(Py_None);
		PyTuple_SET_ITEM(names, i, call.name ? call.name : Py_None);
	}
	return names;
}

static uint64_t word_of(enum tracer_table_id id, uint32_t frame)
{
	struct tracer_table *table = &tracer.tables[id];
	uint64_t word;

	tracer_lock(table);
	word = trace_frame(&table->sites.tree, frame)->word;
	tracer_unlock(table);
	return word;
}

PyObject *stacks_native(uint32_t id)
{
	struct stack_view stack = stack_at(id);
	PyObject *addresses = PyTuple_New(stack.native);

	for (uint32_t i = 0; addresses && i < stack.native; i++) {
		PyObject *address = PyLong_FromUnsignedLongLong(
			word_of(table_of(id), next_frame(table_of(id), &stack)));

		if (!address)
			Py_CLEAR(addresses);
		else
			PyTuple_SET_ITEM(addresses, i, address);
	}
	return addresses;
}

PyObject *stacks_native_places(uint32_t id)
{
	struct stack_view stack = stack_at(id);
	PyObject *places = PyTuple_New(stack.native);

	for (uint32_t i = 0; places && i < stack.native; i++) {
		PyObject *place = modules_place(table_of(id), next_frame(table_of(id), &stack));

		if (!place)
			Py_CLEAR(places);
		else
			PyTuple_SET_ITEM(places, i, place);
	}
	return places;
}

/* A copy: another thread may move the table. */
struct trace_site stacks_site(uint32_t id)
{
	struct tracer_table *table = &tracer.tables[table_of(id)];
	struct trace_site site;

	tracer_lock(table);
	site = *trace_site(&table->sites, id & ~TRACER_LOCKED_BIT);
	tracer_unlock(table);
	return site;
}

uint32_t stacks_of_site(uint32_t id)
{
	return stacks_site(id).stack | (id & TRACER_LOCKED_BIT);
}

/* The site of a block, with the table's bit; TRACE_NONE: not known. */
static uint32_t site_of_block(uint32_t domain, uint64_t address)
{
	struct tracer_table *locked = &tracer.tables[TABLE_LOCKED];
	const struct tracked_block *tracked;
	struct trace_block block;
	uint32_t site = TRACE_NONE;

	tracer_lock(locked);
	tracked = tracked_blocks_find(&tracer.tracked, domain, address);
	if (tracked)
		site = (tracked->site - 1) | TRACER_LOCKED_BIT;
	else if (trace_blocks_get(&locked->blocks, address, &block) &&
		 trace_site_domain(trace_site(&locked->sites, block.site)) == domain)
		site = block.site | TRACER_LOCKED_BIT;
	tracer_unlock(locked);
	if (site == TRACE_NONE && domain == 0) {
		tracer_lock(&tracer.tables[TABLE_GIL]);
		if (trace_blocks_get(&tracer.tables[TABLE_GIL].blocks, address, &block))
			site = block.site;
		tracer_unlock(&tracer.tables[TABLE_GIL]);
	}
	return site;
}

uint32_t stacks_of_block(uint32_t domain, uint64_t address)
{
	uint32_t site = site_of_block(domain, address);

	return site == TRACE_NONE ? TRACE_NONE : stacks_of_site(site);
}

PyObject *stacks_traceback_of_block(uint32_t domain, uint64_t address)
{
	uint32_t stack = stacks_of_block(domain, address);
	PyObject *frames;
	PyObject *hold;

	if (stack == TRACE_NONE)
		Py_RETURN_NONE;
	hold = hold_get(); /* making tuples may run code of the program, which may drop all stacks
			    */
	if (!hold)
		return NULL;
	frames = stacks_frames(stack);
	Py_DECREF(hold);
	return frames;
}
