/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/debuginfod.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/run_command.h"
#include "base/scope.h"
#include "cli/command.h"
#include "elf/elf.h"
#include "model/entity.h"

#define PROGRAM "debuginfod-find"
/* debuginfod-find checks the time once a second; if we kill it, it leaves half a file. */
#define TIME_TO_CLEAN_UP_S 2
#define NOT_FOUND_STATUS 127 /* of env(1) */

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

/* Runs debuginfod-find, if possible with a time limit of its own. Returns its exit status. */
static int run(uint64_t left_ns, const char *hex, struct bytes *out)
{
	uint64_t limit_s = left_ns / NS_PER_SEC;
	uint64_t start_ns = clock_monotonic_ns();
	char limit[48];
	const char *const argv[] = {"env", limit, PROGRAM, "debuginfo", hex, NULL};
	int r;

	if (limit_s <= TIME_TO_CLEAN_UP_S || getenv("DEBUGINFOD_MAXTIME"))
		return run_command(argv + 2, left_ns, PATH_MAX - 1, out);
	limit_s -= TIME_TO_CLEAN_UP_S;
	(void)snprintf(limit, sizeof(limit), "DEBUGINFOD_MAXTIME=%" PRIu64, limit_s);
	r = run_command(argv, left_ns, PATH_MAX - 1, out);
	if (r == NOT_FOUND_STATUS)
		return -ENOENT;
	return r > 0 && clock_monotonic_ns() - start_ns >= limit_s * NS_PER_SEC ? -ETIMEDOUT : r;
}

static int ask(const struct debuginfod *self, const char *hex, char *ret_path)
{
	struct bytes line = {0};
	int r = run(self->left_ns, hex, &line);

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

/* A server may send a file of another build, a truncated file, or no debug file at all. */
static int check(const struct debuginfod *self, const struct build_id *id, const char *path)
{
	SCOPED(elf) struct elf_file *elf = NULL;

	if (elf_open(path, &elf, NULL) == 0 && build_id_equal(elf_build_id(elf), id))
		return 0;
	command_note(self->context,
		     "%s, which debuginfod downloaded, is from another build and is not used\n     "
		     " remove it to ask the servers again",
		     path);
	return -ENODATA;
}

/* Prints why no server is asked any more. */
static void print_failure(const struct debuginfod *self, int r)
{
	if (r == -ETIMEDOUT)
		command_note(self->context, "debuginfod took too long; wick does not ask it again");
	else
		command_note(self->context, "cannot run " PROGRAM ": %s%s", strerror(-r),
			     r == -ENOENT ? "\n      install it: sudo apt install debuginfod" : "");
}

static int fetch(void *data, const struct module *module, char *ret_path)
{
	const struct build_id *id = &module->build_id;
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
	log_debug("debuginfod for %s: %s", hex, r < 0 ? strerror(-r) : ret_path);
	if (self->context->progress)
		(void)fputs("\r\033[K", err);
	took_ns = clock_monotonic_ns() - start_ns;
	self->left_ns -= took_ns < self->left_ns ? took_ns : self->left_ns;
	if (r < 0 && r != -ENODATA) {
		self->left_ns = 0;
		print_failure(self, r);
	}
	return r < 0 ? r : check(self, id, ret_path);
}

void debuginfod_init(struct debuginfod *ret, const struct command_context *context,
		     uint64_t limit_ns)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	if (!servers || !*servers) {
		command_note(context, "no server to download debug files from: DEBUGINFOD_URLS is "
				      "not set\n      for Debian packages: export "
				      "DEBUGINFOD_URLS=https://debuginfod.debian.net");
		limit_ns = 0;
	}
	*ret = (struct debuginfod){.context = context,
				   .left_ns = limit_ns,
				   .search = {.fetch = fetch, .fetch_self = ret}};
}
