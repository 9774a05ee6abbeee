/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_METRIC_TEXT_H
#define WICK_NET_METRIC_TEXT_H

/* metric_text: numbers in the text format of Prometheus. */

#include <stddef.h>

struct bytes;

struct metric {
	const char *name; /* one that ends in _total only grows */
	const char *help;
	double value;
};

/* Appends them; prefix: what all names begin with. */
void metric_text_put(struct bytes *out, const char *prefix, const struct metric *metrics,
		     size_t count);

#endif
