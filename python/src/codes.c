/* SPDX-License-Identifier: BSD-2-Clause */
#include "codes.h"

#include <errno.h>
#include <string.h>

#define NO_LINE INT32_MIN
#define INTERPRETERS 32

struct code {
	PyCodeObject *object; /* NULL: it has ended; borrowed */
	PyObject *file;       /* set when it has ended, in the main interpreter */
	PyObject *name;
	uint32_t file_text; /* in other interpreters: place of the copy + 1 */
	uint32_t name_text;
	uint32_t first[TABLE_COUNT]; /* its newest frame; 0: none */
	bool is_watched;
};

static struct {
	pthread_mutex_t lock;
	struct trace_array codes;
	uint32_t count;
	struct trace_index index;
	struct trace_array texts; /* char */
	size_t text_bytes;
	/* Where each interpreter keeps our number in its code objects. */
	struct {
		int64_t id; /* + 1; 0: none */
		Py_ssize_t extra;
	} interpreters[INTERPRETERS];
	uint32_t interpreter_count;
	uint32_t generation; /* changes when all are forgotten */
} codes = {.lock = PTHREAD_MUTEX_INITIALIZER,
	   .codes = {.item_bytes = sizeof(struct code)},
	   .texts = {.item_bytes = 1}};

void codes_lock(void)
{
	tracer_thread.locks++;
	pthread_mutex_lock(&codes.lock);
}

void codes_unlock(void)
{
	pthread_mutex_unlock(&codes.lock);
	tracer_thread.locks--;
}

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

static int instruction_of(uint64_t word)
{
	return (int)(word & CODES_INSTRUCTION_MAX) - 1;
}

static int32_t line_of(PyCodeObject *object, uint64_t word)
{
	int instruction = instruction_of(word);

	return PyCode_Addr2Line(object, instruction < 0 ? -1 : instruction * 2);
}

/* The code object of the innermost frame of a site. */
static const struct code *code_of_site(const struct tracer_table *table, uint32_t site)
{
	const struct trace_tree *tree = &table->sites.tree;
	uint32_t node = trace_site(&table->sites, site)->node;

	return code_at(trace_frame(tree, trace_node(tree, node)->frame)->code);
}

/* Forgets what is cached for frames of a code object that ends. */
static void forget_memos(struct tracer_table *table, const struct code *code)
{
	for (uint32_t i = 0; i < FRAME_MEMOS; i++) {
		struct frame_memo *memo = &table->sites_of_frames[i];

		if (codes_object(table->depths[i].word) == code->object)
			table->depths[i] = (struct frame_memo){0};
		if (memo->frame && code_of_site(table, memo->value) == code)
			*memo = (struct frame_memo){0};
	}
}

/* Looks up the lines of a code object that ends. No stack with its frames is found after this. */
static void end_frames(const struct code *code, enum tracer_table_id id)
{
	struct tracer_table *table = &tracer.tables[id];
	struct trace_tree *tree = &table->sites.tree;

	for (uint32_t frame = code->first[id]; frame != 0; frame = trace_frame(tree, frame)->next) {
		struct trace_frame *ended = trace_frame(tree, frame);

		if (ended->line == NO_LINE)
			ended->line = line_of(code->object, ended->word);
		trace_frame_end(tree, frame);
	}
	forget_memos(table, code);
}

/* What a code object keeps for us: never 0. */
static uint64_t number_of(uint32_t id)
{
	return (uint64_t)codes.generation << 32 | (id + 1);
}

static void end_code(struct code *code)
{
	if (!code->object)
		return;
	for (enum tracer_table_id id = 0; id < TABLE_COUNT; id++)
		end_frames(code, id);
	if (code->file_text == 0) {
		code->file = code->object->co_filename;
		code->name = version_code_name(code->object);
		Py_XINCREF(code->file);
		Py_XINCREF(code->name);
	}
	code->object = NULL;
}

