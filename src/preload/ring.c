/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/ring.h"

#include <stdbool.h>
#include <stddef.h>

#include "preload/fallible_load.h"
#include "preload/ring_overwrite.h"
#include "preload/runtime.h"
#include "preload/session_file.h"
#include "wire/session_code.h"

#define SAMPLE_WORDS (sizeof(struct session_sample) / 8)

/* The position of the next record. The program may have overwritten the reader's copy. */
static uint64_t head_of(struct preload_thread *thread)
{
	if (atomic_load_explicit(&thread->slot->head, memory_order_relaxed) != thread->head)
		atomic_store(&thread->slot->head, thread->head);
	return thread->head;
}

static void publish(struct preload_thread *thread, uint64_t head)
{
	thread->head = head;
	atomic_store_explicit(&thread->slot->head, head, memory_order_release);
}

/* Pads the ring up to its end, because records are contiguous. */
static void put_pad(struct preload_thread *thread, uint64_t at, uint64_t words)
{
	*(struct session_record *)(thread->ring + at) =
		(struct session_record){.kind = SESSION_PAD, .words = (uint32_t)words};
}

/*
 * Reserves this many contiguous words for a record. NULL: the ring is full. *head is set to the end
 * of the record.
 */
static uint64_t *claim(struct preload_thread *thread, uint32_t words, uint64_t *head)
{
	uint64_t size = thread->ring_words;
	uint64_t used = *head - atomic_load_explicit(&thread->slot->tail, memory_order_acquire);
	uint64_t at = *head & (size - 1);
	uint64_t pad = at + words > size ? size - at : 0;

	if (preload.control->overwrite_old) {
		if (!ring_make_room(thread->slot, thread->ring, size, *head + pad + words))
			return NULL;
	} else if (used > size || size - used < words + pad) {
		return NULL;
	}
	if (pad > 0) {
		put_pad(thread, at, pad);
		*head += pad;
		at = 0;
	}
	*head += words;
	/* The reader may be sleeping: wake it at half a ring. */
	if (used < size / 2 && used + pad + words >= size / 2)
		session_file_wake();
	return thread->ring + at;
}

/* How many frames, counted from the root, equal those of the last written stack. */
static uint32_t count_kept(const struct preload_thread *thread, uint32_t count)
{
	const uint64_t *pcs = thread->pcs + count;
	const uint64_t *written = thread->written + thread->written_count;
	uint32_t most = count < thread->written_count ? count : thread->written_count;
	uint32_t kept = 0;

	while (kept < most && pcs[-1 - (int)kept] == written[-1 - (int)kept])
		kept++;
	return kept;
}

void ring_lose(struct preload_thread *thread, uint64_t samples, uint64_t weight_ns)
{
	atomic_fetch_add_explicit(&thread->slot->lost, samples, memory_order_relaxed);
	atomic_fetch_add_explicit(&thread->slot->lost_weight, weight_ns, memory_order_relaxed);
}

/* Copies texts and pads the last word. */
static void put_texts(uint64_t *to, struct ring_texts texts)
{
	uint32_t words = (texts.size + 7) / 8;
	char *bytes = (char *)to;

	if (words > 0)
		to[words - 1] = 0;
	for (uint32_t i = 0; i < texts.size; i++)
		bytes[i] = texts.bytes[i];
}

/* Keeps the written stack for comparison with the next one. */
static void remember_stack(struct preload_thread *thread, uint32_t count)
{
	uint64_t *other = thread->written;

	thread->written = thread->pcs;
	thread->written_count = count;
	thread->pcs = other;
}

/* The words of a record of texts. */
static uint32_t texts_words(struct ring_texts texts)
{
	return 1 + (texts.size + 7) / 8;
}

static void write_labels(uint64_t *to, struct ring_texts texts)
{
	*(struct session_record *)to =
		(struct session_record){.kind = SESSION_LABELS, .words = texts_words(texts)};
	put_texts(to + 1, texts);
}

