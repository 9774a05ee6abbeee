/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_LANGUAGE_H
#define WICK_LANGUAGE_LANGUAGE_H

/*
 * language: readers of the calls that an interpreter makes, one entry in table.c for each runtime.
 *
 * To the native walk an interpreter is one function, its loop, which calls itself. A reader finds
 * the runtime in a process, reads the chain of its calls as words (which cannot be mistaken for
 * addresses, see unwind/python_walk.h), says which code is the loop, and names a word. Words are
 * named when they are read, because what they refer to may be gone a moment later.
 *
 * An interpreter is used by one thread at a time. It only reads the process.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct interpreter;
struct languages;
struct maps;
struct python_layout;
struct python_reader;

/* Where a call is. Valid until the interpreter reads again. */
struct language_place {
	const char *function;
	const char *file;
	uint32_t line; /* 0: unknown */
};

/* A part of the code of an interpreter's loop. */
struct language_range {
	uint64_t start;
	uint64_t end;
};

struct language_ops {
	const char *language; /* "python" */
	/* What is known about the files of runtimes, which many processes share. */
	void *(*files_new)(void); /* NULL if out of memory */
	void (*files_free)(void *files);
	/*
	 * Looks for the runtime in a process. -ENOENT: there is none; -ENOTSUP: it cannot be read,
	 * err says why.
	 */
	int (*find)(void *files, pid_t pid, const struct maps *maps, void **ret_self,
		    struct error *err);
	void (*free)(void *self);
	const struct language_range *(*loops)(const void *self, size_t *ret_count);
	/* For walkers elsewhere; NULL if the runtime has none. */
	const struct python_layout *(*layout)(const void *self);
	/*
	 * Reads the calls of a thread, the innermost first. Returns how it ended, enum python_end;
	 * what is not whole has no calls.
	 */
	int (*walk)(void *self, const struct python_reader *reader, uint64_t thread_pointer,
		    uint64_t *words, uint32_t capacity, uint32_t *ret_count);
	/* Copies what a word refers to, unless it is known. 0 or a negative errno. */
	int (*learn)(void *self, const struct python_reader *reader, uint64_t word);
	/* 1; 0 if the call is the runtime's own; -ENOENT if it was not learnt. */
	int (*name)(const void *self, uint64_t word, struct language_place *ret);
	/* Changes when a word may mean something else. */
	uint64_t (*generation)(const void *self);
};

extern const struct language_ops *const language_table[]; /* NULL last */

/* The wrappers. NULL if out of memory. */
struct languages *languages_new(void);
void languages_free(struct languages *languages); /* after all interpreters */

/* As find() for the first language that the process runs. Release with interpreter_close(). */
int interpreter_find(struct languages *languages, pid_t pid, const struct maps *maps,
		     struct interpreter **ret, struct error *err);
void interpreter_close(struct interpreter *interpreter); /* NULL is fine */

/*
 * Reads the calls of a stopped thread from outside, and what they refer to. Returns as walk(); tid
 * is for reading the memory.
 */
int interpreter_walk(struct interpreter *interpreter, pid_t tid, uint64_t thread_pointer,
		     uint64_t *words, uint32_t capacity, uint32_t *ret_count);
/* Copies what a word refers to: from copies of its memory, or from the process as it is now. */
int interpreter_learn(struct interpreter *interpreter, const struct python_reader *reader,
		      uint64_t word);
int interpreter_learn_remote(struct interpreter *interpreter, pid_t pid, uint64_t word);
const struct language_range *interpreter_loops(const struct interpreter *interpreter,
					       size_t *ret_count);
int interpreter_name(const struct interpreter *interpreter, uint64_t word,
		     struct language_place *ret);
uint64_t interpreter_generation(const struct interpreter *interpreter);
const struct python_layout *interpreter_layout(const struct interpreter *interpreter);
const char *interpreter_language(const struct interpreter *interpreter);

#endif
