/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_LANGUAGE_H
#define WICK_LANGUAGE_LANGUAGE_H

/*
 * language: reads the frames of interpreted languages; table.c has one entry for each runtime.
 *
 * To the native unwinder, an interpreter is one function, its loop, which calls itself. A reader
 * finds the runtime in a process, reads its chain of frames as words (which cannot be mistaken for
 * addresses, see unwind/python_walk.h), says which code is the loop, and names a word. Words are
 * named when they are read, because what they refer to may be gone a moment later.
 *
 * Threads: only one thread at a time may use a struct interpreter, but another one may read the
 * names of its threads. The process is only read.
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

/* The place in the source where a frame is. Valid until the interpreter reads again. */
struct language_place {
	const char *function;
	const char *file;
	uint32_t line; /* 0: unknown */
};

/* The state of a thread that waits for the global lock of an interpreter. */
#define LANGUAGE_STATE_WAITING "waiting for the GIL"

/* An address range of the code of an interpreter's loop. */
struct language_range {
	uint64_t start;
	uint64_t end;
	/* A function that the loop calls to do its work: its frames are not shown either. */
	bool is_inner;
	bool begins_late; /* C code adds the call before it starts the loop */
};

/*
 * How far a thread id may be below the thread pointer. It is the address of the C library's own
 * structure of the thread, which ends at the thread pointer on aarch64 and starts there on x86-64.
 */
#if defined(__aarch64__)
#define LANGUAGE_THREAD_SLACK 8192u
#else
#define LANGUAGE_THREAD_SLACK 0u
#endif

/* A thread by its id in its own pid namespace, and the name that the program gave it. */
typedef void language_thread_fn(void *self, uint32_t tid, const char *name);

/*
 * What a sample has of the thread that it was taken of: the values of its registers and of the
 * words on its stack. Variables of the interpreter's loop are among them.
 */
struct language_sample {
	const uint64_t *words;
	size_t count;
	uint64_t pc;
	uint64_t sp;
	const uint64_t *stack; /* the words on the stack alone, from sp on */
	size_t stack_bytes;
};

/* What a sample says about the innermost call of its thread that was read after it. */
enum language_evidence {
	LANGUAGE_UNKNOWN, /* the variables of the loop are not in the sample */
	LANGUAGE_FRAME,   /* it was in the same frame */
	LANGUAGE_PLACE,   /* at the same instruction */
	LANGUAGE_DIFFERS, /* it was elsewhere */
};

/* Room for the calls of a thread, and what was read. */
struct language_calls {
	uint64_t thread_pointer; /* of the thread; 0: it is looked for in the sample */
	uint64_t *words;
	uint32_t capacity;
	uint32_t count;                  /* 0 if the walk failed, or the stack is another one */
	bool is_changed;                 /* the stack is not as it was in the sample */
	enum language_evidence evidence; /* whether the sample agrees with them */
};

