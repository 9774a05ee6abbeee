/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_ALARMS_H
#define WICK_RECORD_ALARMS_H

/*
 * alarms: warnings that the quality of a recording is getting worse, while something can still be
 * done about it. Each is reported once, with a remedy. The caller does what can be done
 * automatically.
 */

#include <stdbool.h>
#include <stdint.h>

enum alarm_kind {
	ALARM_DROPS,   /* samples are lost */
	ALARM_FILL,    /* a ring is nearly full */
	ALARM_LAG,     /* the recorder is late */
	ALARM_BUFFERS, /* too much data is waiting in memory */
	ALARM_COST,    /* it costs more than the budget, and the rate cannot be lowered */
	ALARMS
};

/* A period of the recording, about a second. */
struct alarm_stretch {
	uint64_t samples;
	uint64_t lost;
	double ring_fill;      /* at most */
	uint64_t lag_ns;       /* at most: how late the recorder was */
	uint64_t buffer_bytes; /* of data waiting to be written, and of the buffers that hold it */
	double spent;          /* share of the target's time */
	double allowed;        /* of it; 0: any */
	uint32_t floor_hz;     /* the rate does not fall below this; 0: the rate is fixed */
	bool only_heap;        /* there are heap events instead of samples, and no rate */
};

struct alarms {
	bool told[ALARMS];
};

/* The alarms of a period, a bit for each kind. */
uint32_t alarms_look(const struct alarm_stretch *stretch);

/* Returns true the first time it is called for a kind. */
bool alarms_tell(struct alarms *alarms, enum alarm_kind kind);

/* Writes one line for the user, with a remedy. `lowered`: wick has already lowered the rate. */
void alarms_text(enum alarm_kind kind, const struct alarm_stretch *stretch, bool lowered,
		 char *text, uint32_t size);

#endif
