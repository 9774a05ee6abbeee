/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/python.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "language/known_codes.h"
#include "language/language.h"
#include "language/python/code.h"
#include "language/python/known_states.h"
#include "language/python/runtime.h"
#include "language/python/threads.h"
#include "language/runtime_files.h"
#include "unwind/python_thread.h"
#include "unwind/python_walk.h"

#define THREADS 512u /* whose state is remembered */

struct known_thread {
	uint64_t thread_pointer;
	uint64_t state;
};

/* The interpreter of one process. */
struct python {
	struct python_runtime runtime;
	struct known_thread threads[THREADS];
	struct known_states states; /* for samples of threads that are not stopped */
	struct known_codes codes;
	struct python_thread_list thread_list;
};

static void *files_new(void)
{
	return runtime_files_new(&python_runtime_kind);
}

static void files_free(void *files)
{
	runtime_files_free(files);
}

static void free_code(void *code)
{
	python_code_fini(code);
	free(code);
}

static int find(void *files, pid_t pid, const struct maps *maps, void **ret_self, struct error *err)
{
	struct python *python = calloc(1, sizeof(*python));
	int r;

	if (!python)
		return error_set(err, -ENOMEM, "out of memory");
	r = python_runtime_find(files, pid, maps, &python->runtime, err);
	if (r < 0) {
		free(python);
		return r;
	}
	python->codes.free_code = free_code;
	*ret_self = python;
	return 0;
}

/* Names are learnt again: the child may replace code objects. */
static void *fork_python(const void *self)
{
	const struct python *parent = self;
	struct python *child = calloc(1, sizeof(*child));

	if (!child)
		return NULL;
	child->runtime = parent->runtime;
	child->codes.free_code = free_code;
	return child;
}

static void free_python(void *self)
{
	struct python *python = self;

	known_codes_fini(&python->codes);
	known_states_fini(&python->states);
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

/* The state of a thread; 0: it has none. With one interpreter, its list is searched once. */
static uint64_t find_thread(struct python *python, const struct python_reader *reader,
			    uint64_t thread_pointer)
{
	const struct python_layout *frames = &python->runtime.structs.frames;
	struct known_thread *known =
		&python->threads[hash_pair(thread_pointer, 0) % ARRAY_SIZE(python->threads)];

	if (known->thread_pointer == thread_pointer && known->state != 0 &&
	    python_is_thread(frames, reader, known->state, thread_pointer) &&
	    python_is_listed(frames, reader, known->state) &&
	    python_is_single(frames, reader, known->state))
		return known->state;
	known->thread_pointer = thread_pointer;
	known->state = python_find_thread(frames, reader, thread_pointer);
	return known->state;
}

static int walk(void *self, const struct python_reader *reader, uint64_t thread_pointer,
		uint64_t *words, uint32_t capacity, uint32_t *ret_count)
{
	const struct python_layout *frames = layout(self);
	const struct python_thread thread = {
		.state = find_thread(self, reader, thread_pointer),
		.pointer = thread_pointer,
	};
	enum python_end end;

	*ret_count = 0;
	if (thread.state == 0)
		return PYTHON_NO_THREAD;
	end = python_walk_thread(frames, reader, &thread, words, capacity, ret_count);
	if (*ret_count > 0 && python_holds_gil(frames, reader, thread.state))
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
	*ret = (struct language_range){.start = gil, .end = gil + PYTHON_GIL_BYTES};
	return true;
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
	uint64_t address = python_word_code(word);
	struct python_code_key pointers;
	struct python_code *code;
	struct code_key key;
	int r = python_code_key(code_layout, reader, address, &pointers);

	if (r < 0)
		return r;
	key = (struct code_key){
		{pointers.name, pointers.file, pointers.lines, pointers.first_line}};
	if (known_codes_has(&python->codes, address, &key))
		return 0;
	if (!is_code(python, reader, address))
		return -EINVAL;
	code = malloc(sizeof(*code));
	if (!code)
		return -ENOMEM;
	r = python_code_read(code_layout, reader, &pointers, code);
	if (r < 0) {
		free(code);
		return r;
	}
	return known_codes_put(&python->codes, address, &key, code);
}

/*
 * A word that is kept has the number of the copy in place of an address: no object is that close to
 * address 0.
 */
static bool is_kept(uint64_t address)
{
	return address <= (uint64_t)KNOWN_CODES_MAX << 3;
}

static uint64_t kept_number(uint64_t address)
{
	return (address >> 3) - 1;
}

static uint64_t keep(void *self, uint64_t word)
{
	struct python *python = self;
	uint32_t number = known_codes_number(&python->codes, python_word_code(word));

	python->codes.keeps_replaced = true;
	return number == ID_NONE ? word : (word & ~PYTHON_WORD_CODE) | (number + 1u);
}

static int name(const void *self, uint64_t word, struct language_place *ret)
{
	const struct python *python = self;
	uint64_t address = python_word_code(word);
	const struct known_code *known =
		is_kept(address) ? known_codes_at(&python->codes, kept_number(address))
				 : known_codes_find(&python->codes, address);
	const struct python_code *code;

	if (!known)
		return -ENOENT;
	code = known->code;
	if (!code->name)
		return 0;
	*ret = (struct language_place){
		.function = code->name,
		.file = code->file,
		.line = python_code_line(code, python_word_index(word)),
	};
	return 1;
}

static uint64_t generation(const void *self)
{
	const struct python *python = self;

	return python->codes.generation;
}

static void thread_names(void *self, const struct python_reader *reader, language_thread_fn *tell,
			 void *tell_self)
{
	struct python *python = self;

	python_threads_names(&python->runtime.structs, reader, &python->thread_list, tell,
			     tell_self);
}

static bool has_word(const struct language_sample *sample, uint64_t first, uint64_t last)
{
	for (size_t i = 0; i < sample->count; i++)
		if (sample->words[i] - first <= last - first)
			return true;
	return false;
}

static uint64_t sampled_thread(void *self, const struct python_reader *reader,
			       const struct language_sample *sample)
{
	struct python *python = self;

	return known_states_search(&python->states, layout(self), reader, sample);
}

static bool is_in_loop(const struct python *python, uint64_t pc)
{
	for (size_t i = 0; i < python->runtime.loop_count; i++)
		if (pc >= python->runtime.loops[i].start && pc < python->runtime.loops[i].end)
			return true;
	return false;
}

/* The next instruction is this far from the one that is executed, at most. */
#define NEXT_BYTES 24u

static enum language_evidence compare(void *self, const struct python_reader *reader,
				      const struct language_sample *sample, uint64_t thread_pointer,
				      uint64_t word)
{
	const struct python_layout *frames = layout(self);
	uint64_t state = find_thread(self, reader, thread_pointer);
	uint64_t frame = 0;

	if (frames->first_instruction != PYTHON_NO_OFFSET) {
		uint64_t at = python_word_code(word) + frames->first_instruction +
			      2ull * python_word_index(word);

		if (has_word(sample, at, at + NEXT_BYTES))
			return LANGUAGE_PLACE;
	}
	if (state != 0 && python_first_frame(frames, reader, state, &frame) == PYTHON_GOING &&
	    frame != 0 && has_word(sample, frame, frame))
		return LANGUAGE_FRAME;
	return is_in_loop(self, sample->pc) ? LANGUAGE_DIFFERS : LANGUAGE_UNKNOWN;
}

const struct language_ops python_language = {
	.language = "Python",
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
	.thread_names = thread_names,
	.sampled_thread = sampled_thread,
	.compare = compare,
	.keep = keep,
};
