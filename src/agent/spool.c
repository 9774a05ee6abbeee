/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "recording/reader.h"

#define SUFFIX ".wick"
#define NEW_PREFIX "new-"
#define DAMAGED "damaged"
#define OFFSET_MARK '@'
#define NAME_MAX_BYTES (SPOOL_ID_MAX + 32)
/* A larger file was not written by an agent. */
#define MAX_FILE_BYTES (256u << 20)

struct entry {
	struct spool_item item;
	uint64_t written_s; /* since 1970 */
};

struct spool {
	struct spool_config config;
	int folder_fd;
	int file_fd; /* a copy of the descriptor of the file being written; -1: none */
	pthread_mutex_t lock;
	/* With the lock: */
	VEC(struct entry) entries; /* in order */
	uint64_t next_number;
	uint64_t total_bytes;
	uint64_t dropped;
	uint64_t damaged;
};

static void file_name(const struct spool_item *item, char *ret)
{
	(void)snprintf(ret, NAME_MAX_BYTES, "%016" PRIx64 "-%s" SUFFIX, item->number, item->id);
}

static void temporary_name(const struct spool *spool, char *ret)
{
	(void)snprintf(ret, NAME_MAX_BYTES, NEW_PREFIX "%016" PRIx64, spool->next_number);
}

/* The number and id in the name of a file; false if it is not a window. */
static bool parse_name(const char *name, struct spool_item *ret)
{
	size_t length = strlen(name);
	size_t suffix = sizeof(SUFFIX) - 1;
	char *end;

	if (length < 17 + suffix + 1 || length - 17 - suffix >= SPOOL_ID_MAX ||
	    strcmp(name + length - suffix, SUFFIX) != 0)
		return false;
	ret->number = strtoull(name, &end, 16);
	(void)snprintf(ret->id, sizeof(ret->id), "%.*s", (int)(length - 17 - suffix), name + 17);
	return end == name + 16 && *end == '-';
}

static void tell(const struct spool *spool, const char *text)
{
	if (spool->config.notice)
		spool->config.notice(spool->config.self, text);
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;

	return (x->item.number > y->item.number) - (x->item.number < y->item.number);
}

static void scope_release_directory(DIR **directory)
{
	if (*directory)
		(void)closedir(*directory); /* only read from */
}

