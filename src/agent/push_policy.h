/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_PUSH_POLICY_H
#define WICK_AGENT_PUSH_POLICY_H

/* push_policy: what to do with a window after an answer of a server, and when to try again. */

#include <stdint.h>

enum push_verdict {
	PUSH_STORED,  /* remove it */
	PUSH_REFUSED, /* remove it: it will never be accepted */
	PUSH_LATER,   /* keep it, and send it again */
};

/*
 * 4xx means that the window itself is wrong. The exceptions are 401, 403, 404 and 405 (the server
 * does not know us or the path, which somebody can correct), 408, 425 and 429.
 */
enum push_verdict push_verdict_of(int status);

/*
 * How long to wait after this many failures in a row: twice as long each time, up to a minute, and
 * a random part so that agents do not all come at once. retry_after_s is what the server asked for,
 * 0 for nothing; it counts up to ten minutes. random is any number.
 */
uint64_t push_wait_ms(uint32_t failures, uint64_t retry_after_s, uint32_t random);

#endif
