/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_VEC_H
#define WICK_BASE_VEC_H

/*
 * vec: a growing typed array.
 *
 *	VEC(uint32_t) ids = {0};
 *	if (vec_push(&ids, 7) < 0)
 *		return -ENOMEM;
 *	vec_fini(&ids);
 *
 * Growth moves the items; keep indices, not pointers.
 */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t count;                                                                      \
		size_t capacity;                                                                   \
	}

/*
 * Grows an array to hold at least want items. Returns its address, which may be new, and its
 * capacity; if out of memory, both are unchanged.
 */
void *vec_grow(void *items, size_t *capacity, size_t want, size_t item_bytes);

/*
 * The pointer is assigned, not written through a void **, which the compiler may assume to be a
 * different object.
 */
#define vec_reserve(vec, want)                                                                     \
	((size_t)(want) <= (vec)->capacity                                                         \
		 ? 0                                                                               \
		 : ((vec)->items = vec_grow((vec)->items, &(vec)->capacity, (want),                \
					    sizeof(*(vec)->items)),                                \
		    (vec)->capacity < (size_t)(want) ? -ENOMEM : 0))

#define vec_push(vec, ...)                                                                         \
	(vec_reserve((vec), (vec)->count + 1) < 0                                                  \
		 ? -ENOMEM                                                                         \
		 : ((vec)->items[(vec)->count++] = (__VA_ARGS__), 0))

/* Turns an array into one of n items with all bits set, like ID_NONE. 0 or -ENOMEM. */
#define vec_fill_ones(vec, n)                                                                      \
	(vec_reserve((vec), (n)) < 0                                                               \
		 ? -ENOMEM                                                                         \
		 : ((void)((n) > 0 && memset((vec)->items, 0xff, (n) * sizeof(*(vec)->items))),    \
		    (vec)->count = (n), 0))

#define vec_fini(vec)                                                                              \
	do {                                                                                       \
		free((vec)->items);                                                                \
		(vec)->items = NULL;                                                               \
		(vec)->count = (vec)->capacity = 0;                                                \
	} while (0)

#endif
