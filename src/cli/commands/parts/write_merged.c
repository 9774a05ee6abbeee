/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/write_merged.h"

#include <errno.h>
#include <fcntl.h>

#include "base/error.h"
#include "base/file/outfile.h"
#include "cli/command.h"
#include "cli/options/load_options.h"
#include "load/convert/merge.h"
#include "load/load.h"
#include "plugin/plugins.h"

int write_merged(const struct command_context *context, char **inputs, size_t count,
		 const char *output)
{
	const struct load_options options = {.damaged = cli_load_note_damage,
					     .damaged_self = (void *)(uintptr_t)context,
					     .importers = plugins_importers(context->plugins)};
	struct outfile file;
	struct error err;
	size_t i;
	int fd;
	int r;

	if (!output)
		return command_misused(context, "no output file given: use -o FILE.wick");
	for (i = 0; i < count; i++) {
		r = cli_load_check_output(context, inputs[i], output, "-o FILE");
		if (r != COMMAND_DONE)
			return r;
	}
	r = outfile_begin(&file, output, "-o FILE", &err);
	if (r < 0)
		return command_failed(context, &err);
	fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		r = error_file(&err, -errno, "cannot write %s", output);
	else
		r = merge_files((const char *const *)inputs, count, &options, fd, &err);
	if (r == 0)
		r = outfile_commit(&file, &err);
	outfile_fini(&file);
	return r < 0 ? command_failed(context, &err) : COMMAND_DONE;
}
