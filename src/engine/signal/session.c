/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/vec.h"
#include "engine/signal/preload_path.h"
#include "proc/process_info.h"

#define UNLOCKED "control.new" /* initial name of the control */

/* Where sessions are created: in memory if possible, else on disk. */
static const char *const parents[] = {"/dev/shm", NULL /* $TMPDIR */, "/tmp"};

/* Space for the rings of a hundred threads and the tables of their modules. */
#define ROOM_BYTES (8ull << 20)

/* Whether a program of this session still runs: its loader needs the library at exec. */
static bool is_in_use(const char *path)
{
	struct pid_list list = {0};
	bool used = false;

	(void)process_list(&list, NULL); /* else none */
	for (size_t i = 0; i < list.count && !used; i++)
		used = list.items[i] != getpid() &&
		       process_has_variable(list.items[i], SESSION_VARIABLE, path);
	vec_fini(&list);
	return used;
}

/* If there is no descriptor left to list a folder, no program has joined it. */
static void remove_own_files(const char *path)
{
	static const char *const names[] = {SESSION_CONTROL, UNLOCKED, SESSION_TABLES, SESSION_WAKE,
					    SESSION_LIBRARY};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char name[PATH_MAX];

		(void)snprintf(name, sizeof(name), "%s/%s", path, names[i]);
		(void)unlink(name); /* or it was not created */
	}
}

/* Removes a session, except the library if programs outlive it: a later session removes that. */
static void remove_folder(const char *path)
{
	bool keep = is_in_use(path);
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_type != DT_DIR &&
		    !(keep && strcmp(entry->d_name, SESSION_LIBRARY) == 0))
			(void)unlinkat(dirfd(dir), entry->d_name, 0); /* then rmdir fails too */
	if (dir)
		(void)closedir(dir);
	else if (errno == EMFILE || errno == ENFILE)
		remove_own_files(path);
	(void)rmdir(path);
}

/*
 * Whether a session is left over: its recorder was killed, so nobody holds the lock on its control;
 * or it has ended, and only the library is left for programs that outlived it.
 */
static bool is_left_over(const char *path)
{
	char name[PATH_MAX + sizeof(SESSION_CONTROL) + 1];
	struct stat status;

	if (lstat(path, &status) < 0 || status.st_uid != geteuid() || !S_ISDIR(status.st_mode))
		return false;
	(void)snprintf(name, sizeof(name), "%s/%s", path, SESSION_CONTROL);
	SCOPED(fd) int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0)
		return flock(fd, LOCK_EX | LOCK_NB) == 0;
	(void)snprintf(name, sizeof(name), "%s/%s", path, SESSION_LIBRARY);
	return errno == ENOENT && lstat(name, &status) == 0;
}

static void remove_left_overs(const char *parent)
{
	DIR *dir = opendir(parent);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX];

		if (strncmp(entry->d_name, SESSION_FOLDER, strlen(SESSION_FOLDER)) != 0)
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", parent, entry->d_name);
		if (is_left_over(path))
			remove_folder(path);
	}
	if (dir)
		(void)closedir(dir);
}

void session_tidy(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(parents); i++) {
		const char *parent = parents[i] ? parents[i] : getenv("TMPDIR");

		if (parent && parent[0] == '/')
			remove_left_overs(parent);
	}
}

/* The free space below a folder; UINT64_MAX if unknown. */
static uint64_t room_bytes(const char *parent)
{
	struct statvfs status;

	return statvfs(parent, &status) < 0 ? UINT64_MAX
					    : (uint64_t)status.f_bavail * status.f_frsize;
}

static bool make_folder_in(struct session *session, const char *parent)
{
	/* The pid identifies the owner of a leftover. */
	if ((size_t)snprintf(session->folder, sizeof(session->folder),
			     "%s/" SESSION_FOLDER "%d-XXXXXX", parent,
			     (int)getpid()) >= sizeof(session->folder))
		return false;
	/* Programs that later run as another user may only load the library. */
	return mkdtemp(session->folder) && chmod(session->folder, 0711) == 0;
}

/* Uses the first place with this much space. */
static bool make_roomy_folder(struct session *session, uint64_t least_bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(parents); i++) {
		const char *parent = parents[i] ? parents[i] : getenv("TMPDIR");
		uint64_t bytes;

		/* In LD_PRELOAD, spaces and colons separate names. */
		if (!parent || parent[0] != '/' || strpbrk(parent, " :$"))
			continue;
		remove_left_overs(parent);
		bytes = room_bytes(parent);
		if (bytes < least_bytes)
			(void)snprintf(session->notice, sizeof(session->notice),
				       "%.56s has only %.1f MB free: samples go through files in "
				       "another directory",
				       parent, (double)bytes / 1e6);
		else if (make_folder_in(session, parent))
			return true;
	}
	session->notice[0] = '\0'; /* there is no other place */
	return false;
}

