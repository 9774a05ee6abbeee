/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/names/symbol_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/log.h"
#include "base/scope.h"
#include "symbol/elf_symbols.h"
#include "symbol/symbol_file.h"

#define SUFFIX ".debug"
#define UNFINISHED ".tmp"
#define ID_MIN_BYTES 8u

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

static void scope_release_symbols(struct elf_symbols **symbols)
{
	elf_symbols_free(*symbols);
}

bool symbol_folder_parse_id(const char *text, struct build_id *ret)
{
	return build_id_parse(text, ret) && ret->size >= ID_MIN_BYTES;
}

/* Writes the path of a file, or of its folder; false if it does not fit. */
static bool put_path(const struct symbol_folder *folder, const struct build_id *id, bool is_file,
		     char ret[PATH_MAX])
{
	char hex[2 * BUILD_ID_MAX + 1];
	int n;

	build_id_format(id, hex);
	n = is_file ? snprintf(ret, PATH_MAX, "%s/.build-id/%.2s/%s" SUFFIX, folder->path, hex,
			       hex + 2)
		    : snprintf(ret, PATH_MAX, "%s/.build-id/%.2s", folder->path, hex);
	return n > 0 && n < PATH_MAX;
}

static struct symbol_file_entry *find(struct symbol_folder *folder, const struct build_id *id)
{
	for (size_t i = 0; i < folder->files.count; i++)
		if (build_id_equal(&folder->files.items[i].build_id, id))
			return &folder->files.items[i];
	return NULL;
}

/* Removes what a server that was killed had begun to write: "cdef….debug.PID.tmp". */
static void remove_unfinished(const char *folder, const char *name)
{
	const char *suffix = strstr(name, SUFFIX ".");
	char path[PATH_MAX];

	if (!suffix || strlen(name) < strlen(UNFINISHED) ||
	    strcmp(name + strlen(name) - strlen(UNFINISHED), UNFINISHED) != 0 ||
	    snprintf(path, sizeof(path), "%s/%s", folder, name) >= PATH_MAX)
		return;
	if (unlink(path) < 0)
		log_info("cannot remove %s", path);
}

/* A file that is there: "ab" and "cdef….debug". Others are not ours and stay. */
static int note_file(struct symbol_folder *folder, const char *first, const char *name)
{
	size_t n = strlen(name);
	char hex[2 * BUILD_ID_MAX + 1];
	char path[PATH_MAX];
	struct symbol_file_entry entry = {.bytes = 0};
	struct stat status;

	if (n <= strlen(SUFFIX) || strcmp(name + n - strlen(SUFFIX), SUFFIX) != 0 ||
	    snprintf(hex, sizeof(hex), "%s%.*s", first, (int)(n - strlen(SUFFIX)), name) >=
		    (int)sizeof(hex) ||
	    !symbol_folder_parse_id(hex, &entry.build_id) ||
	    !put_path(folder, &entry.build_id, true, path) || lstat(path, &status) < 0 ||
	    !S_ISREG(status.st_mode))
		return 0;
	entry.bytes = (uint64_t)status.st_size;
	entry.written_ns = status.st_mtim.tv_sec * (int64_t)NS_PER_SEC + status.st_mtim.tv_nsec;
	folder->bytes += entry.bytes;
	return vec_push(&folder->files, entry);
}

static int note_folder(struct symbol_folder *folder, const char *root, const char *first)
{
	char path[PATH_MAX];
	const struct dirent *item;
	DIR *files;
	int r = 0;

	if (strlen(first) != 2 || snprintf(path, sizeof(path), "%s/%s", root, first) >= PATH_MAX)
		return 0;
	files = opendir(path);
	while (files && r == 0 && (item = readdir(files))) {
		remove_unfinished(path, item->d_name);
		r = note_file(folder, first, item->d_name);
	}
	if (files)
		(void)closedir(files); /* only read from */
	return r;
}

static int note_all(struct symbol_folder *folder, const char *root)
{
	const struct dirent *item;
	DIR *folders = opendir(root);
	int r = 0;

	while (folders && r == 0 && (item = readdir(folders)))
		r = note_folder(folder, root, item->d_name);
	if (folders)
		(void)closedir(folders); /* only read from */
	return r;
}

int symbol_folder_open(struct symbol_folder *folder, const char *path, uint64_t max_bytes,
		       struct error *err)
{
	char root[PATH_MAX];
	int r;

