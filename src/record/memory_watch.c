/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/memory_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "model/dictionary.h"
#include "proc/process_info.h"
#include "proc/process_memory.h"
#include "recording/writer.h"

#define FIRST_STEP_NS (10 * NS_PER_MS)
#define STEP_NS (100 * NS_PER_MS)
#define MAX_PROCESSES 64u

struct watched_memory {
	struct memory_reading who; /* its identity; the rest is empty */
	int folder;                /* of /proc */
};

void memory_watch_fini(struct memory_watch *watch)
{
	for (size_t i = 0; i < watch->processes.count; i++)
		(void)close(watch->processes.items[i].folder);
	vec_fini(&watch->processes);
}

static void put(struct recording_writer *writer, const struct watched_memory *process,
		enum memory_reading_kind kind, const struct process_memory *memory)
{
	struct memory_reading reading = process->who;

	reading.time_ns = clock_monotonic_ns();
	reading.kind = kind;
	if (memory) {
		reading.resident_bytes = memory->resident_bytes;
		reading.shared_bytes = memory->shared_bytes;
		reading.split = memory->split;
		reading.regions = memory->regions;
		reading.region_count = memory->region_count;
	}
	recording_writer_memory(writer, &reading);
}

static void forget(struct memory_watch *watch, struct recording_writer *writer, size_t i)
{
	put(writer, &watch->processes.items[i], MEMORY_GONE, NULL);
	(void)close(watch->processes.items[i].folder);
	watch->processes.items[i] = watch->processes.items[--watch->processes.count];
}

static void add(struct memory_watch *watch, struct recording_writer *writer,
		const struct process *process)
{
	struct watched_memory watched = {.who = {.pid = process->pid,
						 .exec_count = process->exec_count,
						 .start_ns = process->start_ns}};
	char path[64];

	/* Its memory from before the exec is gone. */
	for (size_t i = watch->processes.count; i-- > 0;)
		if (watch->processes.items[i].who.pid == process->pid)
			forget(watch, writer, i);
	if (watch->processes.count == MAX_PROCESSES)
		return;
	process_path(path, sizeof(path), (pid_t)process->pid, "");
	watched.folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (watched.folder >= 0 && vec_push(&watch->processes, watched) < 0)
		(void)close(watched.folder);
}

/* Adds the processes that are new in the dictionary. */
static void find_processes(struct memory_watch *watch, struct recording_writer *writer)
{
	const struct dictionary *dictionary = recording_writer_dictionary(writer);

	for (; watch->seen < dictionary->processes.count; watch->seen++)
		add(watch, writer, &dictionary->processes.items[watch->seen]);
}

/* Reads the memory split of one process, in turn. */
static void split_one(struct memory_watch *watch, struct recording_writer *writer)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const struct watched_memory *process;
	struct process_memory memory;

	if (watch->processes.count == 0)
		return;
	process = &watch->processes.items[watch->turn++ % watch->processes.count];
	if (process_memory_split(process->folder, engine_own_paths, &memory) == 0)
		put(writer, process, MEMORY_SPLIT, &memory);
	watch->split_ns = clock_monotonic_ns() +
			  (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) * MEMORY_WATCH_SHARE;
}

void memory_watch_look(struct memory_watch *watch, struct recording_writer *writer, uint64_t now_ns)
{
	struct process_memory memory = {0};

	if (now_ns < watch->next_ns)
		return;
	watch->step_ns *= 2;
	if (watch->processes.count == 0) { /* a process may start only now */
		find_processes(watch, writer);
		if (watch->processes.count > 0 || watch->step_ns == 0)
			watch->step_ns = FIRST_STEP_NS;
	}
	find_processes(watch, writer);
	if (watch->step_ns > STEP_NS)
		watch->step_ns = STEP_NS;
	watch->next_ns = now_ns + watch->step_ns;
	for (size_t i = watch->processes.count; i-- > 0;) {
		int r = process_memory_sum(watch->processes.items[i].folder, &memory);

		if (r == 0)
			put(writer, &watch->processes.items[i], MEMORY_SUM, &memory);
		else if (r == -ESRCH)
			forget(watch, writer, i);
	}
	if (now_ns >= watch->split_ns)
		split_one(watch, writer);
}