static int make_folder(struct session *session, struct error *err)
{
	if (make_roomy_folder(session, ROOM_BYTES) || make_roomy_folder(session, 0))
		return 0;
	session->folder[0] = '\0';
	(void)error_file(err, -errno, "the signal engine cannot create a directory for samples");
	error_remedy(err, "make /dev/shm or /tmp writable, or set TMPDIR");
	return -EACCES;
}

static int open_file(const struct session *session, const char *name, int flags, struct error *err)
{
	char path[PATH_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", session->folder, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	return fd < 0 ? error_file(err, -errno, "cannot open %s", path) : fd;
}

/* Renamed only after it is locked, so that nobody mistakes it for a leftover. */
static bool name_control(const struct session *session)
{
	char before[PATH_MAX];
	char name[PATH_MAX];

	(void)snprintf(before, sizeof(before), "%s/%s", session->folder, UNLOCKED);
	(void)snprintf(name, sizeof(name), "%s/%s", session->folder, SESSION_CONTROL);
	return rename(before, name) == 0;
}

/* The lock on the control shows that the recorder is alive, so the descriptor stays open. */
static int make_control(struct session *session, struct error *err)
{
	struct session_control *control;
	int fd = open_file(session, UNLOCKED, O_RDWR | O_CREAT | O_EXCL, err);

	if (fd < 0)
		return fd;
	session->control_fd = fd;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || posix_fallocate(fd, 0, sizeof(*control)) != 0 ||
	    !name_control(session)) {
		(void)error_set(err, -ENOSPC, "no space left in %s", session->folder);
		error_remedy(err,
			     "free some space, or use another engine (see: wick list engines)");
		return -ENOSPC;
	}
	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (control == MAP_FAILED)
		return error_file(err, -errno, "cannot map %s/%s", session->folder,
				  SESSION_CONTROL);
	*control = (struct session_control){
		.version = SESSION_VERSION, .recorder_pid = (uint32_t)getpid(), .depth = 512};
	session->control = control;
	session_beat(session);
	control->magic = SESSION_MAGIC;
	return 0;
}

static int make_wake(struct session *session, struct error *err)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", session->folder, SESSION_WAKE);
	if (mkfifo(path, 0600) < 0)
		return error_file(err, -errno, "cannot create %s", path);
	/* Opened for reading and writing: without a writer it would always be readable. */
	session->wake_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return session->wake_fd < 0 ? error_file(err, -errno, "cannot open %s", path) : 0;
}

/* Links the library under a name without spaces, and makes the environment variables. */
static int make_environment(struct session *session, struct error *err)
{
	const char *others = getenv("LD_PRELOAD");
	char library[PATH_MAX];
	char path[PATH_MAX];
	int r = preload_path(library, sizeof(library), err);

	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "%s/%s", session->folder, SESSION_LIBRARY);
	if (symlink(library, path) < 0)
		return error_file(err, -errno, "cannot create %s", path);
	if (asprintf(&session->environment[0], "LD_PRELOAD=%s%s%s", path,
		     others && others[0] ? ":" : "", others ? others : "") < 0 ||
	    asprintf(&session->environment[1], SESSION_VARIABLE "=%s", session->folder) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

int session_open(struct session *session, struct error *err)
{
	int r;

	*session = (struct session){.tables_fd = -1, .wake_fd = -1, .control_fd = -1};
	r = make_folder(session, err);
	if (r == 0)
		r = make_control(session, err);
	if (r == 0)
		r = make_wake(session, err);
	if (r == 0)
		r = session->tables_fd =
			open_file(session, SESSION_TABLES, O_RDWR | O_CREAT | O_EXCL, err);
	if (r >= 0)
		r = make_environment(session, err);
	if (r < 0)
		session_close(session);
	else
		log_debug("session of the signal engine: %s", session->folder);
	return r;
}

void session_close(struct session *session)
{
	if (session->control) {
		atomic_store(&session->control->mode, 0);
		(void)munmap(session->control, sizeof(*session->control));
	}
	scope_release_fd(&session->tables_fd);
	scope_release_fd(&session->wake_fd);
	if (session->folder[0])
		remove_folder(session->folder);
	scope_release_fd(&session->control_fd); /* releases the lock too */
	free(session->environment[0]);
	free(session->environment[1]);
	*session = (struct session){.tables_fd = -1, .wake_fd = -1, .control_fd = -1};
}

void session_beat(struct session *session)
{
	atomic_store(&session->control->heartbeat_ns, clock_monotonic_ns());
}

int session_each_file(const struct session *session, session_file_fn *fn, void *self,
		      struct error *err)
{
	DIR *dir = opendir(session->folder);
	struct dirent *entry;
	int code = dir ? 0 : -errno;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
			int r = fn(self, entry->d_name);

			code = code < 0 ? code : r;
		}
	if (dir)
		(void)closedir(dir);
	/* Other errors are caused by the program, which may do anything. */
	return code == -EMFILE || code == -ENFILE
		       ? error_file(err, code, "cannot read what a program sends to the recorder")
		       : 0;
}

void session_empty_wake(const struct session *session)
{
	char bytes[512];

	while (read(session->wake_fd, bytes, sizeof(bytes)) > 0)
		;
}
