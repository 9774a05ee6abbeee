/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_MISUSE_TEXT_H
#define WICK_VIEW_HEAP_MISUSE_TEXT_H

/* misuse_text: blocks that were freed twice, and what was freed that is none: words, JSON. */

#include <stddef.h>

struct bytes;
struct heap_profile;
struct json;

/* A paragraph for each of the first groups, with their stacks; nothing when all is in order. */
void misuse_text_put(struct bytes *out, const struct heap_profile *heap, size_t most);

/* "misuses": all of them, with their stacks; see docs/reference/json.md. */
void misuse_put_json(struct json *json, const struct heap_profile *heap);

#endif
