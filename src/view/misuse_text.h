/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_MISUSE_TEXT_H
#define WICK_VIEW_MISUSE_TEXT_H

/* misuse_text: blocks that were freed twice, and what was freed that is none, in words. */

#include <stddef.h>

struct bytes;
struct heap_profile;

/* A paragraph for each of the first groups, with their stacks; nothing when all is in order. */
void misuse_text_put(struct bytes *out, const struct heap_profile *heap, size_t most);

#endif
