/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_PROCESS_FILE_H
#define WICK_ENGINE_SIGNAL_PROCESS_FILE_H

/*
 * process_file: reads what one watched program writes. The program may be broken
 * or hostile: nothing in its file is trusted beyond what the file can hold. It is read
 * and written by calls, not by memory that both have: what was checked stays as it was,
 * and a file that is cut under us is too short and no SIGBUS.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "unwind/frame.h"
#include "wire/session.h"
#include "wire/session_layout.h"

struct error;

struct heap_ring;
struct process_ring; /* what is remembered of a slot */

struct process_file {
	char name[64];
	pid_t pid;
	uint64_t created_ticks; /* copies, as those below */
	int fd;
	struct session_process *copy;       /* of its head, as it was when it was last read */
	const struct session_process *head; /* the same, for all others */
	struct session_slot *slots;         /* likewise: slot_count */
	uint64_t *ring;                     /* that is read just now: ring_words */
	void *page;                         /* mapped, to wake who waits for the head to change */
	uint32_t slot_count;                /* copies: the program could change its own */
	uint32_t ring_words;
	uint32_t used; /* slots that had room in the file when it was looked at */
	struct session_layout layout;
	struct process_ring *rings; /* slot_count */
	uint32_t maps_seen;         /* of head->maps_changed: for others, as the next three */
	uint32_t maps_due;          /* the same, when it was learnt; to be published */
	uint64_t maps_list;         /* the modules then; 0: none to be published */
	size_t maps_listed;         /* how many in the last list have tables */
	uint64_t gone_seen;         /* of head->gone_ticks: another module was seen since */
	double fill;                /* the most that a ring was full, 0 to 1; for others to reset */
	bool is_new;                /* nobody has told others of it yet; set by the caller */
	bool overwritten;           /* its rings give up their oldest records; set by the caller */
	uint64_t damaged;           /* records that made no sense */
	bool is_cut;                /* the file was too short for its slots: counted as one */
	uint64_t missed;            /* calls of the allocator, as far as told */
	uint64_t given_up;          /* samples that were written over before they were read */
	uint64_t lost;              /* that the program had no room for, as far as told */
};

/* A sample as it was taken. */
struct process_sample {
	uint32_t tid;
	uint32_t cpu;
	uint64_t ticks;
	uint64_t weight_ns;
	uint16_t flags; /* SESSION_… without the end */
	enum unwind_end end;
	const uint64_t *pcs; /* leaf first */
	uint32_t count;
	/* Texts, each with its NUL: key, value …; of the thread, and of an event alone. */
	const char *labels;
	uint32_t label_bytes;
	const char *texts; /* of an event: name, unit, labels; NULL: it is a tick */
	uint32_t text_bytes;
};

typedef int process_sample_fn(void *self, struct process_file *file,
			      const struct process_sample *sample);

/* Words of a ring that begin with a record of the heap. */
struct process_words {
	const uint64_t *words;
	uint64_t count;
	uint64_t read; /* set by who reads them: up to a record that is another's */
};

/* *ring is the caller's own, NULL at first. */
typedef int process_heap_fn(void *self, struct process_file *file, struct heap_ring **ring,
			    uint32_t tid, struct process_words *words);

/* Called for each thread before its slot is given to another. */
typedef void process_thread_fn(void *self, struct process_file *file, uint32_t tid,
			       const char *comm, bool ended);

/*
 * Maps the file of that name in a folder. -EAGAIN: it is not ready yet; -EINVAL: it
 * makes no sense. The caller releases *ret with process_file_close().
 */
int process_file_open(const char *folder, const char *name, struct process_file **ret);
void process_file_close(struct process_file *file); /* NULL is fine */

/* Whether a process became the program of one file after it was that of the other. */
bool process_file_is_later(const struct process_file *file, const struct process_file *other);

/* Called when it is known what is read, before any of it is; the head is fresh. */
typedef void process_ready_fn(void *self, struct process_file *file);

struct process_reader {
	process_ready_fn *ready; /* optional */
	process_sample_fn *sample;
	process_thread_fn *thread;
	process_heap_fn *heap;
	void *self;
};

/* Tells the program of a list of its modules, 0 for none, that is for so many changes. */
void process_file_publish(struct process_file *file, uint64_t modules, uint32_t changed);

/* Whether the program waits at its end. */
static inline bool process_file_waits(const struct process_file *file)
{
	return atomic_load(&file->head->scan_asked) && !atomic_load(&file->head->scan_done);
}

/* Tells the program that waits at its end that its memory was looked at. */
void process_file_let_end(struct process_file *file);

/* Reads the head anew. False when the file is too short by now: it stays as it was. */
bool process_file_look(struct process_file *file);

/* Reads all that was written. Returns what a callback returns that is not 0. */
int process_file_drain(struct process_file *file, const struct process_reader *reader);

/* Of all rings that there are. */
uint64_t process_file_ring_bytes(const struct process_file *file);

/* What is lost of samples since the last call. */
uint64_t process_file_take_lost(struct process_file *file);

/* Calls of the allocator that threads could not write down, since it was asked last. */
uint64_t process_file_take_missed(struct process_file *file);

#endif
