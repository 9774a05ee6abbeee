/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_LEAK_STACKS_H
#define WICK_VIEW_HEAP_LEAK_STACKS_H

/* leak_stacks: the stacks of a leak row, as a tree of callers and as JSON. */

#include <stdint.h>

struct bytes;
struct json;
struct leak_row;
struct leak_rows;
struct profile;

#define LEAK_STACKS_SHOWN 8u /* limit per row; further stacks are counted */

/* Starts at the allocating function and follows its callers; each distinct caller is a branch. */
void leak_stacks_put_tree(const struct profile *profile, const struct leak_rows *rows,
			  const struct leak_row *row, struct bytes *out);

/*
 * key: [{"function_name", "module", "file", "line", "inlined"} …], starting with the innermost
 * call.
 */
void leak_stacks_put_frames(const struct profile *profile, uint32_t stack, const char *key,
			    struct json *json);

/* "stacks": [{"bytes", "blocks", "frames": […]} …] */
void leak_stacks_put_json(const struct profile *profile, const struct leak_rows *rows,
			  const struct leak_row *row, struct json *json);

#endif
