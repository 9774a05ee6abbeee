/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/preload_path.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "engine/engine.h"
#include "wire/session.h"

#define LIBRARY_NAME "libwick-preload.so"

const char *const engine_own_paths[] = {"/" SESSION_FOLDER, "/" LIBRARY_NAME, NULL};

/* The folder of the file that holds this code: the program, or the library that it is part of. */
static bool own_folder(char *ret, size_t size)
{
	const struct link_map *map;
	void *found = NULL;
	Dl_info info;
	ssize_t n;
	char *slash;

	/* The loader knows the program by its argv[0], which may not be a path. */
	if (dladdr1((void *)(uintptr_t)own_folder, &info, &found, RTLD_DL_LINKMAP) != 0 &&
	    (map = found)->l_name[0] == '/')
		n = snprintf(ret, size, "%s", map->l_name);
	else
		n = readlink("/proc/self/exe", ret, size - 1);
	if (n <= 0 || (size_t)n >= size)
		return false;
	ret[n] = '\0';
	slash = strrchr(ret, '/');
	if (slash)
		*slash = '\0';
	return slash != NULL;
}

int preload_path(char *ret, size_t size, struct error *err)
{
	/* In the build folder; beside libwick; relative to the program in an unpacked tree. */
	static const char *const places[] = {"", "/wick", WICK_PRELOAD_FROM_PROGRAM};
	char own[PATH_MAX];

	for (size_t i = 0; own_folder(own, sizeof(own)) && i < ARRAY_SIZE(places); i++) {
		(void)snprintf(ret, size, "%s%s/%s", own, places[i], LIBRARY_NAME);
		if (access(ret, R_OK) == 0)
			return 0;
	}
	(void)snprintf(ret, size, "%s/%s", WICK_PRELOAD_FOLDER, LIBRARY_NAME);
	if (access(ret, R_OK) == 0)
		return 0;
	(void)error_set(err, -ENOENT, "cannot find %s, the library that samples inside programs",
			LIBRARY_NAME);
	error_remedy(err, "reinstall wick: the library belongs in %s", WICK_PRELOAD_FOLDER);
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
	(void)error_set(err, -EOPNOTSUPP, "the signal engine cannot sample %s: %s", program, why);
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

/*
 * Whether it is the loader itself, which runs the program in its argument and preloads into that.
 */
static bool is_loader(const char *path)
{
	return strncmp(path_base_name(path), "ld-linux", strlen("ld-linux")) == 0;
}

/*
 * Why a file runs with more privileges than its caller, so that the loader ignores LD_PRELOAD; or
 * NULL.
 */
static const char *more_rights(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return NULL;
	if (((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
	    ((status.st_mode & S_ISGID) && status.st_gid != getegid()))
		return "it runs with the rights of its owner (setuid)";
	if (geteuid() == 0)
		return NULL; /* root has all privileges already */
	return getxattr(path, "security.capability", NULL, 0) > 0 ? "its file has capabilities"
								  : NULL;
}

bool preload_has_rights(const char *program)
{
	char path[PATH_MAX];

	return preload_find_program(program, path, sizeof(path)) && more_rights(path);
}

static int check_file(const char *program, const char *path, struct elf_file *elf,
		      struct error *err)
{
	const char *rights = more_rights(path);
	char interpreter[PATH_MAX];

	preload_interpreter(elf, interpreter, sizeof(interpreter));
	if (interpreter[0] == '\0' && !is_loader(path))
		return refuse(err, program, "it is linked statically");
	if (strstr(interpreter, "/ld-musl"))
		return refuse(err, program, "it uses another C library, musl");
	return rights ? refuse(err, program, rights) : 0;
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
