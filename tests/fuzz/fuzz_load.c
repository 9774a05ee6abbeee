/* SPDX-License-Identifier: BSD-2-Clause */

/* Takes a recording all the way to a report and a flame graph: see recording_input.h. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file/outfile.h"
#include "load/inspect.h"
#include "load/load.h"
#include "model/profile.h"
#include "recording_input.h"
#include "view/flame/flame.h"
#include "view/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A descriptor with the file's contents, to be taken over. */
static int file_of(const struct bytes *file)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || outfile_write_all(fd, file->data, file->size) < 0 ||
	    lseek(fd, 0, SEEK_SET) != 0)
		abort();
	return fd;
}

static void look_at(const struct profile *profile)
{
	static const struct report_options reports[] = {
		REPORT_OPTIONS_DEFAULT,
		{.value = REPORT_MAIN_VALUE, .by = REPORT_BY_MODULE, .json = true},
		{.value = REPORT_MAIN_VALUE, .tree = true, .inverted = true, .color = true},
	};
	struct flame_options flame = FLAME_OPTIONS_DEFAULT;
	struct bytes text = {0};

	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
		(void)report_write(profile, &reports[i], &text, NULL);
	flame.group = CALL_TREE_BY_THREAD;
	(void)flame_write(profile, &flame, &text, NULL);
	bytes_fini(&text);
}

static void judge(const struct bytes *file)
{
	struct inspect_problem problems[INSPECT_MAX_PROBLEMS];
	struct inspection inspection;
	size_t count;

	if (inspection_read(&inspection, file_of(file), "fuzz", NULL) == 0)
		(void)inspection_judge(&inspection, problems, &count);
	inspection_fini(&inspection);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	struct profile *profile;
	struct bytes file = {0};

	recording_input(data, size, &file);
	if (file.failed)
		abort();
	options.kernel = size % 2;
	if (load_profile_fd(file_of(&file), "fuzz", &options, &profile, NULL) == 0) {
		look_at(profile);
		profile_free(profile);
	}
	judge(&file);
	bytes_fini(&file);
	return 0;
}
