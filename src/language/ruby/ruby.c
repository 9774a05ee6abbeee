/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/ruby/ruby.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "language/known_codes.h"
#include "language/language.h"
#include "language/ruby/iseq.h"
#include "language/ruby/runtime.h"
#include "language/ruby/walk.h"
#include "language/runtime_files.h"
#include "unwind/python_walk.h"

/* The virtual machine of one process. */
struct ruby {
	struct ruby_runtime runtime;
	struct known_codes iseqs;
};

static void *files_new(void)
{
	return runtime_files_new(&ruby_runtime_kind);
}

static void files_free(void *files)
{
	runtime_files_free(files);
}

static void free_iseq(void *iseq)
{
	ruby_iseq_fini(iseq);
	free(iseq);
}

static int find(void *files, pid_t pid, const struct maps *maps, void **ret_self, struct error *err)
{
	struct ruby *ruby = calloc(1, sizeof(*ruby));
	int r;

	if (!ruby)
		return error_set(err, -ENOMEM, "out of memory");
	r = ruby_runtime_find(files, pid, maps, &ruby->runtime, err);
	if (r < 0) {
		free(ruby);
		return r;
	}
	ruby->iseqs.free_code = free_iseq;
	*ret_self = ruby;
	return 0;
}

/* Names are learnt again: the child may replace iseqs. */
static void *fork_ruby(const void *self)
{
	const struct ruby *parent = self;
	struct ruby *child = calloc(1, sizeof(*child));

	if (!child)
		return NULL;
	child->runtime = parent->runtime;
	child->iseqs.free_code = free_iseq;
	return child;
}

static void free_ruby(void *self)
{
	struct ruby *ruby = self;

	known_codes_fini(&ruby->iseqs);
	free(ruby);
}

static const struct language_range *loops(const void *self, size_t *ret_count)
{
	const struct ruby *ruby = self;

	*ret_count = ruby->runtime.loop_count;
	return ruby->runtime.loops;
}

/* Walkers in the kernel and the preload library know Python only. */
static const struct python_layout *layout(const void *self)
{
	(void)self;
	return NULL;
}

static int walk(void *self, const struct python_reader *reader, uint64_t thread_pointer,
		uint64_t *words, uint32_t capacity, uint32_t *ret_count)
{
	const struct ruby *ruby = self;
	struct ruby_thread thread = {ruby->runtime.vm_pointer, thread_pointer};

	return ruby_walk(ruby->runtime.layout, reader, &thread, words, capacity, ret_count);
}

/* It has one, but where is not known. */
static bool lock(const void *self, const struct python_reader *reader, struct language_range *ret)
{
	(void)self;
	(void)reader;
	(void)ret;
	return false;
}

static int learn(void *self, const struct python_reader *reader, uint64_t word)
{
	struct ruby *ruby = self;
	uint64_t address = python_word_code(word);
	struct ruby_iseq *iseq;
	struct code_key key;
	int r = ruby_iseq_key(ruby->runtime.layout, reader, address, &key);

	if (r < 0)
		return r;
	if (known_codes_has(&ruby->iseqs, address, &key))
		return 0;
	iseq = malloc(sizeof(*iseq));
	if (!iseq)
		return -ENOMEM;
	r = ruby_iseq_read(ruby->runtime.layout, reader, address, iseq);
	if (r < 0) {
		free(iseq);
		return r;
	}
	return known_codes_put(&ruby->iseqs, address, &key, iseq);
}

static int name(const void *self, uint64_t word, struct language_place *ret)
{
	const struct ruby *ruby = self;
	const struct known_code *known = known_codes_find(&ruby->iseqs, python_word_code(word));
	const struct ruby_iseq *iseq;

	if (!known)
		return -ENOENT;
	iseq = known->code;
	*ret = (struct language_place){
		.function = iseq->name,
		.file = iseq->file,
		.line = ruby_iseq_line(iseq, python_word_index(word)),
	};
	return 1;
}

static uint64_t generation(const void *self)
{
	const struct ruby *ruby = self;

	return ruby->iseqs.generation;
}

const struct language_ops ruby_language = {
	.language = "Ruby",
	.files_new = files_new,
	.files_free = files_free,
	.find = find,
	.fork = fork_ruby,
	.free = free_ruby,
	.loops = loops,
	.layout = layout,
	.walk = walk,
	.lock = lock,
	.learn = learn,
	.name = name,
	.generation = generation,
};
