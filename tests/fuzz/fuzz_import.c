/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Files of other profilers, by their contents, made recordings. The seeds of perf.data are
 * written by make_perf_data.py; files that they name are not here, or do not fit: nothing else
 * is read.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/import.h"
#include "import/source.h"
#include "load/load.h"
#include "model/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	struct profile *profile;
	struct import_source source;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		abort();
	import_source_of_memory(&source, data, size);
	r = import_run(&source, "fuzz", fd, NULL, NULL);
	import_source_fini(&source);
	if (r <= 0 || lseek(fd, 0, SEEK_SET) != 0) {
		(void)close(fd);
		return 0;
	}
	/* What we wrote ourselves must be readable. */
	if (load_profile_fd(fd, "fuzz", &options, &profile, NULL) < 0)
		abort();
	profile_free(profile);
	return 0;
}
