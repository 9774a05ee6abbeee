/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/process_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/scope.h"
#include "base/vec.h"
#include "engine/signal/moving_ring.h"

#define MAX_DEPTH 1024u
#define SAMPLE_WORDS (sizeof(struct session_sample) / 8)

struct process_ring {
	uint64_t lost;       /* that was told already */
	VEC(uint64_t) stack; /* the last one, leaf first */
	VEC(uint64_t) next;
	VEC(char) labels; /* of its thread, as texts */

	/* Where the oldest records are given up: */
	struct moving_copy copy;
	uint64_t read;     /* samples and events, ever */
	uint64_t given_up; /* likewise, that were told */
};

/* Whether what the head says fits into what the file may be. */
static bool is_sane(const struct process_file *file)
{
	uint64_t ring_bytes = (uint64_t)file->ring_words * 8;

	return file->slot_count > 0 && file->slot_count <= SESSION_SLOTS &&
	       file->ring_words >= 64 && file->ring_words <= 1u << 20 &&
	       (file->ring_words & (file->ring_words - 1)) == 0 &&
	       file->slots_offset >= sizeof(struct session_process) &&
	       file->slots_offset % 8 == 0 && file->rings_offset % 4096 == 0 &&
	       file->slots_offset <= 1 << 20 && file->rings_offset <= 1 << 24 &&
	       file->slots_offset + file->slot_count * sizeof(struct session_slot) <=
		       file->rings_offset &&
	       file->bytes >= file->rings_offset + ring_bytes;
}

static int map(struct process_file *file, int fd)
{
	struct session_process head;
	struct stat status;
	uint64_t whole;
	void *memory;

	if (fstat(fd, &status) < 0 || pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    head.magic == 0)
		return -EAGAIN;
	file->pid = (pid_t)head.pid;
	file->slot_count = head.slot_count;
	file->ring_words = head.ring_words;
	file->slots_offset = head.slots_offset;
	file->rings_offset = head.rings_offset;
	file->bytes = (uint64_t)status.st_size;
	if (head.magic != SESSION_MAGIC || head.version != SESSION_VERSION || !is_sane(file))
		return -EINVAL;
	/* The file grows: what is beyond its end now is not touched before it is there. */
	whole = file->rings_offset + (uint64_t)file->slot_count * file->ring_words * 8;
	memory = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	file->head = memory;
	file->bytes = whole;
	return 0;
}

/* PID.START.IMAGE; what else a name may be counts as the first. */
static void read_name(struct process_file *file)
{
	const char *start = strchr(file->name, '.');
	char *image = NULL;

	if (start)
		file->start_ticks = strtoull(start + 1, &image, 10);
	if (image && *image == '.')
		file->image = strtoull(image + 1, NULL, 10);
}

bool process_file_is_later(const struct process_file *file, const struct process_file *other)
{
	if (file->pid != other->pid)
		return false;
	return file->start_ticks != other->start_ticks ? file->start_ticks > other->start_ticks
						       : file->image > other->image;
}

int process_file_open(const char *folder, const char *name, struct process_file **ret)
{
	char path[PATH_MAX];
	struct process_file *file;
	int r;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	SCOPED(fd) int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	(void)snprintf(file->name, sizeof(file->name), "%s", name);
	read_name(file);
	r = map(file, fd);
	if (r == 0) {
		file->rings = calloc(file->slot_count, sizeof(*file->rings));
		r = file->rings ? 0 : -ENOMEM;
	}
	if (r < 0) {
		process_file_close(file);
		return r;
	}
	*ret = file;
	return 0;
}

void process_file_close(struct process_file *file)
{
	if (!file)
		return;
	for (uint32_t i = 0; file->rings && i < file->slot_count; i++) {
		vec_fini(&file->rings[i].stack);
		vec_fini(&file->rings[i].next);
		vec_fini(&file->rings[i].labels);
		vec_fini(&file->rings[i].copy.words);
	}
	if (file->head)
		(void)munmap(file->head, file->bytes);
	free(file->rings);
	free(file);
}

static struct session_slot *slot_of(const struct process_file *file, uint32_t index)
{
	uint8_t *bytes = (uint8_t *)file->head;

	return (struct session_slot *)(bytes + file->slots_offset) + index;
}

