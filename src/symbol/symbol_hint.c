/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symbol_hint.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/scope.h"

#define LISTS "/var/lib/dpkg/info"
#define SUFFIX ".list"
#define MAX_LIST_BYTES (16u << 20)

static void scope_release_directory(DIR **directory)
{
	if (*directory)
		(void)closedir(*directory);
}

/* The content of a list between two newlines, NULL when it cannot be had. */
static char *read_list(int directory, const char *name, size_t *ret_size)
{
	SCOPED(fd) int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	SCOPED(mem) char *text = NULL;
	struct stat status;
	ssize_t n;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_size > MAX_LIST_BYTES)
		return NULL;
	text = malloc((size_t)status.st_size + 2);
	if (!text)
		return NULL;
	text[0] = '\n';
	n = read(fd, text + 1, (size_t)status.st_size);
	if (n < 0)
		return NULL;
	text[n + 1] = '\n';
	*ret_size = (size_t)n + 2;
	return scope_take(&text);
}

static bool has_line(const char *text, size_t size, const char *line)
{
	size_t length = strlen(line);

	for (const char *at = text; (at = memmem(at, size - (size_t)(at - text), line, length));
	     at++)
		if (at[-1] == '\n' && at[length] == '\n')
			return true;
	return false;
}

/* Packages list /lib/x what is at /usr/lib/x where the one is a link to the other. */
static bool lists(const char *text, size_t size, const char *path)
{
	if (path[0] != '/')
		return false;
	return has_line(text, size, path) ||
	       (strncmp(path, "/usr/", 5) == 0 && has_line(text, size, path + 4));
}

/* "libc6:arm64.list" is of the package libc6. */
static void name_package(struct symbol_want *want, const char *file)
{
	size_t size = strcspn(file, ":");
	size_t bare = strlen(file) - strlen(SUFFIX);

	if (size > bare)
		size = bare;
	if (size >= sizeof(want->package))
		return;
	memcpy(want->package, file, size);
	want->package[size] = '\0';
}

void symbol_hint_packages(struct symbol_want *wants, size_t count)
{
	SCOPED(directory) DIR *directory = opendir(LISTS);
	const struct dirent *found;

	while (directory && (found = readdir(directory)) != NULL) {
		size_t length = strlen(found->d_name);
		size_t size;

		if (length <= strlen(SUFFIX) ||
		    strcmp(found->d_name + length - strlen(SUFFIX), SUFFIX) != 0)
			continue;
		SCOPED(mem) char *text = read_list(dirfd(directory), found->d_name, &size);
		for (size_t i = 0; text && i < count; i++)
			if (!wants[i].package[0] && lists(text, size, wants[i].module))
				name_package(&wants[i], found->d_name);
	}
}

static void put_bracketed(struct bytes *out, const char *module)
{
	if (strcmp(module, "[anonymous]") == 0)
		bytes_printf(out, "code that a runtime made: node --perf-basic-prof and java "
				  "-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
				  "-XX:+DumpPerfMapAtExit list theirs");
	else if (strcmp(module, "[vdso]") != 0)
		bytes_printf(out, "record as root, or: sudo sysctl kernel.kptr_restrict=0");
}

/* The package that is installed now may be another than that of a file that is gone. */
static void put_package(struct bytes *out, const struct symbol_want *want)
{
	if (want->is_lost)
		bytes_printf(out, "give a directory with the file that ran (--symbol-path DIR)");
	else if (strcmp(want->package, "libc6") == 0)
		bytes_printf(out, "install libc6-dbg");
	else if (want->package[0])
		bytes_printf(out, "install %s-dbgsym", want->package);
}

void symbol_hint_put(struct bytes *out, const struct symbol_want *want)
{
	bool has_id = strlen(want->build_id) > 2;
	size_t start = out->size;

	if (want->module[0] == '[')
		put_bracketed(out, want->module);
	if (want->module[0] != '/')
		return;
	put_package(out, want);
	if (out->size > start && (has_id || !want->is_lost))
		bytes_printf(out, ", or ");
	if (has_id && !want->is_lost)
		bytes_printf(out, "name a folder that has it unstripped "
				  "(--symbol-path DIR), or ");
	if (has_id)
		bytes_printf(out, "put /usr/lib/debug/.build-id/%.2s/%s.debug in place",
			     want->build_id, want->build_id + 2);
	else if (!want->is_lost)
		bytes_printf(out, "build it with -g and without stripping");
}
