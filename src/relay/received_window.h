/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RELAY_RECEIVED_WINDOW_H
#define WICK_RELAY_RECEIVED_WINDOW_H

/* received_window: checks what was pushed, as a server does, and finds out whose it is. */

#include <stddef.h>

struct error;

#define RECEIVED_TEXT_MAX 256

struct received_window {
	char id[RECEIVED_TEXT_MAX];
	char host[RECEIVED_TEXT_MAX];
};

/*
 * told_id: the id in the request; NULL: none. limit: what the window may decompress to. 0, or a
 * negative errno: it is no window, damaged, or has no id.
 */
int received_window_check(const void *data, size_t size, size_t limit, const char *told_id,
			  struct received_window *ret, struct error *err);

#endif