/* CPython calls this when a code object with our number ends. */
static void code_ends(void *extra)
{
	uint64_t number = (uintptr_t)extra;
	uint32_t id = (uint32_t)number - 1;

	if (number == 0)
		return;
	for (int id = 0; id < TABLE_COUNT; id++)
		tracer_lock(&tracer.tables[id]);
	codes_lock();
	if (number == number_of(id)) /* otherwise it was forgotten */
		end_code(code_at(id));
	codes_unlock();
	for (int id = TABLE_COUNT; id-- > 0;)
		tracer_unlock(&tracer.tables[id]);
}

/* Where the running interpreter keeps our number; negative: nowhere. */
static Py_ssize_t extra_of_interpreter(void)
{
	int64_t id = PyInterpreterState_GetID(version_current_thread()->interp) + 1;
	uint32_t i = 0;

	while (i < INTERPRETERS && codes.interpreters[i].id != id)
		i++;
	if (i == INTERPRETERS) {
		/* The oldest one has probably ended. */
		i = codes.interpreter_count++ % INTERPRETERS;
		codes.interpreters[i].id = id;
		codes.interpreters[i].extra = version_request_extra(code_ends);
	}
	return codes.interpreters[i].extra;
}

/* The next code object of a stack that nobody watches yet, or NULL. Sets *ret_number. */
static PyCodeObject *unwatched(enum tracer_table_id table, uint32_t stack, uint32_t clears,
			       uint64_t *ret_number)
{
	const struct trace_sites *sites = &tracer.tables[table].sites;
	PyCodeObject *object = NULL;
	uint32_t node = 0;

	tracer_lock(&tracer.tables[table]);
	codes_lock();
	if (tracer.tables[table].clears == clears)
		node = trace_stack(sites, stack)->node;
	for (; !object && node != 0; node = trace_node(&sites->tree, node)->parent) {
		const struct trace_frame *frame =
			trace_frame(&sites->tree, trace_node(&sites->tree, node)->frame);
		struct code *code = code_at(frame->code);

		if (frame->is_native || code->is_watched || !code->object)
			continue;
		object = code->object;
		code->is_watched = true;
		*ret_number = number_of(frame->code);
	}
	codes_unlock();
	tracer_unlock(&tracer.tables[table]);
	return object;
}

void codes_watch(enum tracer_table_id table, uint32_t stack, uint32_t clears)
{
	PyCodeObject *object;
	uint64_t number;

	while ((object = unwatched(table, stack, clears, &number))) {
		PyObject *type;
		PyObject *value;
		PyObject *traceback;
		Py_ssize_t extra;

		PyErr_Fetch(&type, &value, &traceback);
		codes_lock();
		extra = extra_of_interpreter();
		codes_unlock();
		/* If out of memory, its stacks may later be mistaken for those of another one. */
		if (extra >= 0 &&
		    version_set_extra((PyObject *)object, extra, (void *)(uintptr_t)number) < 0)
			PyErr_Clear();
		PyErr_Restore(type, value, traceback);
	}
}

/* Copies a string and returns its place + 1; 0 without memory. */
static uint32_t copy_text(PyObject *string)
{
	char text[1024] = "<unknown>";
	size_t i = 0;
	size_t place = codes.text_bytes;

	/* Character by character: Python's own conversions allocate. */
	if (string && PyUnicode_Check(string)) {
		for (; i < sizeof(text) - 1 && i < (size_t)PyUnicode_GET_LENGTH(string); i++) {
			Py_UCS4 character = PyUnicode_READ_CHAR(string, (Py_ssize_t)i);

			text[i] = character < 0x80 ? (char)character : '?';
		}
		text[i] = '\0';
	}
	i = strlen(text) + 1;
	if (place + i >= UINT32_MAX ||
	    trace_array_reserve(&tracer.memory, &codes.texts, place + i) < 0)
		return 0;
	memcpy((char *)codes.texts.items + place, text, i);
	codes.text_bytes += i;
	return (uint32_t)place + 1;
}

static uint32_t intern(PyCodeObject *object, bool is_copied)
{
	uint32_t id = find(object);
	struct code code = {.object = object};

	if (id != TRACE_NONE)
		return id;
	if (is_copied) {
		code.file_text = copy_text(object->co_filename);
		code.name_text = copy_text(version_code_name(object));
		if (code.file_text == 0 || code.name_text == 0)
			return TRACE_NONE;
	}
	if (index_reserve() < 0 ||
	    trace_array_reserve(&tracer.memory, &codes.codes, (size_t)codes.count + 1) < 0)
		return TRACE_NONE;
	id = codes.count++;
	*code_at(id) = code;
	index_put(&codes.index, object, id);
	return id;
}