static const uint64_t *ring_of(const struct process_file *file, uint32_t index)
{
	const uint8_t *bytes = (const uint8_t *)file->head;

	return (const uint64_t *)(bytes + file->rings_offset) + (uint64_t)index * file->ring_words;
}

/* Makes the stack of a sample out of its own frames and those of the one before it. */
static bool join(struct process_ring *ring, const struct session_sample *sample, uint32_t fresh,
		 uint32_t kept)
{
	VEC(uint64_t) swap;

	if (kept > ring->stack.count || vec_reserve(&ring->next, (size_t)fresh + kept) < 0)
		return false;
	memcpy(ring->next.items, sample->pcs, fresh * sizeof(uint64_t));
	if (kept > 0)
		memcpy(ring->next.items + fresh, ring->stack.items + ring->stack.count - kept,
		       kept * sizeof(uint64_t));
	ring->next.count = fresh + kept;
	memcpy(&swap, &ring->stack, sizeof(swap));
	memcpy(&ring->stack, &ring->next, sizeof(swap));
	memcpy(&ring->next, &swap, sizeof(swap));
	return true;
}

/* The bytes of whole texts at the end of a record: padding does not count. */
static uint32_t count_text(const char *text, uint32_t size)
{
	while (size > 1 && text[size - 1] == '\0' && text[size - 2] == '\0')
		size--;
	return size > 0 && text[size - 1] == '\0' ? size : 0;
}

static void read_labels(struct process_file *file, uint32_t index, const char *text, uint32_t size)
{
	struct process_ring *ring = &file->rings[index];

	size = count_text(text, size);
	ring->labels.count = 0;
	if (size > SESSION_TEXT_BYTES || vec_reserve(&ring->labels, (size_t)size + 1) < 0) {
		file->damaged++;
		return;
	}
	memcpy(ring->labels.items, text, size);
	ring->labels.count = size;
}

static int read_sample(struct process_file *file, uint32_t index, const struct session_sample *at,
		       uint32_t words, const struct process_reader *reader)
{
	struct process_ring *ring = &file->rings[index];
	uint32_t fresh = at->fresh;
	uint32_t kept = at->kept;
	uint16_t flags = at->record.flags;
	struct process_sample sample = {
		.tid = slot_of(file, index)->tid,
		.cpu = at->cpu,
		.ticks = at->ticks,
		.weight_ns = at->weight_ns,
		.flags = flags & (uint16_t)~SESSION_END_MASK,
		.end = (enum unwind_end)(flags & SESSION_END_MASK),
	};

	if (words < SAMPLE_WORDS || fresh > words - SAMPLE_WORDS ||
	    (at->record.kind == SESSION_SAMPLE && fresh != words - SAMPLE_WORDS) ||
	    fresh + kept > MAX_DEPTH || sample.end >= UNWIND_ENDS || sample.end < UNWIND_ROOT ||
	    !join(ring, at, fresh, kept)) {
		file->damaged++;
		return 0;
	}
	sample.pcs = ring->stack.items;
	sample.count = (uint32_t)ring->stack.count;
	sample.labels = ring->labels.items;
	sample.label_bytes = (uint32_t)ring->labels.count;
	if (at->record.kind == SESSION_EVENT) {
		sample.texts = (const char *)(at->pcs + fresh);
		sample.text_bytes = count_text(sample.texts, (words - SAMPLE_WORDS - fresh) * 8);
	}
	return reader->sample(reader->self, file, &sample);
}

static int read_record(struct process_file *file, uint32_t index,
		       const struct session_record *record, uint32_t words,
		       const struct process_reader *reader)
{
	if (record->kind == SESSION_LABELS)
		read_labels(file, index, (const char *)(record + 1), (words - 1) * 8);
	if (record->kind == SESSION_SAMPLE || record->kind == SESSION_EVENT)
		return read_sample(file, index, (const struct session_sample *)record, words,
				   reader);
	return 0;
}

