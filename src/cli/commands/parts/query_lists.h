/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_QUERY_LISTS_H
#define WICK_CLI_COMMANDS_PARTS_QUERY_LISTS_H

/* query_lists: the lists that a server answers with, as tables for a terminal. */

#include <stdbool.h>

struct bytes;
struct error;

/* What is in the JSON of an answer, as a table; key is the name of the array. */
int query_list_put(const struct bytes *answer, const char *key, struct bytes *out,
		   struct error *err);

/* Whether the JSON of a comparison has a gate that tripped. */
bool query_gate_tripped(const struct bytes *answer);

#endif
