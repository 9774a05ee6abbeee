/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/preload_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/error.h"
#include "elf/elf.h"
#include "engine/engine.h"
#include "wire/session.h"

#define LIBRARY_NAME "libwick-preload.so"

const char *const engine_own_paths[] = {"/" SESSION_FOLDER, "/" LIBRARY_NAME, NULL};

int preload_path(char *ret, size_t size, struct error *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash) {
		*slash = '\0';
		(void)snprintf(ret, size, "%s/%s", self, LIBRARY_NAME);
		if (access(ret, R_OK) == 0)
			return 0;
	}
	(void)snprintf(ret, size, "%s/%s", WICK_PRELOAD_FOLDER, LIBRARY_NAME);
	if (access(ret, R_OK) == 0)
		return 0;
	(void)error_set(err, -ENOENT, "the library that samples from inside, %s, is not there",
			LIBRARY_NAME);
	error_remedy(err, "install wick anew: it belongs in %s", WICK_PRELOAD_FOLDER);
	return -ENOENT;
}

bool preload_find_program(const char *program, char *ret, size_t size)
{
	const char *path = getenv("PATH");

	if (strchr(program, '/'))
		return (size_t)snprintf(ret, size, "%s", program) < size;
	while (path && *path) {
		size_t length = strcspn(path, ":");

		if ((size_t)snprintf(ret, size, "%.*s/%s", (int)length, path, program) < size &&
		    access(ret, X_OK) == 0)
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

static int refuse(struct error *err, const char *program, const char *why)
{
	(void)error_set(err, -EOPNOTSUPP, "the signal engine cannot enter %s: %s", program, why);
	error_remedy(err, "sample it from outside: --engine ptrace, or as root --engine ebpf");
	return -EOPNOTSUPP;
}

void preload_interpreter(struct elf_file *elf, char *ret, size_t size)
{
	const struct elf_section *section = elf_section_find(elf, ".interp");

	ret[0] = '\0';
	if (!section || section->size >= size ||
	    elf_read_at(elf, section->offset, ret, section->size) < 0)
		return;
	ret[section->size] = '\0';
}

/* The loader itself, which runs the program that is its argument, and preloads into that. */
static bool is_loader(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "ld-linux", strlen("ld-linux")) == 0;
}

static int check_file(const char *program, const char *path, struct elf_file *elf,
		      struct error *err)
{
	char interpreter[PATH_MAX];
	struct stat status;

	preload_interpreter(elf, interpreter, sizeof(interpreter));
	if (interpreter[0] == '\0' && !is_loader(path))
		return refuse(err, program, "it is linked statically");
	if (strstr(interpreter, "/ld-musl"))
		return refuse(err, program, "it runs with another C library, musl");
	if (stat(path, &status) < 0)
		return 0;
	if (((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
	    ((status.st_mode & S_ISGID) && status.st_gid != getegid()))
		return refuse(err, program, "it runs with the rights of its owner (setuid)");
	if (geteuid() == 0)
		return 0; /* has them all, and takes none from the file */
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		return refuse(err, program, "its file has capabilities");
	return 0;
}

int preload_check(const char *program, struct error *err)
{
	struct elf_file *elf = NULL;
	char path[PATH_MAX];
	int r;

	if (!preload_find_program(program, path, sizeof(path)) || elf_open(path, &elf, NULL) < 0)
		return 0;
	r = check_file(program, path, elf, err);
	elf_close(elf);
	return r;
}
