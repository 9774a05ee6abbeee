/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/alarms.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define DROPS_SHARE 0.05
#define DROPS_LEAST 20u /* with fewer samples shares mean nothing */
#define FILL_SHARE 0.8
#define LAG_NS (100 * NS_PER_MS)
#define BUFFER_BYTES (100ull * 1000 * 1000)
#define COST_FACTOR 1.2

uint32_t alarms_look(const struct alarm_stretch *stretch)
{
	uint64_t all = stretch->samples + stretch->lost;
	uint32_t signs = 0;

	if (all >= DROPS_LEAST && (double)stretch->lost > DROPS_SHARE * (double)all)
		signs |= 1u << ALARM_DROPS;
	if (stretch->ring_fill > FILL_SHARE)
		signs |= 1u << ALARM_FILL;
	if (stretch->lag_ns > LAG_NS)
		signs |= 1u << ALARM_LAG;
	if (stretch->buffer_bytes > BUFFER_BYTES)
		signs |= 1u << ALARM_BUFFERS;
	if (stretch->allowed > 0 && stretch->spent > COST_FACTOR * stretch->allowed)
		signs |= 1u << ALARM_COST;
	return signs;
}

bool alarms_tell(struct alarms *alarms, enum alarm_kind kind)
{
	bool first = !alarms->told[kind];

	alarms->told[kind] = true;
	return first;
}

static void cost_text(const struct alarm_stretch *stretch, char *text, uint32_t size)
{
	if (stretch->floor_hz > 0)
		(void)snprintf(text, size,
			       "sampling costs %.1f %% of the target's time, more than the %.1f %% "
			       "of --overhead, and the rate is already at its minimum of %u Hz: "
			       "set a lower one with -F",
			       100 * stretch->spent, 100 * stretch->allowed, stretch->floor_hz);
	else
		(void)snprintf(text, size,
			       "sampling costs %.1f %% of the target's time, more than the %.1f %% "
			       "of --overhead, and the rate is fixed: lower it with -F",
			       100 * stretch->spent, 100 * stretch->allowed);
}

/* The same without samples: there is no rate to lower and no budget. */
static void heap_text(enum alarm_kind kind, const struct alarm_stretch *stretch, char *text,
		      uint32_t size)
{
	uint64_t all = stretch->samples + stretch->lost;

	if (kind == ALARM_DROPS)
		(void)snprintf(text, size,
			       "%.0f %% of the events are being lost: record fewer blocks with "
			       "--sample",
			       100.0 * (double)stretch->lost / (double)(all > 0 ? all : 1));
	else if (kind == ALARM_FILL)
		(void)snprintf(text, size,
			       "a buffer is %.0f %% full: it is now emptied more often; if events "
			       "are lost, record fewer blocks with --sample",
			       100 * stretch->ring_fill);
	else if (kind == ALARM_LAG)
		(void)snprintf(text, size,
			       "the recorder is %.0f ms late because the machine is short of CPU "
			       "time: the program may have to wait, or events may be lost; record "
			       "fewer blocks with --sample, or raise the recorder's priority with: "
			       "sudo renice -n -5 -p %d",
			       (double)stretch->lag_ns / NS_PER_MS, (int)getpid());
	else
		(void)snprintf(text, size,
			       "buffers use %.0f MB of memory: record fewer blocks with --sample",
			       (double)stretch->buffer_bytes / 1e6);
}

void alarms_text(enum alarm_kind kind, const struct alarm_stretch *stretch, bool lowered,
		 char *text, uint32_t size)
{
	uint64_t all = stretch->samples + stretch->lost;

	if (stretch->only_heap) {
		heap_text(kind, stretch, text, size);
		return;
	}
	switch (kind) {
	case ALARM_DROPS:
		(void)snprintf(text, size, "%.0f %% of the samples are being lost: %s",
			       100.0 * (double)stretch->lost / (double)(all > 0 ? all : 1),
			       lowered ? "the rate was lowered" : "lower the rate with -F");
		break;
	case ALARM_FILL:
		(void)snprintf(text, size,
			       "a buffer is %.0f %% full: it is now emptied more often; if samples "
			       "are lost, lower the rate with -F",
			       100 * stretch->ring_fill);
		break;
	case ALARM_LAG:
		(void)snprintf(text, size,
			       "the recorder is %.0f ms late because the machine is short of CPU "
			       "time: samples may be lost; lower the rate with -F, or raise the "
			       "recorder's priority with: sudo renice -n -5 -p %d",
			       (double)stretch->lag_ns / NS_PER_MS, (int)getpid());
		break;
	case ALARM_BUFFERS:
		(void)snprintf(text, size,
			       "buffers use %.0f MB of memory: their size depends on the rate and "
			       "the number of CPUs or threads; lower the rate with -F",
			       (double)stretch->buffer_bytes / 1e6);
		break;
	case ALARM_COST:
		cost_text(stretch, text, size);
		break;
	case ALARMS:
		break;
	}
}
