/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/source_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/open_below.h"
#include "base/file/owner.h"
#include "base/scope.h"
#include "base/vec.h"
#include "model/profile.h"

#define MAX_FILE_BYTES (16u << 20)
#define SYSTEM_FOLDER "/usr" /* as in path_tree() */

void source_file_fini(struct source_file *file)
{
	free(file->path);
	free(file->text);
	free(file->lines);
	*file = (struct source_file){0};
}

/* Cuts the text into lines. 0 or -ENOMEM. */
static int split(struct source_file *file, size_t size)
{
	VEC(const char *) lines = {0};
	char *at = file->text;
	char *end = file->text + size;

	while (at < end) {
		char *newline = memchr(at, '\n', (size_t)(end - at));

		if (vec_push(&lines, at) < 0) {
			vec_fini(&lines);
			return -ENOMEM;
		}
		if (!newline)
			break;
		*newline = '\0';
		if (newline > at && newline[-1] == '\r')
			newline[-1] = '\0';
		at = newline + 1;
	}
	file->lines = lines.items;
	file->line_count = (uint32_t)lines.count;
	return 0;
}

/* One search and its state. */
struct hunt {
	const struct source_search *search;
	const struct profile *profile;
	uint32_t path;
	bool is_trusted; /* by one of those that name it: no request needed */
	enum source_lack lack;
};

/* The users who must be able to read a file that root reads. */
struct readers {
	uid_t users[3];
	size_t count;
};

static void add_reader(struct readers *readers, bool is_known, uid_t uid)
{
	readers->users[readers->count++] = is_known ? uid : OPEN_BELOW_NOBODY;
}

/* Whether a user is the reader, or root, who can change the reader's files anyway. */
static bool is_trusted_user(uid_t uid)
{
	return uid == 0 || owner_is_ours(uid);
}

/* Whether all who could influence a path are the reader or root. */
static bool is_trusted(const struct profile_sources *sources, const struct profile_source *source)
{
	return sources->is_own && sources->has_user && is_trusted_user(sources->user_uid) &&
	       source->is_known && is_trusted_user(source->uid);
}

static bool is_public(const struct stat *status)
{
	return status->st_uid == 0 && status->st_mode & S_IROTH;
}

static bool is_readers(const struct stat *status)
{
	return owner_is_ours(status->st_uid);
}

static int lacks(struct hunt *hunt, enum source_lack lack)
{
	if (lack > hunt->lack)
		hunt->lack = lack;
	return -ENOENT;
}

/* Returns 0, -ENOENT if it cannot be read, or -ENOMEM. Does not take fd. */
static int read_file(int fd, const struct stat *status, const char *path, struct source_file *ret)
{
	struct source_file file = {0};
	size_t size = (size_t)status->st_size;
	ssize_t n = 0;
	size_t used = 0;

	if (status->st_size > MAX_FILE_BYTES)
		return -ENOENT;
	file.path = strdup(path);
	file.text = malloc(size + 1);
	file.mtime_ns =
		(uint64_t)status->st_mtim.tv_sec * NS_PER_SEC + (uint64_t)status->st_mtim.tv_nsec;
	while (file.text && used < size && (n = read(fd, file.text + used, size - used)) > 0)
		used += (size_t)n;
	if (!file.path || !file.text) {
		source_file_fini(&file);
		return -ENOMEM;
	}
	file.text[used] = '\0';
	if (n < 0 || split(&file, used) < 0) {
		source_file_fini(&file);
		return n < 0 ? -ENOENT : -ENOMEM;
	}
	*ret = file;
	return 0;
}

/* Looks for folder/name. */
static int try(struct hunt *hunt, const char *folder, const char *name,
	       const struct readers *readers, struct source_file *ret)
{
	SCOPED(mem) char *path = NULL;
	SCOPED(fd) int fd = -1;
	struct stat status;

	if (asprintf(&path, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name) <
	    0) {
		path = NULL; /* asprintf() leaves it undefined */
		return -ENOMEM;
	}
	fd = open_below(folder, name, readers->users, readers->count, &status);
	if (fd == -EPERM)
		return lacks(hunt, SOURCE_LACK_RIGHTS);
	if (fd < 0)
		return lacks(hunt,
			     fd == -EXDEV || fd == -ELOOP ? SOURCE_LACK_FOLDER : SOURCE_LACK_FILE);
	if (strcmp(folder, SYSTEM_FOLDER) == 0 && !is_public(&status))
		return lacks(hunt, SOURCE_LACK_FOLDER);
	if (!hunt->search->is_asked && !is_readers(&status) && !is_public(&status))
		return lacks(hunt, SOURCE_LACK_REQUEST);
	return read_file(fd, &status, path, ret);
}

