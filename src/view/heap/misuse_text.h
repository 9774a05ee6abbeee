/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_MISUSE_TEXT_H
#define WICK_VIEW_HEAP_MISUSE_TEXT_H

/* misuse_text: double frees and frees of invalid pointers, as text and JSON. */

#include <stddef.h>

struct bytes;
struct heap_profile;
struct json;

/* A paragraph with stacks for each of the first groups; nothing if there are none. */
void misuse_text_put(struct bytes *out, const struct heap_profile *heap, size_t most);

/* "misuses": all groups with their stacks; see docs/reference/json.md. */
void misuse_put_json(struct json *json, const struct heap_profile *heap);

#endif
