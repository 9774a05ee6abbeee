/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/address_sort.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

#define RADIX_BITS 11
#define RADIX (1u << RADIX_BITS)

static unsigned int digit(uint64_t address, unsigned int shift)
{
	return (address >> shift) & (RADIX - 1);
}

static bool is_sorted(const struct address_ref *refs, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (refs[i].address < refs[i - 1].address)
			return false;
	return true;
}

/* One stable pass by the digit at shift. */
static void sort_pass(const struct address_ref *from, struct address_ref *to, size_t count,
		      unsigned int shift)
{
	size_t places[RADIX] = {0};
	size_t at = 0;

	for (size_t i = 0; i < count; i++)
		places[digit(from[i].address, shift)]++;
	for (size_t d = 0; d < RADIX; d++) {
		size_t n = places[d];

		places[d] = at;
		at += n;
	}
	for (size_t i = 0; i < count; i++)
		to[places[digit(from[i].address, shift)]++] = from[i];
}

int address_sort(struct address_ref *refs, size_t count)
{
	SCOPED(mem) struct address_ref *scratch = NULL;
	struct address_ref *from = refs;
	struct address_ref *to;
	uint64_t differing = 0;

	if (is_sorted(refs, count))
		return 0;
	scratch = malloc(count * sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	to = scratch;
	for (size_t i = 1; i < count; i++)
		differing |= refs[i].address ^ refs[0].address;
	for (unsigned int shift = 0; shift < 64; shift += RADIX_BITS) {
		struct address_ref *swap = from;

		if (digit(differing, shift) == 0)
			continue;
		sort_pass(from, to, count, shift);
		from = to;
		to = swap;
	}
	if (from != refs)
		memcpy(refs, from, count * sizeof(*refs));
	return 0;
}
