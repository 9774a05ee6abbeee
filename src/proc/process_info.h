/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_PROCESS_INFO_H
#define WICK_PROC_PROCESS_INFO_H

/*
 * process_info: the processes and threads of this machine, from /proc.
 *
 * If a process ends while it is being read, the result is -ESRCH and not a half-filled struct. No
 * state is kept: any thread may call.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

/* The kernel allows 15 bytes for programs and a few more for its own threads. */
#define PROCESS_COMM_MAX 64

struct process_info {
	pid_t pid;
	pid_t parent_pid;
	char state; /* R S D T t Z X I … as in proc(5) */
	uint32_t thread_count;
	uint64_t start_ticks; /* since boot, in clock ticks; with the pid, an identity */
	uint64_t start_ns;    /* CLOCK_MONOTONIC; accurate to a clock tick */
	uid_t uid;
	char user[64]; /* name of uid, or its number without one */
	char comm[PROCESS_COMM_MAX];
	char executable[PATH_MAX]; /* "" if it cannot be read or does not exist */
};

/* pid 0 means this process in all of these. */
int process_info_read(pid_t pid, struct process_info *ret, struct error *err);

/*
 * Fills pid, parent_pid, state, thread_count, start_ticks and comm from the text of /proc/PID/stat.
 * The name may contain spaces, parentheses and newlines. Returns 0 or -EINVAL.
 */
int process_stat_parse(const char *text, size_t size, struct process_info *ret);

/* Whether a process has ended, even if its parent has not waited for it yet. */
bool process_is_over(pid_t pid);

/* Whether a process started with that value of an environment variable; false when unknown. */
bool process_has_variable(pid_t pid, const char *name, const char *value);

/*
 * The user that a process or thread runs as, which its folder in /proc does not always show.
 * Returns 0 or a negative errno, also for one with several user ids at once.
 */
int process_user(pid_t pid, uid_t *ret);

struct pid_list { /* grown with base/vec.h */
	pid_t *items;
	size_t count;
	size_t capacity;
};

/* Appends all processes; the caller releases the list with vec_fini(). */
int process_list(struct pid_list *list, struct error *err);
bool pid_list_has(const struct pid_list *list, pid_t pid);
/* Appends the threads of a process. */
int process_list_threads(pid_t pid, struct pid_list *list, struct error *err);
/* The name of a thread; size is at least 1. Returns 0 or -errno. */
int process_thread_comm(pid_t pid, pid_t tid, char *ret, size_t size);

/*
 * The peak memory of this process since its exec; 0 if it cannot be read. (ru_maxrss includes the
 * time before the exec.)
 */
uint64_t process_peak_bytes(void);

/* Writes /proc/PID/name, or /proc/self/name for pid 0. */
void process_path(char *path, size_t size, pid_t pid, const char *name);

/*
 * Explains why "what" of a process could not be read: no such process, or one of another user, with
 * a remedy. Returns code, with -ENOENT turned into -ESRCH.
 */
int process_error(struct error *err, int code, pid_t pid, const char *what);

#endif
