/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/tracked_threads.h"

#include <stddef.h>

void tracked_threads_fini(struct tracked_threads *threads)
{
	vec_fini(&threads->items);
	id_index_fini(&threads->index);
}

struct tracked_thread *tracked_threads_find(const struct tracked_threads *threads, pid_t tid)
{
	struct id_probe probe = id_index_probe(&threads->index, hash_pair((uint64_t)tid, 2));
	uint32_t i;

	while ((i = id_probe_next(&threads->index, &probe)) != ID_NONE)
		if (threads->items.items[i].tid == tid)
			return &threads->items.items[i];
	return NULL;
}

struct tracked_thread *tracked_threads_of(const struct tracked_threads *threads, pid_t pid,
					  pid_t tid)
{
	struct tracked_thread *thread = tracked_threads_find(threads, tid);

	return thread && thread->pid == pid ? thread : NULL;
}

struct tracked_thread *tracked_threads_put(struct tracked_threads *threads, pid_t pid, pid_t tid,
					   uint32_t comm)
{
	struct tracked_thread *thread = tracked_threads_find(threads, tid);

	if (!thread) {
		if (vec_push(&threads->items, (struct tracked_thread){0}) < 0)
			return NULL;
		if (id_index_add(&threads->index, hash_pair((uint64_t)tid, 2),
				 (uint32_t)threads->items.count - 1) < 0) {
			threads->items.count--;
			return NULL;
		}
		thread = &threads->items.items[threads->items.count - 1];
	}
	*thread = (struct tracked_thread){.pid = pid, .tid = tid, .comm = comm, .id = ID_NONE};
	return thread;
}

void tracked_threads_rename(struct tracked_threads *threads, pid_t pid, pid_t tid, uint32_t comm,
			    bool exec)
{
	struct tracked_thread *thread = tracked_threads_of(threads, pid, tid);
	uint32_t given = thread && !exec ? thread->given : 0;

	thread = tracked_threads_put(threads, pid, tid, comm);
	if (thread)
		thread->given = given;
}

void tracked_threads_give(struct tracked_threads *threads, const struct tracked_thread *thread)
{
	struct tracked_thread *known = tracked_threads_find(threads, thread->tid);

	if (known && (known->pid != thread->pid || known->given == thread->given))
		return;
	if (!known)
		known = tracked_threads_put(threads, thread->pid, thread->tid, thread->comm);
	if (!known)
		return; /* out of memory: it keeps its name */
	known->given = thread->given;
	known->id = ID_NONE;
}

void tracked_threads_end(struct tracked_threads *threads, pid_t pid, pid_t tid)
{
	struct tracked_thread *thread = tracked_threads_of(threads, pid, tid);

	if (thread)
		thread->ended = true;
}

void tracked_threads_sweep(struct tracked_threads *threads,
			   bool (*is_kept)(const void *self, pid_t pid), const void *self)
{
	size_t kept = 0;

	id_index_clear(&threads->index);
	for (size_t i = 0; i < threads->items.count; i++) {
		struct tracked_thread thread = threads->items.items[i];

		if (thread.ended || !is_kept(self, thread.pid))
			continue;
		threads->items.items[kept] = thread;
		/* There is room: it was not smaller before. */
		(void)id_index_add(&threads->index, hash_pair((uint64_t)thread.tid, 2),
				   (uint32_t)kept++);
	}
	threads->items.count = kept;
}
