/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_PROCESS_FILE_H
#define WICK_ENGINE_SIGNAL_PROCESS_FILE_H

/*
 * process_file: reads what one watched program writes. The program may be broken or hostile, so
 * nothing in its file is trusted. The file is accessed by read and write calls, not through shared
 * memory: what was checked does not change afterwards, and a truncated file gives a short read
 * instead of SIGBUS.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "unwind/frame.h"
#include "wire/session.h"
#include "wire/session_layout.h"

struct error;

struct copied_parts;
struct heap_ring;
struct process_ring; /* state of a slot */

struct process_file {
	char name[64];
	pid_t pid;
	uint64_t created_ticks; /* a copy, like those below */
	int fd;
	struct session_process *copy;       /* of its head, as last read */
	const struct session_process *head; /* the same, read-only for callers */
	struct session_slot *slots;         /* likewise: slot_count entries */
	uint64_t *ring;                     /* copy of the ring being read: ring_words */
	void *page;          /* mapped, to wake a program that waits for a change of the head */
	uint32_t slot_count; /* copies, because the program could change its own */
	uint32_t ring_words;
	uint32_t used; /* slots that fit into the file when it was last checked */
	struct session_layout layout;
	struct process_ring *rings; /* slot_count */
	uint32_t maps_seen;   /* last seen head->maps_changed; for callers, like the next three */
	uint32_t maps_due;    /* its value when the list was made; to be published */
	uint64_t maps_list;   /* the list of modules then; 0: nothing to publish */
	size_t maps_listed;   /* number of modules with tables in the last list */
	uint64_t gone_seen;   /* last seen head->gone_ticks */
	double fill;          /* highest fill level of a ring, 0 to 1; callers reset it */
	bool is_new;          /* not announced yet; set by the caller */
	bool overwritten;     /* its rings overwrite their oldest records; set by the caller */
	uint64_t damaged;     /* invalid records */
	bool is_cut;          /* the file was too short for its slots: counts as one damage */
	uint64_t missed;      /* allocator calls reported so far */
	uint64_t given_up;    /* samples that were overwritten before they were read */
	uint32_t python_seen; /* maps_due when an interpreter was last looked for, + 1 */
	bool python_told;     /* the program knows how its calls are read */
	uint64_t lost;        /* samples lost for lack of space, reported so far */
};

/* A sample as recorded. */
struct process_sample {
	uint32_t tid;
	uint32_t cpu;
	uint64_t ticks;
	uint64_t weight_ns;
	uint16_t flags; /* SESSION_… without the unwind end */
	enum unwind_end end;
	const uint64_t *pcs; /* leaf first */
	uint32_t count;
	/* NUL-terminated texts: key, value …; of the thread, and only for an event its own. */
	const char *labels;
	uint32_t label_bytes;
	const char *texts; /* of an event: name, unit, labels; NULL: a tick */
	uint32_t text_bytes;
};

typedef int process_sample_fn(void *self, struct process_file *file,
			      const struct process_sample *sample);

/* Words of a ring that begin with a heap record. */
struct process_words {
	const uint64_t *words;
	uint64_t count;
	uint64_t read; /* set by the reader: words consumed, up to a record of another kind */
};

/* *ring belongs to the callback, NULL at first. */
typedef int process_heap_fn(void *self, struct process_file *file, struct heap_ring **ring,
			    uint32_t tid, struct process_words *words);

/* A copied code object; what it points to is valid for the call. */
typedef void process_code_fn(void *self, struct process_file *file, struct copied_parts *parts);

/* Called for each thread before its slot is reused. */
typedef void process_thread_fn(void *self, struct process_file *file, uint32_t tid,
			       const char *comm, bool ended);

/*
 * Opens the file of that name in a folder. -EAGAIN: not ready yet; -EINVAL: invalid. The caller
 * releases *ret with process_file_close().
 */
int process_file_open(const char *folder, const char *name, struct process_file **ret);
void process_file_close(struct process_file *file); /* NULL is fine */

/* Whether file belongs to the same process as other and was created later. */
bool process_file_is_later(const struct process_file *file, const struct process_file *other);

/* Called once it is decided what will be read, before reading; the head is up to date. */
typedef void process_ready_fn(void *self, struct process_file *file);

struct process_reader {
	process_ready_fn *ready; /* optional */
	process_sample_fn *sample;
	process_thread_fn *thread;
	process_heap_fn *heap;
	process_code_fn *code; /* optional */
	void *self;
};

/* Tells the program where its interpreter keeps calls: struct python_layout as words. */
void process_file_tell_python(struct process_file *file, const void *layout);

/*
 * Publishes a list of modules, 0 for none, to the program; changed is the number of changes it
 * covers.
 */
void process_file_publish(struct process_file *file, uint64_t modules, uint32_t changed);

/* Whether the program waits at exit for a scan. */
static inline bool process_file_waits(const struct process_file *file)
{
	return atomic_load(&file->head->scan_asked) && !atomic_load(&file->head->scan_done);
}

/* Lets a program that waits at exit continue after its memory was scanned. */
void process_file_let_end(struct process_file *file);

/* Reads the head again. False if the file is too short now: the old copy stays. */
bool process_file_look(struct process_file *file);

/* Reads everything written so far. Returns the first nonzero result of a callback. */
int process_file_drain(struct process_file *file, const struct process_reader *reader);

/* Total size of all rings. */
uint64_t process_file_ring_bytes(const struct process_file *file);

/* Samples lost since the last call. */
uint64_t process_file_take_lost(struct process_file *file);

/* Allocator calls that threads could not record, since the last call. */
uint64_t process_file_take_missed(struct process_file *file);

#endif