struct language_ops {
	const char *language; /* as people write it: "Python" */
	/* A cache of what is known about runtimes' files, which many processes share. */
	void *(*files_new)(void); /* NULL if out of memory */
	void (*files_free)(void *files);
	/*
	 * Looks for the runtime in a process. Returns 0 or a negative errno: -ENOENT if there is
	 * none, -EAGAIN if files could not be read, -ENOTSUP if it cannot be read (err says why).
	 */
	int (*find)(void *files, pid_t pid, const struct maps *maps, void **ret_self,
		    struct error *err);
	/* The same for a forked child, which has what its parent had. NULL if out of memory. */
	void *(*fork)(const void *self);
	void (*free)(void *self);
	const struct language_range *(*loops)(const void *self, size_t *ret_count);
	/* For walkers in the kernel and the preload library. NULL if they cannot walk it. */
	const struct python_layout *(*layout)(const void *self);
	/*
	 * Reads the frames of a thread, innermost first. Returns how the walk ended, an enum
	 * python_end; a walk that failed returns no frames.
	 */
	int (*walk)(void *self, const struct python_reader *reader, uint64_t thread_pointer,
		    uint64_t *words, uint32_t capacity, uint32_t *ret_count);
	/* Where the global lock of the runtime is, if it has one. False: unknown. */
	bool (*lock)(const void *self, const struct python_reader *reader,
		     struct language_range *ret);
	/* Copies what a word refers to, unless it is known. Returns 0 or a negative errno. */
	int (*learn)(void *self, const struct python_reader *reader, uint64_t word);
	/* Returns 1, 0 if the frame is internal to the runtime, or -ENOENT if not learnt. */
	int (*name)(const void *self, uint64_t word, struct language_place *ret);
	/* The number changes when a word may have a new meaning. */
	uint64_t (*generation)(const void *self);
	/* Optional: calls name() for each thread that has one. NULL: the kernel's are shown. */
	void (*thread_names)(void *self, const struct python_reader *reader,
			     language_thread_fn *name, void *name_self);
	/* For threads that are not stopped; all or none. The thread pointer of a sample; 0:
	 * unknown. */
	uint64_t (*sampled_thread)(void *self, const struct python_reader *reader,
				   const struct language_sample *sample);
	/* Whether the thread was in its innermost call, which was just read, in the sample. */
	enum language_evidence (*compare)(void *self, const struct python_reader *reader,
					  const struct language_sample *sample,
					  uint64_t thread_pointer, uint64_t word);
	/* The same word, but it keeps its meaning until the generation changes. */
	uint64_t (*keep)(void *self, uint64_t word);
};

extern const struct language_ops *const language_table[]; /* ends with NULL */

/* The functions below wrap the table. Returns NULL if out of memory. */
struct languages *languages_new(void);
void languages_free(struct languages *languages); /* close all interpreters first */

/*
 * Calls find() of each language until one finds its runtime. Returns what find() does. The caller
 * releases *ret with interpreter_close().
 */
int interpreter_find(struct languages *languages, pid_t pid, const struct maps *maps,
		     struct interpreter **ret, struct error *err);
/* The interpreter of a forked child. NULL if out of memory; close it as any other. */
struct interpreter *interpreter_fork(const struct interpreter *parent);
void interpreter_close(struct interpreter *interpreter); /* NULL is fine */

/*
 * Reads the frames of a stopped thread of another process, and copies what they refer to. The
 * memory is read through `tid`. Returns the same as walk().
 */
int interpreter_walk(struct interpreter *interpreter, pid_t tid, uint64_t thread_pointer,
		     uint64_t *words, uint32_t capacity, uint32_t *ret_count);
/*
 * The same for a thread that is not stopped, soon after a sample was taken of it. The words keep
 * their meaning until the generation changes.
 */
int interpreter_walk_sampled(struct interpreter *interpreter, pid_t tid,
			     const struct language_sample *sample, struct language_calls *calls);
/* Copies what a word refers to: with a reader, or from the memory that the process has now. */
int interpreter_learn(struct interpreter *interpreter, const struct python_reader *reader,
		      uint64_t word);
int interpreter_learn_remote(struct interpreter *interpreter, pid_t pid, uint64_t word);
/* Where the global lock of the interpreter is in the memory of the process. False: unknown. */
bool interpreter_lock(const struct interpreter *interpreter, pid_t pid, struct language_range *ret);
const struct language_range *interpreter_loops(const struct interpreter *interpreter,
					       size_t *ret_count);
int interpreter_name(const struct interpreter *interpreter, uint64_t word,
		     struct language_place *ret);
uint64_t interpreter_generation(const struct interpreter *interpreter);
const struct python_layout *interpreter_layout(const struct interpreter *interpreter);
/* Calls name() for each thread that the program gave a name, as the process is now. */
void interpreter_thread_names(struct interpreter *interpreter, pid_t pid, language_thread_fn *name,
			      void *self);
const char *interpreter_language(const struct interpreter *interpreter);

static inline struct language_range language_range_moved(const struct language_range *range,
							 uint64_t bias)
{
	struct language_range moved = *range;

	moved.start += bias;
	moved.end += bias;
	return moved;
}

#endif
