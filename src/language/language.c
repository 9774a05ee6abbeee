/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/language.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "language/remote_pages.h"
#include "unwind/python_walk.h"

#define MAX_LANGUAGES 8u
#define COMPARED_BYTES 1024u /* of a stack */

struct languages {
	void *files[MAX_LANGUAGES]; /* by place in the table */
	struct remote_pages pages;
	struct remote_pages name_pages; /* another thread may walk meanwhile */
};

struct interpreter {
	const struct language_ops *ops;
	struct languages *languages;
	void *self;
};

struct languages *languages_new(void)
{
	struct languages *languages = calloc(1, sizeof(*languages));

	for (size_t i = 0; languages && i < MAX_LANGUAGES && language_table[i]; i++) {
		languages->files[i] = language_table[i]->files_new();
		if (!languages->files[i]) {
			languages_free(languages);
			return NULL;
		}
	}
	return languages;
}

void languages_free(struct languages *languages)
{
	if (!languages)
		return;
	for (size_t i = 0; i < MAX_LANGUAGES && language_table[i]; i++)
		if (languages->files[i])
			language_table[i]->files_free(languages->files[i]);
	free(languages);
}

int interpreter_find(struct languages *languages, pid_t pid, const struct maps *maps,
		     struct interpreter **ret, struct error *err)
{
	struct interpreter *interpreter = calloc(1, sizeof(*interpreter));
	bool unread = false;
	int r = -ENOENT;

	if (!interpreter)
		return error_set(err, -ENOMEM, "out of memory");
	interpreter->languages = languages;
	for (size_t i = 0; language_table[i] && (r == -ENOENT || r == -EAGAIN); i++) {
		interpreter->ops = language_table[i];
		r = language_table[i]->find(languages->files[i], pid, maps, &interpreter->self,
					    err);
		unread |= r == -EAGAIN;
	}
	if (r < 0)
		free(interpreter);
	else
		*ret = interpreter;
	return r == -ENOENT && unread ? -EAGAIN : r;
}

struct interpreter *interpreter_fork(const struct interpreter *parent)
{
	struct interpreter *child = calloc(1, sizeof(*child));

	if (!child)
		return NULL;
	*child = *parent;
	child->self = parent->ops->fork(parent->self);
	if (child->self)
		return child;
	free(child);
	return NULL;
}

void interpreter_close(struct interpreter *interpreter)
{
	if (!interpreter)
		return;
	interpreter->ops->free(interpreter->self);
	free(interpreter);
}

int interpreter_learn(struct interpreter *interpreter, const struct python_reader *reader,
		      uint64_t word)
{
	return interpreter->ops->learn(interpreter->self, reader, word);
}

int interpreter_learn_remote(struct interpreter *interpreter, pid_t pid, uint64_t word)
{
	struct remote_pages *pages = &interpreter->languages->pages;
	struct python_reader reader = {remote_pages_read, pages};

	remote_pages_begin(pages, pid);
	return interpreter->ops->learn(interpreter->self, &reader, word);
}

bool interpreter_lock(const struct interpreter *interpreter, pid_t pid, struct language_range *ret)
{
	struct remote_pages *pages = &interpreter->languages->pages;
	struct python_reader reader = {remote_pages_read, pages};

	remote_pages_begin(pages, pid);
	return interpreter->ops->lock(interpreter->self, &reader, ret);
}

/* Reads the frames of a thread, and copies what they refer to. */
static int walk(struct interpreter *interpreter, const struct python_reader *reader,
		uint64_t thread_pointer, uint64_t *words, uint32_t capacity, uint32_t *ret_count)
{
	int end = interpreter->ops->walk(interpreter->self, reader, thread_pointer, words, capacity,
					 ret_count);

	for (uint32_t i = 0; i < *ret_count; i++) {
		/* A function that calls itself is looked up once. */
		if (i > 0 && python_word_code(words[i]) == python_word_code(words[i - 1]))
			continue;
		if (interpreter->ops->learn(interpreter->self, reader, words[i]) < 0) {
			*ret_count = 0;
			return PYTHON_TORN;
		}
	}
	return end;
}

