/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_GOLDEN_H
#define WICK_TESTS_GOLDEN_H

/*
 * golden: output compared with a file of tests/golden. WICK_UPDATE_GOLDEN=1
 * rewrites the files instead; review decides.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/file/outfile.h"

static inline void assert_golden(const struct bytes *out, const char *name)
{
	char path[4096];
	struct bytes expected = {0};
	FILE *file;
	uint8_t *place;

	(void)snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIR, name);
	if (getenv("WICK_UPDATE_GOLDEN")) {
		assert_int_equal(outfile_write(path, NULL, out->data, out->size, NULL), 0);
		return;
	}
	file = fopen(path, "re");
	if (!file)
		fail_msg("no %s: run with WICK_UPDATE_GOLDEN=1 once", path);
	while ((place = bytes_reserve(&expected, 4096))) {
		size_t n = fread(place, 1, 4096, file);

		if (n == 0)
			break;
		expected.size += n;
	}
	(void)fclose(file); /* only read */
	if (expected.size != out->size || memcmp(expected.data, out->data, out->size) != 0)
		fail_msg("differs from %s:\n%.*s", path, (int)out->size, (char *)out->data);
	bytes_fini(&expected);
}

#endif