	*folder = (struct symbol_folder){.max_bytes = max_bytes};
	(void)pthread_mutex_init(&folder->upload_lock, NULL); /* never fails on Linux */
	(void)pthread_mutex_init(&folder->lock, NULL);        /* likewise */
	folder->path = strdup(path);
	if (!folder->path)
		return error_set(err, -ENOMEM, "out of memory");
	if (snprintf(root, sizeof(root), "%s/.build-id", path) >= PATH_MAX)
		return error_file(err, -ENAMETOOLONG, "cannot create %s", path);
	if ((mkdir(path, 0700) < 0 && errno != EEXIST) ||
	    (mkdir(root, 0700) < 0 && errno != EEXIST))
		return error_file(err, -errno, "cannot create %s", root);
	r = note_all(folder, root);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

void symbol_folder_close(struct symbol_folder *folder)
{
	if (!folder->path)
		return;
	vec_fini(&folder->files);
	free(folder->path);
	(void)pthread_mutex_destroy(&folder->lock);        /* nobody holds it */
	(void)pthread_mutex_destroy(&folder->upload_lock); /* likewise */
}

uint64_t symbol_folder_size(struct symbol_folder *folder, const struct build_id *id)
{
	const struct symbol_file_entry *entry;
	uint64_t bytes;

	(void)pthread_mutex_lock(&folder->lock);
	entry = find(folder, id);
	bytes = entry ? entry->bytes : 0;
	(void)pthread_mutex_unlock(&folder->lock);
	return bytes;
}

static void forget(struct symbol_folder *folder, struct symbol_file_entry *entry)
{
	folder->bytes -= entry->bytes;
	*entry = folder->files.items[--folder->files.count];
}

/* What was written longest ago, but not the file of a build id; NULL: there is no other. */
static struct symbol_file_entry *find_oldest(struct symbol_folder *folder,
					     const struct build_id *except)
{
	struct symbol_file_entry *oldest = NULL;

	for (size_t i = 0; i < folder->files.count; i++)
		if ((!oldest || folder->files.items[i].written_ns < oldest->written_ns) &&
		    !build_id_equal(&folder->files.items[i].build_id, except))
			oldest = &folder->files.items[i];
	return oldest;
}

/* Removes the oldest until there is room for a file, which replaces the one of its build id. */
static void make_room(struct symbol_folder *folder, uint64_t bytes, const struct build_id *id)
{
	const struct symbol_file_entry *known = find(folder, id);
	uint64_t known_bytes = known ? known->bytes : 0;
	size_t known_count = known ? 1 : 0;
	struct symbol_file_entry *oldest;

	while ((folder->bytes - known_bytes + bytes > folder->max_bytes ||
		folder->files.count - known_count >= SYMBOL_FOLDER_FILES_MAX) &&
	       (oldest = find_oldest(folder, id))) {
		char path[PATH_MAX];

		if (put_path(folder, &oldest->build_id, true, path) && remove(path) < 0)
			log_info("cannot remove %s", path);
		forget(folder, oldest);
	}
}

/* With the lock. */
static int write_file(struct symbol_folder *folder, const struct build_id *id, const void *data,
		      size_t size, struct error *err)
{
	struct symbol_file_entry entry = {
		.build_id = *id, .bytes = size, .written_ns = (int64_t)clock_realtime_ns()};
	struct symbol_file_entry *known;
	char directory[PATH_MAX];
	char path[PATH_MAX];
	int r;

	if (size > folder->max_bytes) {
		(void)error_set(err, -EFBIG, "the symbols are larger than --symbols-size");
		error_remedy(err, "start the server with a larger --symbols-size");
		return -EFBIG;
	}
	if (!put_path(folder, id, false, directory) || !put_path(folder, id, true, path))
		return error_file(err, -ENAMETOOLONG, "cannot write below %s", folder->path);
	/* Before the file: one that is not listed would never be removed. */
	if (vec_reserve(&folder->files, folder->files.count + 1) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	make_room(folder, size, id);
	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return error_file(err, -errno, "cannot create %s", directory);
	r = outfile_write(path, NULL, data, size, err);
	if (r < 0)
		return r; /* the old file is still there, and still listed */
	known = find(folder, id);
	if (known)
		forget(folder, known);
	folder->bytes += size;
	folder->files.items[folder->files.count++] = entry;
	return 0;
}

/* How many functions are kept for a build id; 0: none, or they cannot be read. */
static uint32_t count_kept(const struct symbol_folder *folder, const struct build_id *id)
{
	SCOPED(symbols) struct elf_symbols *symbols = NULL;
	SCOPED(elf) struct elf_file *elf = NULL;
	char path[PATH_MAX];

	if (!put_path(folder, id, true, path) || elf_open(path, &elf, NULL) < 0 ||
	    elf_symbols_read(elf, &symbols, NULL) < 0)
		return 0;
	return elf_symbols_count(symbols);
}

static int refuse(struct error *err, const char *text, const char *remedy)
{
	(void)error_set(err, -EINVAL, "%s", text);
	error_remedy(err, "%s", remedy);
	return -EINVAL;
}

static int check_file(const void *data, size_t size, const struct build_id *id,
		      struct elf_file **ret, struct error *err)
{
	if (size == 0 || elf_open_memory(data, size, "the body", ret, NULL) < 0)
		return refuse(err, "the body is not an ELF file of a 64-bit program",
			      "send a program, a library or its debug file");
	if (!build_id_equal(elf_build_id(*ret), id))
		return refuse(err, "the file has another build ID, or none",
			      "readelf -n FILE shows its build ID");
	return 0;
}

/* Makes the file that is kept of an upload. Returns how many functions it has. */
static int make_file(const struct build_id *id, const void *data, size_t size, struct bytes *ret,
		     struct error *err)
{
	SCOPED(symbols) struct elf_symbols *symbols = NULL;
	SCOPED(elf) struct elf_file *elf = NULL;
	const struct elf_symbols *tables[1];
	struct symbol_file_source source = {.tables = tables, .table_count = 1, .build_id = id};
	int r = check_file(data, size, id, &elf, err);

	if (r < 0)
		return r;
	if (elf_symbols_read_plain(elf, &symbols, NULL) < 0)
		return refuse(err, "the symbol table of the file is damaged",
			      "readelf -Ws FILE shows what is wrong");
	source.machine = elf_machine(elf);
	tables[0] = symbols;
	r = symbol_file_make(&source, SYMBOL_UPLOAD_MAX_BYTES, ret, err);
	return r == -ENOENT ? refuse(err, "the file has no functions with names",
				     "send a file that is not stripped, or its debug file")
			    : r;
}

/* With upload_lock. */
static int take(struct symbol_folder *folder, const struct build_id *id, const void *data,
		size_t size, struct error *err)
{
	struct bytes file = {0};
	int r = make_file(id, data, size, &file, err);

	if (r > 0 && (uint32_t)r <= count_kept(folder, id)) {
		r = 0;
	} else if (r > 0) {
		(void)pthread_mutex_lock(&folder->lock);
		r = write_file(folder, id, file.data, file.size, err);
		(void)pthread_mutex_unlock(&folder->lock);
		r = r < 0 ? r : 1;
	}
	bytes_fini(&file);
	return r;
}

/*
 * One at a time, so that several cannot use much memory at once. Nobody waits: whoever does holds a
 * place that pushes need.
 */
int symbol_folder_take(struct symbol_folder *folder, const struct build_id *id, const void *data,
		       size_t size, struct error *err)
{
	int r;

	if (pthread_mutex_trylock(&folder->upload_lock) != 0) {
		(void)error_set(err, -EBUSY, "the body was not read: another upload is being read");
		error_remedy(err, "send the file again in a few seconds");
		return -EBUSY;
	}
	r = take(folder, id, data, size, err);
	(void)pthread_mutex_unlock(&folder->upload_lock);
	return r;
}

int symbol_folder_keep(struct symbol_folder *folder, const struct build_id *id, const void *data,
		       size_t size, struct error *err)
{
	SCOPED(elf) struct elf_file *elf = NULL;
	int r = check_file(data, size, id, &elf, err);

	if (r < 0)
		return r;
	(void)pthread_mutex_lock(&folder->lock);
	r = write_file(folder, id, data, size, err);
	(void)pthread_mutex_unlock(&folder->lock);
	return r;
}

struct symbol_folder_stats symbol_folder_stats(struct symbol_folder *folder)
{
	struct symbol_folder_stats stats;

	(void)pthread_mutex_lock(&folder->lock);
	stats = (struct symbol_folder_stats){folder->files.count, folder->bytes};
	(void)pthread_mutex_unlock(&folder->lock);
	return stats;
}
