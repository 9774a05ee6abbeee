/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "load/filter/thread_state.h"
#include "load/load.h"
#include "load/samples/samples.h"
#include "model/dictionary.h"
#include "model/profile_time.h"

/* Which samples the options select: by process, thread, label and time. */

static bool contains_number(const uint64_t *list, size_t n, uint64_t number)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i] == number)
			return true;
	return n == 0;
}

static bool contains_text(const char *const *list, size_t n, const char *text)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return n == 0;
}

bool samples_want_pid(const struct samples *samples, uint32_t pid)
{
	return contains_number(samples->options->pids, samples->options->pid_count, pid);
}

static bool thread_matches(const struct samples *samples, uint32_t id)
{
	const struct dictionary *dictionary = recording_reader_dictionary(samples->reader);
	const struct thread *thread = &dictionary->threads.items[id];
	const struct process *process = &dictionary->processes.items[thread->process];
	const struct load_options *options = samples->options;

	return samples_want_pid(samples, process->pid) &&
	       contains_number(options->tids, options->tid_count, thread->tid) &&
	       contains_text(options->comms, options->comm_count, thread->comm);
}

/* Each thread is evaluated once. */
int samples_want_thread(struct samples *samples, uint32_t id, bool *ret)
{
	while (samples->thread_wanted.count <= id)
		if (vec_push(&samples->thread_wanted, 0) < 0)
			return -ENOMEM;
	if (samples->thread_wanted.items[id] == 0)
		samples->thread_wanted.items[id] = thread_matches(samples, id) ? 1 : -1;
	*ret = samples->thread_wanted.items[id] > 0;
	return 0;
}

/* Whether labels say that the thread was off its CPU. Each set is evaluated once. */
static bool is_away(struct samples *samples, uint32_t labels)
{
	const struct dictionary *dictionary = recording_reader_dictionary(samples->reader);

	while (samples->labels_away.count <= labels)
		if (vec_push(&samples->labels_away, 0) < 0)
			return false; /* then it is a moment */
	if (samples->labels_away.items[labels] == 0)
		samples->labels_away.items[labels] =
			profile_state_is_away(thread_state_of(dictionary, labels)) ? 1 : -1;
	return samples->labels_away.items[labels] > 0;
}

/* NULL: the recording does not say. */
static const char *engine_of(const struct samples *samples)
{
	for (size_t i = 0; i < SAMPLES_FACTS; i++)
		if (strcmp(samples_fact_keys[i], "engine") == 0)
			return samples->facts[i];
	return NULL;
}

bool samples_heap_leaf_returns(const struct samples *samples)
{
	const char *engine = engine_of(samples);

	return !samples->heap_leaf_told && engine && strcmp(engine, "signal") == 0;
}

static enum sample_cover_side side_of(const struct samples *samples)
{
	const char *engine = engine_of(samples);

	return engine ? sample_cover_side_of(engine) : SAMPLE_COVERS_NOTHING;
}

struct sample_cover samples_cover(struct samples *samples, const struct sample_batch *batch,
				  size_t i)
{
	uint64_t time_ns = batch->time_ns[i];
	uint32_t id = batch->labels[i] > 0 ? sample_events_find(&samples->events, batch->schema)
					   : ID_NONE;
	const struct sample_event *event = id != ID_NONE ? &samples->events.items.items[id] : NULL;
	enum sample_cover_side side = SAMPLE_COVERS_NOTHING;

	if (event && event->kind == SCHEMA_SAMPLED && strcmp(event->unit, "nanoseconds") == 0) {
		side = side_of(samples);
		/*
		 * In wall-clock mode each sample covers the time since the previous one; in others
		 * only absences do.
		 */
		if ((side == SAMPLE_COVERS_AFTER || strcmp(event->value, "wall") != 0) &&
		    !is_away(samples, batch->labels[i]))
			side = SAMPLE_COVERS_NOTHING;
	}
	return sample_cover_of(time_ns > samples->start_ns ? time_ns - samples->start_ns : 0,
			       batch->weight[i], side);
}

int samples_want_any(struct samples *samples, const struct sample_batch *batch, size_t i, bool *ret)
{
	const struct load_options *options = samples->options;
	struct sample_cover cover = samples_cover(samples, batch, i);
	bool labelled;

	*ret = false;
	if (!sample_cover_meets(&cover, options->from_ns, options->to_ns))
		return 0;
	if (label_filter_ask(&samples->labels, recording_reader_dictionary(samples->reader),
			     batch->labels[i], &labelled) < 0)
		return -ENOMEM;
	return labelled ? samples_want_thread(samples, batch->thread[i], ret) : 0;
}

int samples_want(struct samples *samples, const struct sample_batch *batch, size_t i, bool *ret)
{
	const struct sample_event *main = sample_events_main(&samples->events);
	bool told = samples->options->told && !samples->options->event;
	uint32_t event = told ? sample_events_find(&samples->events, batch->schema) : ID_NONE;

	*ret = false;
	if ((!main || batch->schema != main->schema) &&
	    (event == ID_NONE || samples->events.items.items[event].kind == SCHEMA_SAMPLED))
		return 0;
	return samples_want_any(samples, batch, i, ret);
}
