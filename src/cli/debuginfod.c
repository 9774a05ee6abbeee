/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/debuginfod.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/capture.h"
#include "base/clock.h"
#include "cli/command.h"
#include "elf/elf.h"

#define PROGRAM "debuginfod-find"

static int ask(const struct debuginfod *self, const char *hex, char *ret_path)
{
	const char *const argv[] = {PROGRAM, "debuginfo", hex, NULL};
	struct bytes line = {0};
	int r = capture_run(argv, self->left_ns, PATH_MAX - 1, &line);

	bytes_put_u8(&line, '\0');
	if (r == 0 && line.failed)
		r = -ENOMEM;
	if (r == 0) {
		(void)snprintf(ret_path, PATH_MAX, "%s", (char *)line.data); /* it fits */
		ret_path[strcspn(ret_path, "\n")] = '\0';
	}
	bytes_fini(&line);
	return r < 0 ? r : r > 0 || ret_path[0] != '/' ? -ENODATA : 0;
}

static int fetch(void *data, const struct build_id *id, char *ret_path)
{
	struct debuginfod *self = data;
	FILE *err = self->context->err;
	char hex[2 * BUILD_ID_MAX + 1];
	uint64_t start_ns = clock_monotonic_ns();
	uint64_t took_ns;
	int r;

	if (self->left_ns == 0)
		return -ETIMEDOUT;
	build_id_format(id, hex);
	if (self->context->progress)
		(void)fprintf(err, "\rwick: asking debuginfod for %.16s…\033[K", hex);
	r = ask(self, hex, ret_path);
	if (self->context->progress)
		(void)fputs("\r\033[K", err);
	took_ns = clock_monotonic_ns() - start_ns;
	self->left_ns -= took_ns < self->left_ns ? took_ns : self->left_ns;
	if (r == -ETIMEDOUT) {
		self->left_ns = 0;
		(void)fprintf(err, "wick: debuginfod took too long; it is not asked again\n");
	} else if (r < 0 && r != -ENODATA) {
		self->left_ns = 0;
		(void)fprintf(err, "wick: cannot run " PROGRAM ": %s\n", strerror(-r));
	}
	return r;
}

void debuginfod_init(struct debuginfod *ret, const struct command_context *context,
		     uint64_t limit_ns)
{
	*ret = (struct debuginfod){.context = context,
				   .left_ns = limit_ns,
				   .search = {.fetch = fetch, .fetch_self = ret}};
}