static int link_frame(enum tracer_table_id table, uint32_t frame, bool is_copied)
{
	const struct trace_tree *tree = &tracer.tables[table].sites.tree;
	struct trace_frame *linked = trace_frame(tree, frame);
	PyCodeObject *object = codes_object(linked->word);
	uint32_t id = intern(object, is_copied);

	if (id == TRACE_NONE)
		return -ENOMEM;
	linked->code = id;
	linked->next = code_at(id)->first[table];
	linked->line = is_copied ? line_of(object, linked->word) : NO_LINE;
	*trace_place(tree, frame) = version_place_of(object, instruction_of(linked->word));
	code_at(id)->first[table] = frame;
	return 0;
}

bool codes_are_watched(const uint64_t *words, uint32_t count)
{
	bool are_watched = true;

	codes_lock();
	for (uint32_t i = 0; are_watched && i < count; i++) {
		uint32_t id = find(codes_object(words[i]));

		are_watched = id != TRACE_NONE && code_at(id)->is_watched;
	}
	codes_unlock();
	return are_watched;
}

int codes_link(enum tracer_table_id table, uint32_t first, const PyInterpreterState *interpreter)
{
	struct trace_tree *tree = &tracer.tables[table].sites.tree;
	bool is_copied = interpreter != tracer.main_interpreter;
	uint32_t frame = first > 0 ? first : 1;
	int r = 0;

	codes_lock();
	for (; frame < tree->frame_count; frame++) {
		if (r == 0 && !trace_frame(tree, frame)->is_native)
			r = link_frame(table, frame, is_copied);
		if (r < 0)
			trace_frame_end(tree, frame);
	}
	codes_unlock();
	return r;
}

struct codes_call codes_call_at(enum tracer_table_id table, uint32_t id)
{
	const struct trace_tree *tree = &tracer.tables[table].sites.tree;
	struct codes_call call = {0};
	struct trace_frame *frame;
	struct code code;

	tracer_lock(&tracer.tables[table]);
	codes_lock();
	frame = trace_frame(tree, id);
	code = *code_at(frame->code);
	if (frame->line == NO_LINE)
		frame->line = line_of(code.object, frame->word);
	call.line = frame->line;
	if (code.file_text == 0) {
		call.file = code.object ? code.object->co_filename : code.file;
		call.name = code.object ? version_code_name(code.object) : code.name;
		Py_XINCREF(call.file);
		Py_XINCREF(call.name);
	}
	codes_unlock();
	tracer_unlock(&tracer.tables[table]);
	if (code.file_text != 0) {
		call.file = PyUnicode_FromString((char *)codes.texts.items + code.file_text - 1);
		call.name = PyUnicode_FromString((char *)codes.texts.items + code.name_text - 1);
	}
	return call;
}

void codes_drop(struct codes_dropped *ret)
{
	codes_lock();
	*ret = (struct codes_dropped){codes.codes, codes.count, codes.index, codes.texts};
	codes.codes = (struct trace_array){.item_bytes = sizeof(struct code)};
	codes.count = 0;
	codes.index = (struct trace_index){0};
	codes.texts = (struct trace_array){.item_bytes = 1};
	codes.text_bytes = 0;
	codes.generation++;
	codes_unlock();
}

void codes_free(struct codes_dropped *dropped)
{
	for (uint32_t id = 0; id < dropped->count; id++) {
		Py_XDECREF(((struct code *)dropped->codes.items)[id].file);
		Py_XDECREF(((struct code *)dropped->codes.items)[id].name);
	}
	trace_array_free(&tracer.memory, &dropped->codes);
	trace_array_free(&tracer.memory, &dropped->texts);
	trace_memory_unmap(&tracer.memory, dropped->index.slots,
			   ((size_t)dropped->index.mask + 1) * sizeof(*dropped->index.slots));
}

uint32_t codes_count(void)
{
	return codes.count;
}