/* Finds what an earlier agent left behind. */
static int scan(struct spool *spool, struct error *err)
{
	int fd = openat(spool->folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SCOPED(directory) DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *file;

	if (!directory) {
		int r = -errno;

		scope_release_fd(&fd);
		return error_file(err, r, "cannot read the folder %s", spool->config.folder);
	}
	while ((file = readdir(directory))) {
		struct entry entry = {0};
		struct stat status;

		if (strncmp(file->d_name, NEW_PREFIX, sizeof(NEW_PREFIX) - 1) == 0)
			(void)unlinkat(spool->folder_fd, file->d_name, 0); /* it stays otherwise */
		if (!parse_name(file->d_name, &entry.item) ||
		    fstatat(spool->folder_fd, file->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		entry.item.bytes = (uint64_t)status.st_size;
		entry.written_s = (uint64_t)status.st_mtime;
		if (vec_push(&spool->entries, entry) < 0)
			return error_set(err, -ENOMEM, "out of memory");
		spool->total_bytes += entry.item.bytes;
		if (entry.item.number >= spool->next_number)
			spool->next_number = entry.item.number + 1;
	}
	if (spool->entries.count > 0)
		qsort(spool->entries.items, spool->entries.count, sizeof(*spool->entries.items),
		      compare_entries);
	return 0;
}

static int make_folders(const char *path)
{
	SCOPED(mem) char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(copy, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* Windows show what runs on the host: nobody else may read them, or put others in their place. */
static int open_folder(struct spool *spool, struct error *err)
{
	const char *path = spool->config.folder;
	struct stat status;
	int r = make_folders(path);

	if (r == 0) {
		spool->folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = spool->folder_fd < 0 || fstat(spool->folder_fd, &status) < 0 ? -errno : 0;
	}
	if (r < 0)
		return error_file(err, r, "cannot use the folder %s for windows", path);
	if (status.st_uid != geteuid() || (status.st_mode & 022) != 0) {
		(void)error_set(err, -EPERM, "other users can write to the folder %s", path);
		error_remedy(err,
			     "choose another one with --spool DIR, or run: sudo chown %d %s && "
			     "sudo chmod 700 %s",
			     (int)geteuid(), path, path);
		return -EPERM;
	}
	if (flock(spool->folder_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	(void)error_set(err, -EBUSY, "another agent uses the folder %s", path);
	error_remedy(err, "stop it, or choose another folder with --spool DIR");
	return -EBUSY;
}

int spool_open(const struct spool_config *config, struct spool **ret, struct error *err)
{
	struct spool *spool = calloc(1, sizeof(*spool));
	int r;

	if (!spool)
		return error_set(err, -ENOMEM, "out of memory");
	spool->config = *config;
	spool->folder_fd = spool->file_fd = -1;
	spool->next_number = 1;
	(void)pthread_mutex_init(&spool->lock, NULL); /* cannot fail without attributes */
	r = open_folder(spool, err);
	if (r == 0)
		r = scan(spool, err);
	if (r < 0)
		spool_close(spool);
	else
		*ret = spool;
	return r;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	scope_release_fd(&spool->file_fd);
	scope_release_fd(&spool->folder_fd);
	vec_fini(&spool->entries);
	(void)pthread_mutex_destroy(&spool->lock); /* nobody holds it */
	free(spool);
}

/* Removes the oldest window. With the lock. */
static void drop_first(struct spool *spool)
{
	char name[NAME_MAX_BYTES];

	file_name(&spool->entries.items[0].item, name);
	(void)unlinkat(spool->folder_fd, name, 0); /* if it stays, it is found at the next start */
	spool->total_bytes -= spool->entries.items[0].item.bytes;
	spool->entries.count--;
	memmove(spool->entries.items, spool->entries.items + 1,
		spool->entries.count * sizeof(*spool->entries.items));
}

/* Applies the limits; the newest window stays. Returns how many were removed. With the lock. */
static uint64_t drop_old(struct spool *spool)
{
	uint64_t now_s = clock_realtime_ns() / NS_PER_SEC;
	uint64_t dropped = 0;

	while (spool->entries.count > 1 &&
	       (spool->total_bytes > spool->config.max_bytes ||
		spool->entries.items[0].written_s + spool->config.max_age_s < now_s)) {
		drop_first(spool);
		dropped++;
	}
	spool->dropped += dropped;
	return dropped;
}

int spool_begin(struct spool *spool, struct error *err)
{
	char name[NAME_MAX_BYTES];
	int fd;

	spool_abort(spool);
	temporary_name(spool, name);
	fd = openat(spool->folder_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd >= 0)
		spool->file_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || spool->file_fd < 0) {
		int r = -errno;

		scope_release_fd(&fd);
		return error_file(err, r, "cannot write a window in %s", spool->config.folder);
	}
	return fd;
}

void spool_abort(struct spool *spool)
{
	char name[NAME_MAX_BYTES];

	if (spool->file_fd < 0)
		return;
	(void)close(spool->file_fd); /* what was written is not wanted */
	spool->file_fd = -1;
	temporary_name(spool, name);
	(void)unlinkat(spool->folder_fd, name, 0); /* else removed at the next start */
}

/* The file and its new name are on the disk when this returns 0. */
static int sync_and_rename(struct spool *spool, const struct spool_item *item)
{
	char from[NAME_MAX_BYTES];
	char to[NAME_MAX_BYTES];

	temporary_name(spool, from);
	file_name(item, to);
	if (fsync(spool->file_fd) < 0 ||
	    renameat(spool->folder_fd, from, spool->folder_fd, to) < 0 ||
	    fsync(spool->folder_fd) < 0)
		return -errno;
	return 0;
}

/* An id becomes a part of a file name. */
static void set_id(struct spool_item *item, const char *id)
{
	(void)snprintf(item->id, sizeof(item->id), "%s", id);
	for (char *at = item->id; *at; at++)
		if (*at == '/' || *at == ' ' || (unsigned char)*at < 0x20)
			*at = '_';
}

int spool_commit(struct spool *spool, const char *id, struct error *err)
{
	struct entry entry = {.item = {.number = spool->next_number},
			      .written_s = clock_realtime_ns() / NS_PER_SEC};
	struct stat status;
	char text[200];
	uint64_t dropped;
	int r;

	set_id(&entry.item, id);
	r = fstat(spool->file_fd, &status) < 0 ? -errno : sync_and_rename(spool, &entry.item);
	if (r < 0) {
		spool_abort(spool);
		return error_file(err, r, "cannot store a window in %s", spool->config.folder);
	}
	entry.item.bytes = (uint64_t)status.st_size;
	(void)close(spool->file_fd); /* it was synchronised */
	spool->file_fd = -1;
	(void)pthread_mutex_lock(&spool->lock);
	spool->next_number++;
	r = vec_push(&spool->entries, entry); /* else it is found at the next start */
	spool->total_bytes += r == 0 ? entry.item.bytes : 0;
	dropped = drop_old(spool);
	(void)pthread_mutex_unlock(&spool->lock);
	if (dropped > 0) {
		(void)snprintf(text, sizeof(text),
			       "%" PRIu64 " old windows were removed without being sent: the spool "
			       "exceeded --spool-size or --spool-age",
			       dropped);
		tell(spool, text);
	}
	return 0;
}

bool spool_first(struct spool *spool, struct spool_item *ret)
{
	return spool_next(spool, 0, ret);
}

bool spool_next(struct spool *spool, uint64_t number, struct spool_item *ret)
{
	bool found = false;

	(void)pthread_mutex_lock(&spool->lock);
	for (size_t i = 0; i < spool->entries.count && !found; i++) {
		found = spool->entries.items[i].item.number > number;
		if (found)
			*ret = spool->entries.items[i].item;
	}
	(void)pthread_mutex_unlock(&spool->lock);
	return found;
}

void spool_join_id(char ret[SPOOL_ID_MAX], const char *id, int64_t offset_s)
{
	/* Callers refuse ids that do not fit. */
	(void)snprintf(ret, SPOOL_ID_MAX, "%s%c%" PRId64, id, OFFSET_MARK, offset_s);
}

int64_t spool_split_id(const char *joined, char ret_id[SPOOL_ID_MAX])
{
	const char *mark = strrchr(joined, OFFSET_MARK);
	char *end = NULL;
	int64_t offset_s = mark ? strtoll(mark + 1, &end, 10) : 0;
	bool is_joined = mark && end > mark + 1 && !*end;

	(void)snprintf(ret_id, SPOOL_ID_MAX, "%.*s",
		       (int)(is_joined ? (size_t)(mark - joined) : strlen(joined)), joined);
	return is_joined ? offset_s : 0;
}

/* Forgets a window whose file is gone. */
static void forget(struct spool *spool, uint64_t number, bool damaged)
{
	(void)pthread_mutex_lock(&spool->lock);
	spool->damaged += damaged;
	for (size_t i = 0; i < spool->entries.count; i++) {
		if (spool->entries.items[i].item.number != number)
			continue;
		spool->total_bytes -= spool->entries.items[i].item.bytes;
		spool->entries.count--;
		memmove(spool->entries.items + i, spool->entries.items + i + 1,
			(spool->entries.count - i) * sizeof(*spool->entries.items));
		break;
	}
	(void)pthread_mutex_unlock(&spool->lock);
}

void spool_remove(struct spool *spool, const struct spool_item *item)
{
	char name[NAME_MAX_BYTES];

	file_name(item, name);
	(void)unlinkat(spool->folder_fd, name, 0); /* it may be gone already */
	forget(spool, item->number, false);
}

static int set_aside(struct spool *spool, const struct spool_item *item, struct error *err)
{
	char from[NAME_MAX_BYTES];
	char to[NAME_MAX_BYTES + sizeof(DAMAGED)];

	file_name(item, from);
	(void)snprintf(to, sizeof(to), DAMAGED "/%s", from);
	(void)mkdirat(spool->folder_fd, DAMAGED, 0700); /* it may exist */
	if (renameat(spool->folder_fd, from, spool->folder_fd, to) < 0)
		(void)unlinkat(spool->folder_fd, from, 0); /* else it is met again */
	forget(spool, item->number, true);
	(void)error_set(err, -EBADMSG, "a window in the spool is damaged: %s/%s",
			spool->config.folder, from);
	error_remedy(err, "nothing else is affected; it is now in %s/" DAMAGED,
		     spool->config.folder);
	return -EBADMSG;
}

/* Whether data is a whole recording. */
static bool is_whole(const struct bytes *data, const char *name)
{
	static const struct recording_visitor nothing = {0};
	struct recording_reader *reader;
	struct recording_damage damage;
	int r;

	if (recording_reader_open_memory(data->data, data->size, name, &reader, NULL) < 0)
		return false;
	r = recording_reader_run(reader, &nothing, NULL);
	damage = recording_reader_damage(reader);
	recording_reader_free(reader);
	return r == 0 && damage.complete && damage.bad_chunks == 0 && damage.missing_chunks == 0;
}

static int read_all(int fd, struct bytes *ret)
{
	bytes_clear(ret);
	for (;;) {
		uint8_t *room = bytes_reserve(ret, 64u << 10);
		ssize_t n = room ? read(fd, room, 64u << 10) : -1;

		if (!room)
			return -ENOMEM;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		ret->size += (size_t)n;
		if (ret->size > MAX_FILE_BYTES)
			return -EBADMSG;
	}
}

int spool_read(struct spool *spool, const struct spool_item *item, struct bytes *ret,
	       struct error *err)
{
	char name[NAME_MAX_BYTES];
	int r;

	file_name(item, name);
	SCOPED(fd) int fd = openat(spool->folder_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		forget(spool, item->number, false);
		return error_file(err, -ENOENT, "cannot read %s", name);
	}
	r = fd < 0 ? -errno : read_all(fd, ret);
	if (r == -EBADMSG || (r == 0 && !is_whole(ret, name)))
		return set_aside(spool, item, err);
	return r < 0 ? error_file(err, r, "cannot read %s", name) : 0;
}

void spool_stats(struct spool *spool, struct spool_stats *ret)
{
	(void)pthread_mutex_lock(&spool->lock);
	*ret = (struct spool_stats){.windows = spool->entries.count,
				    .bytes = spool->total_bytes,
				    .max_bytes = spool->config.max_bytes,
				    .dropped = spool->dropped,
				    .damaged = spool->damaged};
	(void)pthread_mutex_unlock(&spool->lock);
}