int interpreter_walk(struct interpreter *interpreter, pid_t tid, uint64_t thread_pointer,
		     uint64_t *words, uint32_t capacity, uint32_t *ret_count)
{
	struct remote_pages *pages = &interpreter->languages->pages;
	struct python_reader reader = {remote_pages_read, pages};

	remote_pages_begin(pages, tid);
	return walk(interpreter, &reader, thread_pointer, words, capacity, ret_count);
}

/* The calls of a sample; the memory is read through `reader`. */
static int walk_sampled(struct interpreter *interpreter, const struct python_reader *reader,
			const struct language_sample *sample, struct language_calls *calls)
{
	const struct language_ops *ops = interpreter->ops;
	int end;

	if (calls->thread_pointer == 0)
		calls->thread_pointer = ops->sampled_thread(interpreter->self, reader, sample);
	if (calls->thread_pointer == 0)
		return PYTHON_NO_THREAD;
	end = walk(interpreter, reader, calls->thread_pointer, calls->words, calls->capacity,
		   &calls->count);
	if (calls->count > 0)
		calls->evidence = ops->compare(interpreter->self, reader, sample,
					       calls->thread_pointer, calls->words[0]);
	for (uint32_t i = 0; i < calls->count; i++)
		calls->words[i] = ops->keep(interpreter->self, calls->words[i]);
	if (end == PYTHON_NO_THREAD)
		calls->thread_pointer = 0; /* it has ended, or its process runs another program */
	return end;
}

int interpreter_walk_sampled(struct interpreter *interpreter, pid_t tid,
			     const struct language_sample *sample, struct language_calls *calls)
{
	struct remote_pages *pages = &interpreter->languages->pages;
	struct python_reader reader = {remote_pages_read, pages};
	uint8_t stack[COMPARED_BYTES];
	size_t bytes = sample->stack_bytes < sizeof(stack) ? sample->stack_bytes : sizeof(stack);
	const struct remote_last last = {sample->sp, stack, bytes};
	int end;

	calls->count = 0;
	calls->evidence = LANGUAGE_UNKNOWN;
	calls->is_changed = false;
	if (!interpreter->ops->sampled_thread)
		return PYTHON_NO_THREAD;
	remote_pages_begin_with(pages, tid, &last);
	if (remote_pages_has_last(pages) && memcmp(stack, sample->stack, bytes) != 0) {
		calls->is_changed = true;
		return PYTHON_TORN;
	}
	end = walk_sampled(interpreter, &reader, sample, calls);
	if (calls->count == 0)
		return end;
	calls->is_changed = calls->evidence == LANGUAGE_DIFFERS || !remote_pages_end(pages) ||
			    memcmp(stack, sample->stack, bytes) != 0;
	if (calls->is_changed)
		calls->count = 0;
	return end;
}

const struct language_range *interpreter_loops(const struct interpreter *interpreter,
					       size_t *ret_count)
{
	return interpreter->ops->loops(interpreter->self, ret_count);
}

int interpreter_name(const struct interpreter *interpreter, uint64_t word,
		     struct language_place *ret)
{
	return interpreter->ops->name(interpreter->self, word, ret);
}

uint64_t interpreter_generation(const struct interpreter *interpreter)
{
	return interpreter->ops->generation(interpreter->self);
}

const struct python_layout *interpreter_layout(const struct interpreter *interpreter)
{
	return interpreter->ops->layout(interpreter->self);
}

const char *interpreter_language(const struct interpreter *interpreter)
{
	return interpreter->ops->language;
}

void interpreter_thread_names(struct interpreter *interpreter, pid_t pid, language_thread_fn *name,
			      void *self)
{
	struct remote_pages *pages = &interpreter->languages->name_pages;
	struct python_reader reader = {remote_pages_read, pages};

	if (!interpreter->ops->thread_names)
		return;
	remote_pages_begin(pages, pid);
	interpreter->ops->thread_names(interpreter->self, &reader, name, self);
}
