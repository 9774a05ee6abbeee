/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/python.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "language/language.h"
#include "language/python/code.h"
#include "language/python/runtime.h"
#include "unwind/python_thread.h"
#include "unwind/python_walk.h"

#define CODES_MAX 65536u /* forgotten and learnt again beyond that */

struct known_code {
	uint64_t address;
	struct python_code_key key;
	struct python_code code;
};

#define THREADS 512u /* whose state is remembered */

struct known_thread {
	uint64_t thread_pointer;
	uint64_t state;
};

/* The interpreter of one process. */
struct python {
	struct python_runtime runtime;
	struct known_thread threads[THREADS];
	VEC(struct known_code) codes;
	struct id_index index;
	uint64_t generation;
};

static void *files_new(void)
{
	return python_files_new();
}

static void files_free(void *files)
{
	python_files_free(files);
}

static int find(void *files, pid_t pid, const struct maps *maps, void **ret_self, struct error *err)
{
	struct python *python = calloc(1, sizeof(*python));
	int r;

	if (!python)
		return error_set(err, -ENOMEM, "out of memory");
	r = python_runtime_find(files, pid, maps, &python->runtime, err);
	if (r < 0)
		free(python);
	else
		*ret_self = python;
	return r;
}

/* Names are learnt again: the child may replace code objects. */
static void *fork_python(const void *self)
{
	const struct python *parent = self;
	struct python *child = calloc(1, sizeof(*child));

	if (child)
		child->runtime = parent->runtime;
	return child;
}

static void forget_all(struct python *python)
{
	for (size_t i = 0; i < python->codes.count; i++)
		python_code_fini(&python->codes.items[i].code);
	python->codes.count = 0;
	id_index_clear(&python->index);
	python->generation++;
}

static void free_python(void *self)
{
	struct python *python = self;

	forget_all(python);
	vec_fini(&python->codes);
	id_index_fini(&python->index);
	free(python);
}

static const struct language_range *loops(const void *self, size_t *ret_count)
{
	const struct python *python = self;

	*ret_count = python->runtime.loop_count;
	return python->runtime.loops;
}

static const struct python_layout *layout(const void *self)
{
	const struct python *python = self;

	return &python->runtime.structs.frames;
}

/* The state of a thread; 0: it has none. The list of threads is searched once. */
static uint64_t find_thread(struct python *python, const struct python_reader *reader,
			    uint64_t thread_pointer)
{
	const struct python_layout *frames = &python->runtime.structs.frames;
	struct known_thread *known =
		&python->threads[hash_pair(thread_pointer, 0) % ARRAY_SIZE(python->threads)];

	if (known->thread_pointer == thread_pointer && known->state != 0 &&
	    python_is_thread(frames, reader, known->state, thread_pointer) &&
	    python_is_listed(frames, reader, known->state))
		return known->state;
	known->thread_pointer = thread_pointer;
	known->state = python_find_thread(frames, reader, thread_pointer);
	return known->state;
}

static int walk(void *self, const struct python_reader *reader, uint64_t thread_pointer,
		uint64_t *words, uint32_t capacity, uint32_t *ret_count)
{
	const struct python_layout *frames = layout(self);
	uint64_t state = find_thread(self, reader, thread_pointer);
	enum python_end end;

	*ret_count = 0;
	if (state == 0)
		return PYTHON_NO_THREAD;
	end = python_walk(frames, reader, state, words, capacity, ret_count);
	if (*ret_count > 0 && python_holds_gil(frames, reader, state))
		words[0] |= PYTHON_WORD_HOLDS;
	return (int)end;
}

/* That of the main interpreter: others share it, unless they were made otherwise. */
static bool lock(const void *self, const struct python_reader *reader, struct language_range *ret)
{
	const struct python_layout *frames = layout(self);
	uint64_t gil = frames->runtime + frames->gil;

	if (frames->gil == PYTHON_NO_OFFSET)
		return false;
	if (frames->version >= PYTHON_GIL_OF_INTERPRETER &&
	    (!python_read_word(reader, frames->runtime + frames->interpreters, &gil) || gil == 0 ||
	     !python_read_word(reader, gil + frames->gil, &gil) || gil == 0))
		return false;
	*ret = (struct language_range){gil, gil + PYTHON_GIL_BYTES};
	return true;
}

static struct known_code *find_code(const struct python *python, uint64_t address)
{
	struct id_probe probe = id_index_probe(&python->index, hash_pair(address, 0));
	uint32_t id;

	while ((id = id_probe_next(&python->index, &probe)) != ID_NONE)
		if (python->codes.items[id].address == address)
			return &python->codes.items[id];
	return NULL;
}

static int add_code(struct python *python, const struct known_code *known)
{
	int r;

	if (python->codes.count >= CODES_MAX)
		forget_all(python);
	r = vec_push(&python->codes, *known);
	if (r == 0) {
		r = id_index_add(&python->index, hash_pair(known->address, 0),
				 (uint32_t)python->codes.count - 1);
		if (r < 0)
			python->codes.count--;
	}
	return r;
}

static bool is_code(const struct python *python, const struct python_reader *reader,
		    uint64_t address)
{
	uint64_t expected = python->runtime.structs.frames.code_type;
	uint64_t type;

	return expected == 0 ||
	       (python_read_word(reader, address + sizeof(uint64_t), &type) && type == expected);
}

static int learn(void *self, const struct python_reader *reader, uint64_t word)
{
	struct python *python = self;
	const struct python_code_layout *code_layout = &python->runtime.structs.code;
	struct known_code read = {.address = python_word_code(word)};
	struct known_code *known = find_code(python, read.address);
	int r = python_code_key(code_layout, reader, read.address, &read.key);

	if (r < 0)
		return r;
	if (known && memcmp(&known->key, &read.key, sizeof(read.key)) == 0)
		return 0;
	if (!is_code(python, reader, read.address))
		return -EINVAL;
	r = python_code_read(code_layout, reader, &read.key, &read.code);
	if (r < 0)
		return r;
	if (known) {
		python_code_fini(&known->code);
		*known = read;
		python->generation++;
		return 0;
	}
	r = add_code(python, &read);
	if (r < 0)
		python_code_fini(&read.code);
	return r;
}

static int name(const void *self, uint64_t word, struct language_place *ret)
{
	const struct known_code *known = find_code(self, python_word_code(word));

	if (!known)
		return -ENOENT;
	if (!known->code.name)
		return 0;
	*ret = (struct language_place){
		.function = known->code.name,
		.file = known->code.file,
		.line = python_code_line(&known->code, python_word_index(word)),
	};
	return 1;
}

static uint64_t generation(const void *self)
{
	const struct python *python = self;

	return python->generation;
}

const struct language_ops python_language = {
	.language = "python",
	.files_new = files_new,
	.files_free = files_free,
	.find = find,
	.fork = fork_python,
	.free = free_python,
	.loops = loops,
	.layout = layout,
	.walk = walk,
	.lock = lock,
	.learn = learn,
	.name = name,
	.generation = generation,
};
