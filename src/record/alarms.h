/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_ALARMS_H
#define WICK_RECORD_ALARMS_H

/*
 * alarms: signs that a recording gets worse than it should be, while there is time to
 * do something about it. Each is told once, with its remedy; what can be done at once is
 * done by whoever asks.
 */

#include <stdbool.h>
#include <stdint.h>

enum alarm_kind {
	ALARM_DROPS,   /* samples are lost */
	ALARM_FILL,    /* a ring is nearly full */
	ALARM_LAG,     /* the recorder is late */
	ALARM_BUFFERS, /* too much waits in memory */
	ALARM_COST,    /* it costs more than the budget, and the rate cannot fall */
	ALARMS
};

/* A stretch of the recording, a second or so. */
struct alarm_stretch {
	uint64_t samples;
	uint64_t lost;
	double ring_fill;      /* at most */
	uint64_t lag_ns;       /* at most: behind when it should have looked */
	uint64_t buffer_bytes; /* that wait to be written, or hold what does */
	double spent;          /* share of the target's time */
	double allowed;        /* of it; 0: any */
	uint32_t floor_hz;     /* the rate does not fall below; 0: it was given */
};

struct alarms {
	bool told[ALARMS];
};

/* The signs of a stretch, a bit for each kind. */
uint32_t alarms_look(const struct alarm_stretch *stretch);

/* Whether a kind was not told before; it is from now on. */
bool alarms_tell(struct alarms *alarms, enum alarm_kind kind);

/* One line for a person, with what to do. `lowered`: the rate was, by us. */
void alarms_text(enum alarm_kind kind, const struct alarm_stretch *stretch, bool lowered,
		 char *text, uint32_t size);

#endif