/* Reads the records of a ring. One that makes no sense is where all after it are given up. */
static int drain_ring(struct process_file *file, uint32_t index,
		      const struct process_reader *reader)
{
	struct session_slot *slot = slot_of(file, index);
	const uint64_t *ring = ring_of(file, index);
	uint64_t head = atomic_load_explicit(&slot->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&slot->tail, memory_order_relaxed);
	double fill = (double)(head - tail) / file->ring_words;
	int r = 0;

	file->fill = fill > file->fill && fill <= 1 ? fill : file->fill;
	while (tail != head && r == 0) {
		uint64_t at = tail & (file->ring_words - 1);
		struct session_record record = *(const struct session_record *)(ring + at);

		if (head - tail > file->ring_words || record.words == 0 ||
		    record.words > head - tail || record.words > file->ring_words - at) {
			file->damaged++;
			tail = head;
			break;
		}
		r = read_record(file, index, (const struct session_record *)(ring + at),
				record.words, reader);
		tail += record.words;
	}
	atomic_store_explicit(&slot->tail, tail, memory_order_release);
	return r;
}

/* The same where the writer gives up what is not read in time. */
static int drain_moving_ring(struct process_file *file, uint32_t index,
			     const struct process_reader *reader)
{
	struct session_slot *slot = slot_of(file, index);
	struct process_ring *own = &file->rings[index];
	/* Before the head: what it counts is read below, or is gone. */
	uint64_t samples = atomic_load_explicit(&slot->samples, memory_order_acquire);
	struct moving_ring ring = {
		.slot = slot,
		.words = ring_of(file, index),
		.size = file->ring_words,
		.head = atomic_load_explicit(&slot->head, memory_order_acquire),
		.tail = atomic_load_explicit(&slot->tail, memory_order_relaxed),
	};
	const struct session_record *record;
	int r = 0;

	while (r == 0 && (record = moving_ring_next(&ring, &own->copy))) {
		bool sample = record->kind == SESSION_SAMPLE || record->kind == SESSION_EVENT;

		r = read_record(file, index, record, record->words, reader);
		own->read += sample;
		/* Labels are for one sample. */
		own->labels.count = sample ? 0 : own->labels.count;
	}
	file->damaged += ring.damaged;
	/* Samples that came since the count was read may make up for some: for now. */
	if (samples > own->read + own->given_up) {
		file->given_up += samples - own->read - own->given_up;
		own->given_up = samples - own->read;
	}
	atomic_store_explicit(&slot->tail, ring.tail, memory_order_release);
	return r;
}

static void finish_thread(struct process_file *file, uint32_t index, bool ended,
			  const struct process_reader *reader)
{
	const struct session_slot *slot = slot_of(file, index);
	char comm[sizeof(slot->comm) + 1] = "";

	memcpy(comm, slot->comm, sizeof(slot->comm));
	reader->thread(reader->self, file, slot->tid, comm, ended);
}

int process_file_drain(struct process_file *file, const struct process_reader *reader)
{
	uint32_t rings = atomic_load(&file->head->rings);
	int r = 0;

	if (rings > file->slot_count)
		rings = file->slot_count;
	for (uint32_t i = 0; i < rings && r == 0; i++) {
		struct session_slot *slot = slot_of(file, i);
		uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

		if (state == SESSION_SLOT_FREE)
			continue;
		if (atomic_load(&slot->head) != atomic_load(&slot->tail))
			finish_thread(file, i, false, reader);
		r = file->overwritten ? drain_moving_ring(file, i, reader)
				      : drain_ring(file, i, reader);
		if (state != SESSION_SLOT_LEFT)
			continue;
		finish_thread(file, i, true, reader);
		file->rings[i].stack.count = 0;
		file->rings[i].labels.count = 0;
		atomic_store_explicit(&slot->state, SESSION_SLOT_FREE, memory_order_release);
	}
	return r;
}

uint64_t process_file_ring_bytes(const struct process_file *file)
{
	uint32_t rings = atomic_load(&file->head->rings);

	return (uint64_t)(rings < file->slot_count ? rings : file->slot_count) * file->ring_words *
	       8;
}

uint64_t process_file_take_lost(struct process_file *file)
{
	uint32_t rings = atomic_load(&file->head->rings);
	uint64_t lost = 0;

	for (uint32_t i = 0; i < rings && i < file->slot_count; i++) {
		uint64_t now = atomic_load(&slot_of(file, i)->lost);

		lost += now - file->rings[i].lost;
		file->rings[i].lost = now;
	}
	lost += file->damaged + file->given_up;
	file->damaged = file->given_up = 0;
	return lost;
}
