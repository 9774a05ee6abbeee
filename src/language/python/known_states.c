/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/known_states.h"

#include <stdbool.h>

#include "language/language.h"
#include "unwind/python_thread.h"
#include "unwind/python_walk.h"

/*
 * One search in this many reads the whole list: a new thread may follow one whose address was used
 * before.
 */
#define WHOLE_SEARCHES 64u

void known_states_fini(struct known_states *known)
{
	vec_fini(&known->states);
	id_index_fini(&known->index);
}

static bool has(const struct known_states *known, uint64_t state)
{
	struct id_probe probe = id_index_probe(&known->index, hash_pair(state, 0));
	uint32_t id;

	while ((id = id_probe_next(&known->index, &probe)) != ID_NONE)
		if (known->states.items[id] == state)
			return true;
	return false;
}

/* Without memory, the thread is not found this time. */
static void add(struct known_states *known, uint64_t state)
{
	if (vec_push(&known->states, state) == 0 &&
	    id_index_add(&known->index, hash_pair(state, 0), (uint32_t)known->states.count - 1) < 0)
		known->states.count--;
}

/* Adds new threads. They are at the head of the list of their interpreter. */
static void learn(struct known_states *known, const struct python_layout *layout,
		  const struct python_reader *reader)
{
	bool whole = known->searches++ % WHOLE_SEARCHES == 0;
	struct python_threads at = {0};
	uint64_t state;

	if (whole) { /* those that have ended are left out */
		known->states.count = 0;
		id_index_clear(&known->index);
	}
	while ((state = python_next_thread(layout, reader, &at)) != 0) {
		if (!has(known, state))
			add(known, state);
		else if (whole)
			break; /* a ring: the list was changing */
		else
			at.state = 0; /* on to the next interpreter */
	}
}

static bool is_in(const struct language_sample *sample, uint64_t word)
{
	for (size_t i = 0; i < sample->count; i++)
		if (sample->words[i] == word)
			return true;
	return false;
}

/* Whether a thread with this state was in its innermost frame in the sample. */
static bool is_sampled(const struct python_layout *layout, const struct python_reader *reader,
		       const struct language_sample *sample, uint64_t state)
{
	uint64_t frame;

	return python_is_listed(layout, reader, state) &&
	       python_first_frame(layout, reader, state, &frame) == PYTHON_GOING && frame != 0 &&
	       is_in(sample, frame);
}

uint64_t known_states_search(struct known_states *known, const struct python_layout *layout,
			     const struct python_reader *reader,
			     const struct language_sample *sample)
{
	uint64_t last = 0;
	uint64_t id;

	learn(known, layout, reader);
	for (size_t i = 0; i < sample->count; i++) {
		uint64_t word = sample->words[i];

		if (word == 0 || (word & 7) != 0 || word == last || !has(known, word))
			continue;
		last = word;
		if (is_sampled(layout, reader, sample, word) &&
		    python_read_word(reader, word + layout->thread_id, &id))
			return id;
	}
	return 0;
}
