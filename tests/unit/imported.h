/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_UNIT_IMPORTED_H
#define WICK_TESTS_UNIT_IMPORTED_H

/* imported: what becomes of a file of another profiler, for tests. After cmocka.h. */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"
#include "import/import.h"
#include "import/source.h"
#include "load/load.h"
#include "model/profile.h"

#include "profile_sum.h"

/* What import_run() says to data; *ret is the profile when it is 1. */
static inline int run(const void *data, size_t size, struct profile **ret, struct error *err)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	int fd = memfd_create("import", MFD_CLOEXEC);
	struct import_source source;
	int r;

	import_source_of_memory(&source, data, size);
	r = import_run(&source, "x.in", fd, NULL, err);
	import_source_fini(&source);
	assert_true(fd >= 0);
	if (r <= 0) {
		assert_int_equal(close(fd), 0);
		return r;
	}
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(load_profile_fd(fd, "x.in", &options, ret, err), 0);
	return r;
}

/* Imports data and compares what it becomes as folded stacks, with marks. */
static inline void assert_imported_bytes(const void *data, size_t size, const char *expected)
{
	static const struct export_config config = {.value = EXPORT_DEFAULT_VALUE, .marks = true};
	struct profile *profile = NULL;
	struct bytes out = {0};
	struct error err = {0};

	assert_int_equal(run(data, size, &profile, &err), 1);
	assert_int_equal(exporter_write(exporter_find("folded"), profile, &config, &out, &err), 0);
	bytes_put_u8(&out, '\0');
	assert_string_equal((char *)out.data, expected);
	bytes_fini(&out);
	profile_free(profile);
}

static inline void assert_imported(const char *text, const char *expected)
{
	assert_imported_bytes(text, strlen(text), expected);
}

/* The sum of a value that has this unit (NULL: any), -1 when there is none. */
static inline int64_t sum_of(const struct profile *profile, const char *value, const char *unit)
{
	uint32_t i = 0;

	while (i < profile->value_count &&
	       (strcmp(profile->value_types[i].name, value) != 0 ||
		(unit && strcmp(profile->value_types[i].unit, unit) != 0)))
		i++;
	return i < profile->value_count ? profile_sum(profile, i) : -1;
}

#endif
