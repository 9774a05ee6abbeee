/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/map_log.h"

#include <string.h>

#include "base/bytes.h"
#include "base/id_index.h"
#include "model/dictionary.h"
#include "recording/dictionary_encoder.h"

void map_log_fini(struct map_log *log)
{
	vec_fini(&log->events);
	vec_fini(&log->ended);
}

/* If out of memory its maps are kept longer. */
void map_log_end(struct map_log *log, uint32_t process)
{
	while (log->ended.count <= process)
		if (vec_push(&log->ended, 0) < 0)
			return;
	log->ended.items[process] = 1;
}

static bool has_ended(const struct map_log *log, uint32_t process)
{
	return process < log->ended.count && log->ended.items[process];
}

void map_log_revive(struct map_log *log, uint32_t process)
{
	if (has_ended(log, process))
		log->ended.items[process] = 0;
}

bool map_log_waits(const struct map_log *log)
{
	return log->written < log->events.count;
}

void map_log_encode(struct map_log *log, struct dictionary_encoder *encoder, size_t max_bytes,
		    struct bytes *out)
{
	bool repeated = log->written < log->repeated;
	size_t end = repeated ? log->repeated : log->events.count;
	uint64_t last_ns = 0;

	bytes_put_u8(out, repeated);
	for (; log->written < end && out->size < max_bytes; log->written++) {
		const struct map_event *event = &log->events.items[log->written];
		uint32_t process = dictionary_encoder_process(encoder, event->process);
		uint32_t module = event->module == MODULE_NONE
					  ? 0
					  : dictionary_encoder_module(encoder, event->module) + 1;

		bytes_put_varint(out, process);
		bytes_put_varint(out, module);
		bytes_put_varint(out, zigzag_encode((int64_t)(event->time_ns - last_ns)));
		bytes_put_varint(out, event->start);
		bytes_put_varint(out, event->end - event->start);
		bytes_put_varint(out, event->file_offset);
		bytes_put_varint(out, event->start - event->bias);
		last_ns = event->time_ns;
	}
}

/*
 * Of several events for one range of a process only the last is in force, and none of a process
 * that has ended. If the index is out of memory, events are kept: the file is longer, but correct.
 */
static void drop_replaced(struct map_log *log)
{
	struct map_event *events = log->events.items;
	struct id_index seen = {0};
	size_t kept = log->events.count;
	size_t i;

	for (i = log->events.count; i-- > 0;) {
		uint64_t hash =
			hash_pair(hash_pair(events[i].process, events[i].start), events[i].end);
		struct id_probe probe = id_index_probe(&seen, hash);
		uint32_t id;

		if (has_ended(log, events[i].process))
			continue;
		while ((id = id_probe_next(&seen, &probe)) != ID_NONE)
			if (events[id].process == events[i].process &&
			    events[id].start == events[i].start && events[id].end == events[i].end)
				break;
		if (id != ID_NONE)
			continue;
		events[--kept] = events[i];
		(void)id_index_add(&seen, hash, (uint32_t)kept); /* see above */
	}
	id_index_fini(&seen);
	log->events.count -= kept;
	if (kept > 0)
		memmove(events, events + kept, log->events.count * sizeof(*events));
}

void map_log_begin_epoch(struct map_log *log)
{
	drop_replaced(log);
	log->written = 0;
	log->repeated = log->events.count;
}