/* Looks in the compilation directory. */
static int try_tree(struct hunt *hunt, const struct profile_source *source, struct source_file *ret)
{
	const struct profile *profile = hunt->profile;
	const char *path = profile_text(profile, hunt->path);
	SCOPED(mem) char *folder = NULL;
	struct readers readers = {0};

	if (source->tree == 0 || source->tree >= strlen(path) || path[source->tree] != '/')
		return lacks(hunt, SOURCE_LACK_FOLDER);
	if (!hunt->search->is_asked && !is_trusted(&profile->sources, source))
		return lacks(hunt, SOURCE_LACK_REQUEST);
	folder = strndup(path, source->tree);
	if (!folder)
		return -ENOMEM;
	add_reader(&readers, true, owner_uid());
	add_reader(&readers, profile->sources.has_user, profile->sources.user_uid);
	/* A program that root starts may become any user, who then names the scripts. */
	add_reader(&readers, source->is_known && !(source->is_script && source->uid == 0),
		   source->uid);
	return try(hunt, folder, path + source->tree + 1, &readers, ret);
}

/* Tries all of them: those that name a file have different rights. */
static int try_trees(struct hunt *hunt, struct source_file *ret)
{
	struct id_probe probe = profile_sources_probe(&hunt->profile->sources, hunt->path);
	const struct profile_source *source;
	int r = lacks(hunt, SOURCE_LACK_FOLDER);

	while (r == -ENOENT &&
	       (source = profile_sources_next(&hunt->profile->sources, hunt->path, &probe)))
		r = try_tree(hunt, source, ret);
	return r;
}

/* Looks below a directory that the reader has given. */
static int try_named(struct hunt *hunt, const char *folder, const char *name,
		     struct source_file *ret)
{
	struct readers readers = {0};

	if (!*folder || (!hunt->search->is_asked && !hunt->is_trusted))
		return lacks(hunt, *folder ? SOURCE_LACK_REQUEST : SOURCE_LACK_FILE);
	add_reader(&readers, true, owner_uid());
	if (hunt->profile->sources.has_user)
		add_reader(&readers, true, hunt->profile->sources.user_uid);
	return try(hunt, folder, name, &readers, ret);
}

/* A map may name the file itself. */
static int try_mapped_file(struct hunt *hunt, const char *file, struct source_file *ret)
{
	const char *slash = strrchr(file, '/');
	SCOPED(mem)
	char *folder =
		slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file)) : strdup(".");

	return folder ? try_named(hunt, folder, slash ? slash + 1 : file, ret) : -ENOMEM;
}

static int try_map(struct hunt *hunt, const char *map, struct source_file *ret)
{
	const char *path = profile_text(hunt->profile, hunt->path);
	const char *equals = strchr(map, '=');
	size_t n = equals ? (size_t)(equals - map) : 0;

	if (n == 0 || strncmp(path, map, n) != 0)
		return -ENOENT;
	if (path[n] && path[n] != '/' && map[n - 1] != '/')
		return -ENOENT; /* /src is not the beginning of /srcs/x.c */
	path += n;
	while (*path == '/')
		path++;
	if (*path)
		return try_named(hunt, equals + 1, path, ret);
	return try_mapped_file(hunt, equals + 1, ret);
}

static int try_directory(struct hunt *hunt, const char *directory, struct source_file *ret)
{
	const char *path = profile_text(hunt->profile, hunt->path);
	int r = -ENOENT;

	while (r == -ENOENT && path && *path) {
		while (*path == '/')
			path++;
		r = try_named(hunt, directory, path, ret);
		path = strchr(path, '/');
	}
	return r;
}

static bool is_trusted_by_one(const struct profile *profile, uint32_t path)
{
	struct id_probe probe = profile_sources_probe(&profile->sources, path);
	const struct profile_source *source;

	while ((source = profile_sources_next(&profile->sources, path, &probe)))
		if (is_trusted(&profile->sources, source))
			return true;
	return false;
}

int source_file_find(const struct source_search *search, const struct profile *profile,
		     uint32_t path, struct source_file *ret)
{
	struct hunt hunt = {.search = search,
			    .profile = profile,
			    .path = path,
			    .is_trusted = is_trusted_by_one(profile, path),
			    .lack = SOURCE_LACK_FILE};
	int r = -ENOENT;
	size_t i;

	*ret = (struct source_file){.lack = SOURCE_LACK_FILE};
	if (!*profile_text(profile, path))
		return -ENOENT;
	for (i = 0; i < search->map_count && r == -ENOENT; i++)
		r = try_map(&hunt, search->maps[i], ret);
	/* A path without a directory would be relative to our working directory. */
	if (r == -ENOENT && *profile_text(profile, path) == '/')
		r = try_trees(&hunt, ret);
	for (i = 0; i < search->directory_count && r == -ENOENT; i++)
		r = try_directory(&hunt, search->directories[i], ret);
	if (r == -ENOENT)
		ret->lack = hunt.lack;
	return r;
}

const char *source_lack_text(enum source_lack lack)
{
	static const char *const texts[SOURCE_LACKS] = {
		[SOURCE_LACK_FOLDER] = "source left out: the file is outside its compilation "
				       "directory; add its directory with --source-path DIR",
		[SOURCE_LACK_REQUEST] =
			"source left out: recording, program, debug information "
			"and source do not all belong to you or root; --source includes it",
		[SOURCE_LACK_RIGHTS] = "source left out: the owner of the program cannot read the "
				       "file; make it readable (chmod o+r) to include it",
	};

	return texts[lack];
}

const char *source_file_line(const struct source_file *file, uint32_t line)
{
	return line > 0 && line <= file->line_count ? file->lines[line - 1] : NULL;
}