static void put(struct preload_thread *thread, enum session_record_kind kind,
		const struct ring_sample *sample, struct ring_texts texts)
{
	struct session_slot *slot = thread->slot;
	bool alone = preload.control->overwrite_old; /* previous records may be gone */
	struct ring_texts labels = {thread->labels, alone ? thread->label_bytes : 0};
	uint32_t label_words = labels.size > 0 ? texts_words(labels) : 0;
	uint32_t kept = alone ? 0 : count_kept(thread, sample->count);
	uint32_t fresh = sample->count - kept;
	uint32_t words = (uint32_t)SAMPLE_WORDS + fresh + (texts.size + 7) / 8;
	uint64_t head = head_of(thread);
	uint64_t *place = claim(thread, label_words + words, &head);
	struct session_sample *to;

	if (!place) {
		ring_lose(thread, 1, sample->weight_ns);
		return;
	}
	if (label_words > 0)
		write_labels(place, labels);
	to = (struct session_sample *)(place + label_words);
	to->record = (struct session_record){
		.kind = (uint16_t)kind, .flags = sample->flags, .words = words};
	to->ticks = sample->ticks;
	to->weight_ns = sample->weight_ns;
	to->cpu = sample->cpu;
	to->fresh = (uint16_t)fresh;
	to->kept = (uint16_t)kept;
	for (uint32_t i = 0; i < fresh; i++)
		to->pcs[i] = thread->pcs[i];
	put_texts(to->pcs + fresh, texts);
	publish(thread, head);
	if (alone)
		ring_count_sample(slot);
	remember_stack(thread, sample->count);
}

void ring_put_sample(struct preload_thread *thread, const struct ring_sample *sample)
{
	put(thread, SESSION_SAMPLE, sample, (struct ring_texts){NULL, 0});
}

void ring_put_event(struct preload_thread *thread, const struct ring_sample *sample,
		    struct ring_texts texts)
{
	put(thread, SESSION_EVENT, sample, texts);
}

void ring_put_labels(struct preload_thread *thread, struct ring_texts texts)
{
	uint64_t head = head_of(thread);
	uint64_t *to;

	if (preload.control->overwrite_old)
		return; /* each sample has them with it */
	to = claim(thread, texts_words(texts), &head);
	if (!to) {
		ring_lose(thread, 1, 0);
		return;
	}
	write_labels(to, texts);
	publish(thread, head);
}

uint32_t ring_code_words(const struct ring_part *parts)
{
	uint32_t words = (uint32_t)(sizeof(struct session_code) / 8);

	for (uint32_t i = 0; i < SESSION_CODE_PARTS; i++)
		words += (parts[i].bytes + 7) / 8;
	return words;
}

void ring_write_code(uint64_t *place, uint32_t words, const struct ring_part *parts)
{
	struct session_code *to = (struct session_code *)place;

	to->record = (struct session_record){.kind = SESSION_CODE, .words = words};
	place = to->words;
	for (uint32_t i = 0; i < SESSION_CODE_PARTS; i++) {
		to->addresses[i] = parts[i].address;
		to->bytes[i] = parts[i].bytes;
		for (uint32_t j = 0; j < (parts[i].bytes + 7) / 8; j++)
			*place++ = fallible_load((const uint64_t *)parts[i].address + j);
	}
}

bool ring_put_code(struct preload_thread *thread, const struct ring_part *parts)
{
	uint64_t head = head_of(thread);
	uint64_t used = head - atomic_load_explicit(&thread->slot->tail, memory_order_acquire);
	uint32_t words = ring_code_words(parts);
	uint64_t *place;

	/* Samples matter more than names. */
	if (!preload.control->overwrite_old && used + words > thread->ring_words / 4 * 3)
		return false;
	place = claim(thread, words, &head);
	if (!place)
		return false;
	ring_write_code(place, words, parts);
	publish(thread, head);
	return true;
}
