/* SPDX-License-Identifier: BSD-2-Clause */
#include "codes.h"

#include <errno.h>

#define NO_WORD UINT32_MAX
/* In a link: the word is a line number now. */
#define RESOLVED_BIT 0x80000000u
#define INTERPRETERS_MAX 64

struct code {
	PyCodeObject *object; /* NULL: it has ended; borrowed */
	PyObject *file;       /* set when it has ended */
	PyObject *name;
	uint32_t first[TABLE_COUNT]; /* the newest word of it; + 1 */
};

static struct {
	struct trace_array codes;
	uint32_t count;
	struct trace_index index;
	/* Where each interpreter keeps our number in its code objects. */
	struct {
		PyInterpreterState *interpreter;
		Py_ssize_t extra;
	} interpreters[INTERPRETERS_MAX];
	uint32_t interpreter_count;
} codes = {.codes = {.item_bytes = sizeof(struct code)}};

static struct code *code_at(uint32_t id)
{
	return (struct code *)codes.codes.items + id;
}

static uint64_t pointer_hash(const void *pointer)
{
	uint64_t hash = (uint64_t)(uintptr_t)pointer * 0x9e3779b97f4a7c15ull;

	return hash ^ hash >> 32;
}

static uint32_t find(const PyCodeObject *object)
{
	uint64_t hash = pointer_hash(object);

	if (!codes.index.slots)
		return TRACE_NONE;
	for (uint32_t i = (uint32_t)hash & codes.index.mask;; i = (i + 1) & codes.index.mask) {
		uint32_t id = TRACE_NONE - codes.index.slots[i].id;

		if (id == TRACE_NONE || code_at(id)->object == object)
			return id;
	}
}

static void index_put(struct trace_index *index, const PyCodeObject *object, uint32_t id)
{
	uint32_t i = (uint32_t)pointer_hash(object) & index->mask;

	while (index->slots[i].id != 0)
		i = (i + 1) & index->mask;
	index->slots[i].id = TRACE_NONE - id;
	index->count++;
}

/* Makes room for one more code object; those that have ended are left out of the new table. */
static int index_reserve(void)
{
	struct trace_index next = {0};
	size_t capacity = codes.index.slots ? (size_t)codes.index.mask + 1 : 0;
	size_t grown = 1024;
	uint32_t live = 0;

	if (codes.index.count < capacity / 4 * 3)
		return 0;
	for (uint32_t id = 0; id < codes.count; id++)
		live += code_at(id)->object != NULL;
	while (grown / 2 < live + 1)
		grown *= 2;
	next.slots = trace_memory_map(&tracer.memory, grown * sizeof(*next.slots));
	if (!next.slots)
		return codes.index.count + 1 < capacity ? 0 : -ENOMEM;
	next.mask = (uint32_t)(grown - 1);
	for (uint32_t id = 0; id < codes.count; id++)
		if (code_at(id)->object)
			index_put(&next, code_at(id)->object, id);
	trace_memory_unmap(&tracer.memory, codes.index.slots,
			   capacity * sizeof(*codes.index.slots));
	codes.index = next;
	return 0;
}

static int line_of(PyCodeObject *object, uint64_t word)
{
	int instruction = (int)(word & CODES_INSTRUCTION_MAX) - 1;

	return PyCode_Addr2Line(object, instruction < 0 ? -1 : instruction * 2);
}

/* Replaces the words of a code object that ends by their lines. */
static void resolve_words(struct code *code, enum tracer_table_id id)
{
	const struct trace_sites *sites = &tracer.tables[id].sites;
	uint32_t word = code->first[id];

	while (word != 0) {
		struct trace_word_link *link = trace_links(sites, word - 1);
		uint64_t *value = trace_words(sites, word - 1);

		trace_sites_retire(&tracer.tables[id].sites, trace_sites_stack_of(sites, word - 1));
		*value = (uint64_t)line_of(code->object, *value);
		link->code |= RESOLVED_BIT;
		word = link->next;
	}
}

