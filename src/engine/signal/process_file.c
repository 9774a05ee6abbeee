/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/process_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vec.h"
#include "engine/signal/heap_ring.h"
#include "engine/signal/overwrite_ring_reader.h"
#include "language/copied_parts.h"
#include "wire/heap_record.h"
#include "wire/session_code.h"

#define MAX_DEPTH 1024u
#define CODE_WORDS (sizeof(struct session_code) / 8)
#define SAMPLE_WORDS (sizeof(struct session_sample) / 8)

struct process_ring {
	uint64_t tail;    /* total words read; our copy, because the program could change its own */
	uint64_t lost;    /* already reported */
	uint64_t strange; /* an impossible head at the last check; 0: none */
	VEC(uint64_t) stack; /* the last one, leaf first */
	VEC(uint64_t) next;
	VEC(char) labels; /* of its thread, as texts */
	struct heap_ring *heap;

	/* If the oldest records are overwritten: */
	struct moving_copy copy;
	uint64_t read;     /* total samples and events read */
	uint64_t given_up; /* total overwritten, already reported */
};

/* Reads all of it or nothing. */
static bool read_at(const struct process_file *file, uint64_t offset, void *to, uint64_t bytes)
{
	return pread(file->fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* A failed write is repeated later, or does not matter. */
static void write_at(const struct process_file *file, uint64_t offset, const void *from,
		     uint64_t bytes)
{
	(void)!pwrite(file->fd, from, bytes, (off_t)offset);
}

bool process_file_look(struct process_file *file)
{
	struct session_process head;

	if (!read_at(file, 0, &head, sizeof(head)))
		return false;
	memcpy(file->copy, &head, sizeof(head));
	return true;
}

static uint64_t first_slots(uint32_t count)
{
	return count < SESSION_FIRST_SLOTS ? count : SESSION_FIRST_SLOTS;
}

/* Whether the sizes in the head are consistent with the file. */
static bool is_sane(const struct session_process *head, uint64_t file_bytes)
{
	uint64_t ring_bytes = (uint64_t)head->ring_words * 8;

	return head->slot_count > 0 && head->slot_count <= SESSION_SLOTS &&
	       head->ring_words >= 64 && head->ring_words <= 1u << 20 &&
	       (head->ring_words & (head->ring_words - 1)) == 0 &&
	       head->slots_offset >= sizeof(struct session_process) &&
	       head->slots_offset % 8 == 0 && head->rings_offset % 4096 == 0 &&
	       head->slots_offset <= 1 << 20 && head->rings_offset <= 1 << 24 &&
	       head->slots_offset + first_slots(head->slot_count) * sizeof(struct session_slot) <=
		       head->rings_offset &&
	       file_bytes >= head->rings_offset + ring_bytes;
}

/* Reads the head of a file and allocates memory for its slots. */
static int read_head(struct process_file *file)
{
	struct stat status;
	struct session_process *head;

	head = file->copy = calloc(1, sizeof(*head));
	file->head = head;
	if (!head)
		return -ENOMEM;
	if (fstat(file->fd, &status) < 0 || !process_file_look(file) || head->magic == 0)
		return -EAGAIN;
	if (head->magic != SESSION_MAGIC || head->version != SESSION_VERSION ||
	    (pid_t)head->pid <= 0 || !is_sane(head, (uint64_t)status.st_size))
		return -EINVAL;
	file->pid = (pid_t)head->pid;
	file->created_ticks = head->created_ticks;
	file->slot_count = head->slot_count;
	file->ring_words = head->ring_words;
	file->layout = (struct session_layout){
		.slots_offset = head->slots_offset,
		.rings_offset = head->rings_offset,
		.ring_words = head->ring_words,
	};
	file->rings = calloc(file->slot_count, sizeof(*file->rings));
	file->slots = calloc(file->slot_count, sizeof(*file->slots));
	file->ring = calloc(file->ring_words, sizeof(*file->ring));
	if (!file->rings || !file->slots || !file->ring)
		return -ENOMEM;
	file->page = mmap(NULL, sizeof(*head), PROT_READ, MAP_SHARED, file->fd, 0);
	return file->page == MAP_FAILED ? -errno : 0;
}

bool process_file_is_later(const struct process_file *file, const struct process_file *other)
{
	/* Not by name: the name of a file that was read is reused by the next program. */
	return file->pid == other->pid && file->created_ticks > other->created_ticks;
}

int process_file_open(const char *folder, const char *name, struct process_file **ret)
{
	char path[PATH_MAX];
	struct process_file *file = calloc(1, sizeof(*file));
	int r;

	if (!file)
		return -ENOMEM;
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	(void)snprintf(file->name, sizeof(file->name), "%s", name);
	file->page = MAP_FAILED;
	file->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	r = file->fd < 0 ? -errno : read_head(file);
	if (r < 0) {
		process_file_close(file);
		return r;
	}
	*ret = file;
	return 0;
}

void process_file_let_end(struct process_file *file)
{
	uint64_t at = offsetof(struct session_process, scan_done);
	uint32_t done = 1;

	write_at(file, at, &done, sizeof(done));
	(void)syscall(SYS_futex, (uint8_t *)file->page + at, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void process_file_close(struct process_file *file)
{
	if (!file)
		return;
	/* There will be no scan: lets the program exit without waiting for one. */
	if (file->fd >= 0 && file->page != MAP_FAILED)
		process_file_let_end(file);
	for (uint32_t i = 0; file->rings && i < file->used; i++) {
		vec_fini(&file->rings[i].stack);
		vec_fini(&file->rings[i].next);
		vec_fini(&file->rings[i].labels);
		vec_fini(&file->rings[i].copy.words);
		heap_ring_free(file->rings[i].heap);
	}
	if (file->page != MAP_FAILED)
		(void)munmap(file->page, sizeof(*file->head));
	if (file->fd >= 0)
		(void)close(file->fd); /* nothing is buffered */
	free(file->rings);
	free(file->slots);
	free(file->ring);
	free(file->copy);
	free(file);
}

void process_file_publish(struct process_file *file, uint64_t modules, uint32_t changed)
{
	uint64_t at = offsetof(struct session_process, maps_known);

	if (modules)
		write_at(file, offsetof(struct session_process, modules), &modules,
			 sizeof(modules));
	atomic_thread_fence(memory_order_release);
	write_at(file, at, &changed, sizeof(changed));
	/* If the file is too short, the kernel returns an error, and no thread waits. */
	(void)syscall(SYS_futex, (uint8_t *)file->page + at, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void process_file_tell_python(struct process_file *file, const void *layout)
{
	const size_t size = sizeof(((struct session_process *)0)->python);
	uint64_t at = offsetof(struct session_process, python);

	/* The first word is the address of the runtime: with it the rest is valid. */
	write_at(file, at + sizeof(uint64_t), (const uint64_t *)layout + 1,
		 size - sizeof(uint64_t));
	atomic_thread_fence(memory_order_release);
	write_at(file, at, layout, sizeof(uint64_t));
}

static uint64_t slot_offset(const struct process_file *file, uint32_t index)
{
	return session_slot_offset(&file->layout, index);
}

/* Builds the stack of a sample from its own frames and those of the previous one. */
static bool join(struct process_ring *ring, const struct session_sample *sample, uint32_t fresh,
		 uint32_t kept)
{
	VEC(uint64_t) swap;

	if (kept > ring->stack.count || vec_reserve(&ring->next, (size_t)fresh + kept) < 0)
		return false;
	if (fresh > 0)
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

/* The size of the texts at the end of a record, up to their end mark; 0 without one. */
static uint32_t count_text(const char *text, uint32_t size)
{
	static const char mark[] = SESSION_TEXT_END;

	while (size > 1 && text[size - 1] == '\0' && text[size - 2] == '\0')
		size--;
	if (size <= sizeof(mark) || memcmp(text + size - sizeof(mark), mark, sizeof(mark)) != 0)
		return 0;
	size -= (uint32_t)sizeof(mark);
	return text[size - 1] == '\0' ? size : 0;
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
		.tid = file->slots[index].tid,
		.cpu = at->cpu,
		.ticks = at->ticks,
		.weight_ns = at->weight_ns,
		.flags = flags & (uint16_t)~SESSION_END_MASK,
		.end = (enum unwind_end)(flags & SESSION_END_MASK),
	};

	if (fresh > words - SAMPLE_WORDS ||
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

/* The part of its space that a thread uses for its ring, as it reports. */
static uint64_t words_of(const struct process_file *file, uint32_t index)
{
	uint32_t words = file->slots[index].ring_words;
	uint32_t most = session_ring_words(&file->layout, index);

	return words >= 32 && words < most && (words & (words - 1)) == 0 ? words : most;
}

/* Copies the words of a ring from tail to head to the same positions. */
static bool read_ring(struct process_file *file, uint32_t index, uint64_t tail, uint64_t head)
{
	uint64_t offset = session_ring_offset(&file->layout, index);
	uint64_t size = words_of(file, index);
	uint64_t at = tail & (size - 1);
	uint64_t words = head - tail;
	uint64_t first = words < size - at ? words : size - at;

	return words <= size && read_at(file, offset + at * 8, file->ring + at, first * 8) &&
	       read_at(file, offset, file->ring, (words - first) * 8);
}

/* Reads a copied code object. */
static void read_code(struct process_file *file, const struct session_code *code, uint32_t words,
		      const struct process_reader *reader)
{
	struct copied_parts parts;
	uint64_t at = 0;

	_Static_assert(SESSION_CODE_PARTS == COPIED_PARTS, "each has a place");
	if (words < CODE_WORDS) {
		file->damaged++; /* the ring may end after it */
		return;
	}
	for (size_t i = 0; i < COPIED_PARTS; i++) {
		uint64_t length = ((uint64_t)code->bytes[i] + 7) / 8;

		if (length > words - CODE_WORDS - at) {
			file->damaged++;
			return;
		}
		parts.items[i] = (struct copied_part){code->addresses[i], code->bytes[i],
						      (const uint8_t *)(code->words + at)};
		at += length;
	}
	reader->code(reader->self, file, &parts);
}

static int read_record(struct process_file *file, uint32_t index,
		       const struct session_record *record, uint32_t words,
		       const struct process_reader *reader)
{
	uint32_t kind = session_kind(record);

	if (session_is_heap(kind) && reader->heap) { /* the reader did not accept it */
		file->damaged++;
		return 0;
	}
	if (record->kind == SESSION_LABELS)
		read_labels(file, index, (const char *)(record + 1), (words - 1) * 8);
	if (record->kind == SESSION_CODE && reader->code)
		read_code(file, (const struct session_code *)record, words, reader);
	if (record->kind != SESSION_SAMPLE && record->kind != SESSION_EVENT)
		return 0;
	if (words >= SAMPLE_WORDS)
		return read_sample(file, index, (const struct session_sample *)record, words,
				   reader);
	file->damaged++; /* the ring may end after it */
	return 0;
}

/* Returns the words that were read to the writer. */
static void set_tail(struct process_file *file, uint32_t index, uint64_t tail)
{
	file->rings[index].tail = tail;
	atomic_thread_fence(memory_order_seq_cst); /* no reads from it after this point */
	write_at(file, slot_offset(file, index) + offsetof(struct session_slot, tail), &tail,
		 sizeof(tail));
}

/* Heap records are read many at a time, because there are millions. */
static int read_heap(struct process_file *file, uint32_t index, struct process_words *words,
		     const struct process_reader *reader)
{
	const struct session_record *first = (const struct session_record *)words->words;

	if (!reader->heap || !session_is_heap(session_kind(first)))
		return 0;
	return reader->heap(reader->self, file, &file->rings[index].heap, file->slots[index].tid,
			    words);
}

/*
 * Whether the head of a ring is impossible. The writer keeps its own copy and corrects it with the
 * next record, so the ring is given up only if it is still wrong at the next check.
 */
static bool is_strange(struct process_file *file, uint32_t index, uint64_t head)
{
	struct process_ring *ring = &file->rings[index];
	bool strange = head - ring->tail > words_of(file, index) && head != ring->strange;

	ring->strange = strange ? head : 0;
	file->damaged += strange;
	return strange;
}

/* Reads the records of a ring. At an invalid record, the rest is dropped. */
static int drain_ring(struct process_file *file, uint32_t index,
		      const struct process_reader *reader)
{
	uint64_t head = atomic_load_explicit(&file->slots[index].head, memory_order_relaxed);
	uint64_t tail = file->rings[index].tail;
	bool sane = read_ring(file, index, tail, head);
	uint64_t size = words_of(file, index);
	double fill = (double)(head - tail) / (double)size;
	int r = 0;

	file->fill = fill > file->fill && fill <= 1 ? fill : file->fill;
	while (tail != head && r == 0) {
		uint64_t at = tail & (size - 1);
		uint64_t room = size - at;
		struct process_words words = {.words = file->ring + at,
					      .count = room < head - tail ? room : head - tail};
		const struct session_record *record = (const struct session_record *)words.words;
		uint32_t length = session_words(record);

		if (!sane || length == 0 || length > words.count) {
			file->damaged++;
			tail = head;
			break;
		}
		r = read_heap(file, index, &words, reader);
		if (words.read == 0 && r == 0) {
			r = read_record(file, index, record, length, reader);
			words.read = length;
		}
		tail += words.read;
	}
	set_tail(file, index, tail);
	return r;
}

static bool read_oldest(struct process_file *file, uint32_t index)
{
	struct session_slot *slot = &file->slots[index];
	uint64_t offset = slot_offset(file, index) + offsetof(struct session_slot, oldest);

	return read_at(file, offset, &slot->oldest, sizeof(slot->oldest));
}

/*
 * Copies what the writer of a moving ring has not released. What it releases meanwhile may be
 * overwritten: the slot shows that after the copy, and it is skipped.
 */
static bool copy_moving_ring(struct process_file *file, uint32_t index,
			     struct overwrite_ring_reader *ret)
{
	struct session_slot *slot = &file->slots[index];
	uint64_t oldest;

	/* Read again: the count of samples was read before the head. */
	if (!read_at(file, slot_offset(file, index), slot, sizeof(*slot)))
		return false;
	atomic_thread_fence(memory_order_acquire);
	/* The words of one read come in any order; an older `oldest` makes the ring too long. */
	if (!read_oldest(file, index))
		return false;
	oldest = atomic_load_explicit(&slot->oldest, memory_order_relaxed);
	*ret = (struct overwrite_ring_reader){
		.slot = slot,
		.words = file->ring,
		.size = words_of(file, index),
		.head = atomic_load_explicit(&slot->head, memory_order_relaxed),
		.tail = file->rings[index].tail,
	};
	if (oldest > ret->tail)
		ret->tail = oldest;
	if (ret->tail < ret->head && !read_ring(file, index, ret->tail, ret->head))
		return false;
	atomic_thread_fence(memory_order_acquire);
	return read_oldest(file, index);
}

/* The same if the writer overwrites what is not read in time. */
static int drain_moving_ring(struct process_file *file, uint32_t index,
			     const struct process_reader *reader)
{
	struct process_ring *own = &file->rings[index];
	uint64_t samples = atomic_load(&file->slots[index].samples);
	const struct session_record *record;
	struct overwrite_ring_reader ring;
	int r = 0;

	if (!copy_moving_ring(file, index, &ring)) {
		file->damaged++;
		own->tail = atomic_load(&file->slots[index].head);
		return 0;
	}
	while (r == 0 && (record = overwrite_ring_reader_next(&ring, &own->copy))) {
		bool sample = record->kind == SESSION_SAMPLE || record->kind == SESSION_EVENT;

		r = read_record(file, index, record, record->words, reader);
		own->read += sample;
		/* Labels apply to one sample. */
		own->labels.count = sample ? 0 : own->labels.count;
	}
	file->damaged += ring.damaged;
	/* Samples that arrived after the count was read may hide some loss, until the next time. */
	if (samples > own->read + own->given_up) {
		file->given_up += samples - own->read - own->given_up;
		own->given_up = samples - own->read;
	}
	set_tail(file, index, ring.tail);
	return r;
}

static void finish_thread(struct process_file *file, uint32_t index, bool ended,
			  const struct process_reader *reader)
{
	const struct session_slot *slot = &file->slots[index];
	char comm[sizeof(slot->comm) + 1] = "";

	memcpy(comm, slot->comm, sizeof(slot->comm));
	reader->thread(reader->self, file, slot->tid, comm, ended);
}

/* A thread has ended: frees its slot. */
static void free_slot(struct process_file *file, uint32_t index)
{
	uint32_t state = SESSION_SLOT_FREE;

	file->rings[index].stack.count = 0;
	file->rings[index].labels.count = 0;
	heap_ring_reset(file->rings[index].heap);
	write_at(file, slot_offset(file, index) + offsetof(struct session_slot, state), &state,
		 sizeof(state));
}

static int drain_slot(struct process_file *file, uint32_t index,
		      const struct process_reader *reader)
{
	struct session_slot *slot = &file->slots[index];
	const struct process_ring *ring = &file->rings[index];
	bool left = atomic_load(&slot->state) == SESSION_SLOT_LEFT;
	bool owes;
	int r = 0;

	/* State and head were read in any order: read again what was written before the end. */
	if (left && !read_at(file, slot_offset(file, index), slot, sizeof(*slot)))
		return 0;
	atomic_thread_fence(memory_order_acquire);
	/* What was overwritten during the last read is not counted yet. */
	owes = file->overwritten && atomic_load(&slot->samples) > ring->read + ring->given_up;
	/* The program overwrote it, and would never find space again. */
	if (atomic_load(&slot->tail) != ring->tail)
		set_tail(file, index, ring->tail);
	if (!left && !file->overwritten && is_strange(file, index, atomic_load(&slot->head)))
		return 0;
	if (atomic_load(&slot->head) != ring->tail || owes) {
		finish_thread(file, index, false, reader);
		r = file->overwritten ? drain_moving_ring(file, index, reader)
				      : drain_ring(file, index, reader);
	}
	if (!left)
		return r;
	finish_thread(file, index, true, reader);
	free_slot(file, index);
	return r;
}

/* Reads a range of consecutive slots, if any. */
static bool read_slots_from(struct process_file *file, uint32_t from, uint32_t to)
{
	return from >= to || read_at(file, slot_offset(file, from), file->slots + from,
				     (to - from) * sizeof(*file->slots));
}

/* The number of slots whose rings fit into the file; 0: the file has changed. */
static uint32_t read_slots(struct process_file *file)
{
	uint32_t rings;

	rings = process_file_look(file) ? atomic_load(&file->head->rings) : 0;
	if (rings > file->slot_count)
		rings = file->slot_count;
	if (rings == 0 || !read_slots_from(file, 0, (uint32_t)first_slots(rings)) ||
	    !read_slots_from(file, SESSION_FIRST_SLOTS, rings)) {
		file->damaged += !file->is_cut; /* once */
		file->is_cut = true;
		return 0;
	}
	atomic_thread_fence(memory_order_acquire);
	if (rings > file->used)
		file->used = rings;
	return rings;
}

int process_file_drain(struct process_file *file, const struct process_reader *reader)
{
	uint32_t rings = read_slots(file);
	int r = 0;

	if (reader->ready && process_file_look(file))
		reader->ready(reader->self, file);
	for (uint32_t i = 0; i < rings && r == 0; i++)
		if (atomic_load(&file->slots[i].state) != SESSION_SLOT_FREE)
			r = drain_slot(file, i, reader);
	return r;
}

uint64_t process_file_ring_bytes(const struct process_file *file)
{
	uint64_t words = 0;

	/* A slot that was never used says nothing about its ring. */
	for (uint32_t i = 0; i < file->used; i++)
		words += file->slots[i].ring_words > 0 ? words_of(file, i) : 0;
	return words * 8;
}

uint64_t process_file_take_lost(struct process_file *file)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < file->used; i++) {
		uint64_t now = atomic_load(&file->slots[i].lost);

		/* It only grows: a smaller number is invalid. */
		if (now > file->rings[i].lost)
			lost += now - file->rings[i].lost;
		file->rings[i].lost = now;
	}
	lost += file->damaged + file->given_up;
	file->damaged = file->given_up = 0;
	return lost;
}

uint64_t process_file_take_missed(struct process_file *file)
{
	uint64_t now = atomic_load(&file->head->counts[SESSION_HEAP_MISSED]);
	uint64_t missed = now > file->missed ? now - file->missed : 0; /* as above */

	file->missed = now;
	return missed;
}
