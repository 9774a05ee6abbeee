/* SPDX-License-Identifier: BSD-2-Clause */
#include "libwick/sized_struct.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "libwick/public_error.h"

/* Larger than any version of our structs: the size was not set. */
#define MAX_BYTES 4096u

static int read_size(const void *given, const char *name, size_t *ret, struct error *err)
{
	int r = need(given, name, err);

	if (r < 0)
		return r;
	(void)memcpy(ret, given, sizeof(*ret));
	if (*ret >= sizeof(*ret) && *ret <= MAX_BYTES)
		return 0;
	(void)error_set(err, -EINVAL, "struct %s has the invalid size %zu", name, *ret);
	error_remedy(err, "set its member size to sizeof(struct %s) and the rest to 0", name);
	return -EINVAL;
}

int sized_take(void *ours, size_t size, const void *given, const char *name, struct error *err)
{
	const unsigned char *bytes = given;
	size_t known;
	size_t i;
	int r;

	(void)memset(ours, 0, size);
	if (!given)
		return 0;
	r = read_size(given, name, &known, err);
	if (r < 0)
		return r;
	for (i = size; i < known; i++)
		if (bytes[i] != 0) {
			(void)error_set(err, -E2BIG,
					"struct %s sets members that this libwick does not know",
					name);
			error_remedy(err, "use the libwick that belongs to the header");
			return -E2BIG;
		}
	(void)memcpy(ours, given, known < size ? known : size);
	return 0;
}

int sized_hand_out(void *given, const void *ours, size_t size, const char *name, struct error *err)
{
	size_t known;
	int r = read_size(given, name, &known, err);

	if (r < 0)
		return r;
	if (known > size)
		known = size;
	(void)memcpy((char *)given + sizeof(size_t), (const char *)ours + sizeof(size_t),
		     known - sizeof(size_t));
	return 0;
}