/* CPython calls this when a code object with our number ends. */
static void code_ends(void *extra)
{
	struct code *code;

	if (!extra)
		return;
	code = code_at((uint32_t)((uintptr_t)extra - 1));
	if (!code->object)
		return;
	for (enum tracer_table_id id = 0; id < TABLE_COUNT; id++) {
		tracer_lock(&tracer.tables[id]);
		resolve_words(code, id);
		tracer_unlock(&tracer.tables[id]);
	}
	code->file = code->object->co_filename;
	code->name = version_code_name(code->object);
	Py_XINCREF(code->file);
	Py_XINCREF(code->name);
	code->object = NULL;
}

/* Where the running interpreter keeps our number; negative: nowhere. */
static Py_ssize_t extra_of_interpreter(void)
{
	PyInterpreterState *interpreter = version_current_thread()->interp;
	uint32_t i = 0;

	while (i < codes.interpreter_count && codes.interpreters[i].interpreter != interpreter)
		i++;
	if (i == INTERPRETERS_MAX)
		return -1;
	if (i == codes.interpreter_count) {
		codes.interpreters[i].interpreter = interpreter;
		codes.interpreters[i].extra = version_request_extra(code_ends);
		codes.interpreter_count++;
	}
	return codes.interpreters[i].extra;
}

void codes_watch(uint32_t first)
{
	PyObject *type;
	PyObject *value;
	PyObject *traceback;
	Py_ssize_t extra;

	if (first == codes.count)
		return;
	PyErr_Fetch(&type, &value, &traceback);
	extra = extra_of_interpreter();
	for (uint32_t id = first; extra >= 0 && id < codes.count; id++)
		if (version_set_extra((PyObject *)code_at(id)->object, extra,
				      (void *)((uintptr_t)id + 1)) < 0)
			PyErr_Clear(); /* its stacks may be taken for another's later */
	PyErr_Restore(type, value, traceback);
}

static uint32_t intern(PyCodeObject *object)
{
	uint32_t id = find(object);

	if (id != TRACE_NONE)
		return id;
	if (index_reserve() < 0 ||
	    trace_array_reserve(&tracer.memory, &codes.codes, (size_t)codes.count + 1) < 0)
		return TRACE_NONE;
	id = codes.count++;
	*code_at(id) = (struct code){.object = object};
	index_put(&codes.index, object, id);
	return id;
}

int codes_link(enum tracer_table_id table, uint32_t stack_id)
{
	const struct trace_sites *sites = &tracer.tables[table].sites;
	const struct trace_stack *stack = trace_stack(sites, stack_id);

	for (uint32_t i = 0; i < ((uint32_t)stack->counts & 0xffff); i++) {
		uint64_t word = *trace_words(sites, stack->first + i);
		uint32_t id =
			intern((PyCodeObject *)(uintptr_t)(word >> CODES_INSTRUCTION_BITS << 3));

		if (id == TRACE_NONE)
			return -ENOMEM;
		*trace_links(sites, stack->first + i) =
			(struct trace_word_link){id, code_at(id)->first[table]};
		code_at(id)->first[table] = stack->first + i + 1;
	}
	return 0;
}

struct codes_call codes_call_at(enum tracer_table_id table, uint32_t word)
{
	const struct trace_sites *sites = &tracer.tables[table].sites;
	const struct trace_word_link *link = trace_links(sites, word);
	const struct code *code = code_at(link->code & ~RESOLVED_BIT);
	uint64_t value = *trace_words(sites, word);

	if (link->code & RESOLVED_BIT)
		return (struct codes_call){code->file, code->name, (int)value};
	return (struct codes_call){code->object->co_filename, version_code_name(code->object),
				   line_of(code->object, value)};
}

uint32_t codes_count(void)
{
	return codes.count;
}
