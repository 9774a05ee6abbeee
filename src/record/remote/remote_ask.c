/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/scope.h"
#include "base/vec.h"
#include "proc/process_info.h"
#include "record/remote/remote.h"
#include "record/remote/remote_place.h"

#define REPLY_MAX_BYTES (1u << 20)
/* No one runs more recorders than this: other names are bogus. */
#define LIST_MAX 1024u
/* How often to retry a recorder that has no room for another peer. */
#define RETRY_MS 20

enum state { BEGINS, WAITS, DONE };

static int list_folder(void *self, const struct remote_place *place)
{
	struct pid_list *list = self;
	int fd = openat(place->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	size_t limit = list->count + LIST_MAX;
	struct dirent *entry;
	uint64_t pid;
	int r = 0;

	if (!dir && fd >= 0)
		(void)close(fd); /* only opened */
	while (dir && r == 0 && list->count < limit && (entry = readdir(dir)))
		if (number_parse_u64(entry->d_name, &pid) == 0 && pid > 0 && pid <= INT32_MAX &&
		    !pid_list_has(list, (pid_t)pid))
			r = vec_push(list, (pid_t)pid);
	if (dir)
		(void)closedir(dir);
	return r;
}

int remote_list(struct pid_list *ret, size_t *ret_others, struct error *err)
{
	int r = remote_place_each(list_folder, ret);

	if (r < 0)
		return error_set(err, -ENOMEM, "out of memory");
	*ret_others = (size_t)r;
	return 0;
}

/* The search for the socket of a recorder. */
struct search {
	char name[16];
	int fd;      /* of the connection, or a negative errno */
	uid_t owner; /* of the folder */
};

static int connect_in(void *self, const struct remote_place *place)
{
	struct search *search = self;

	search->fd = remote_place_connect(place->fd, search->name);
	search->owner = place->owner;
	if (search->fd != -ECONNREFUSED)
		return search->fd != -ENOENT;
	/* The recorder was killed. */
	(void)unlinkat(place->fd, search->name, 0); /* or another process has removed it */
	remote_place_leave(place->path);
	search->fd = -ENOENT;
	return 0;
}

/* Whether the peer is the process with that PID, and belongs to the owner of the folder. */
static bool is_recorder(int fd, pid_t pid, uid_t owner)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == pid &&
	       peer.uid == owner;
}

static void fail(struct remote_answer *answer, int code)
{
	int pid = (int)answer->recorder;

	if (code == -ENOENT)
		(void)error_advise(&answer->err,
				   error_set(&answer->err, -ESRCH,
					     "recorder %d has ended, or belongs to another user",
					     pid),
				   "list the recorders: wick status; root sees all of them");
	else
		(void)error_errno(&answer->err, code, "cannot query recorder %d", pid);
	answer->state = DONE;
}

static void fail_as_other(struct remote_answer *answer)
{
	(void)error_advise(
		&answer->err,
		error_set(&answer->err, -ESRCH,
			  "the socket of recorder %d belongs to another process",
			  (int)answer->recorder),
		"list the recorders: wick status; ask a recorder in a container from inside it");
	answer->state = DONE;
}

/* Explains why a recorder does not answer, by its state. */
static void explain_silence(struct remote_answer *answer, int limit_ms)
{
	struct process_info info = {.state = '?'};
	int pid = (int)answer->recorder;

	(void)process_info_read(answer->recorder, &info, NULL); /* then the state is unknown */
	if (info.state == 'T' || info.state == 't') {
		(void)error_set(&answer->err, -ETIMEDOUT,
				"recorder %d does not answer: it is stopped (state %c)", pid,
				info.state);
		error_remedy(&answer->err, "resume it with: kill -CONT %d", pid);
	} else {
		(void)error_set(&answer->err, -ETIMEDOUT,
				"recorder %d has not answered for %d s (state %c)", pid,
				limit_ms / 1000, info.state);
		error_remedy(&answer->err, "ask again, or see what it is doing: wick sample %d",
			     pid);
	}
	answer->state = DONE;
}

/* Waiting for a stopped recorder would be in vain. */
static bool is_stopped(pid_t recorder)
{
	struct process_info info;

	return process_info_read(recorder, &info, NULL) == 0 &&
	       (info.state == 'T' || info.state == 't');
}

/* Connects and sends the request. A recorder without room is retried. */
static void begin(struct remote_answer *answer, enum remote_request request, int limit_ms)
{
	struct search search = {.fd = -ENOENT};
	const char *word = remote_words[request];
	SCOPED(fd) int fd = -1;

	if (is_stopped(answer->recorder)) {
		explain_silence(answer, limit_ms);
		return;
	}
	(void)snprintf(search.name, sizeof(search.name), "%d", (int)answer->recorder);
	(void)remote_place_each(connect_in, &search); /* the result is in it */
	fd = search.fd;
	if (fd == -EAGAIN)
		return;
	if (fd < 0)
		fail(answer, fd);
	else if (!is_recorder(fd, answer->recorder, search.owner))
		fail_as_other(answer);
	else if (send(fd, word, strlen(word), MSG_NOSIGNAL) > 0)
		answer->state = WAITS;
	if (answer->state == WAITS)
		answer->fd = scope_take_fd(&fd);
}

/* Reads what has arrived of the answer. */
static void receive(struct remote_answer *answer)
{
	uint8_t part[4096];
	ssize_t got = recv(answer->fd, part, sizeof(part), MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* It has ended, or was busy with other peers: a retry will show. */
	if (got < 0 || (got == 0 && answer->reply.size == 0)) {
		(void)close(answer->fd); /* nothing was sent */
		answer->fd = -1;
		bytes_fini(&answer->reply);
		answer->state = BEGINS;
		return;
	}
	if (got == 0)
		answer->state = DONE;
	else
		bytes_put(&answer->reply, part, (size_t)got);
	if (answer->reply.failed || answer->reply.size > REPLY_MAX_BYTES)
		fail(answer, -E2BIG);
}

/* Waits for events. Returns whether answers are still missing. */
static bool wait_once(struct remote_answer *answers, size_t count, struct pollfd *fds,
		      uint64_t left_ms)
{
	bool is_over = true;

	for (size_t i = 0; i < count; i++) {
		fds[i] = (struct pollfd){.fd = answers[i].state == WAITS ? answers[i].fd : -1,
					 .events = POLLIN};
		if (answers[i].state == BEGINS && left_ms > RETRY_MS)
			left_ms = RETRY_MS;
		is_over = is_over && answers[i].state == DONE;
	}
	if (is_over || poll(fds, count, (int)left_ms) < 0)
		return !is_over;
	for (size_t i = 0; i < count; i++)
		if (fds[i].revents != 0)
			receive(&answers[i]);
	return true;
}

void remote_ask_all(struct remote_answer *answers, size_t count, enum remote_request request,
		    int limit_ms)
{
	SCOPED(mem) struct pollfd *fds = calloc(count + 1, sizeof(*fds));
	uint64_t end_ns = clock_monotonic_ns() + (uint64_t)limit_ms * NS_PER_MS;
	bool is_under_way = fds != NULL;

	for (size_t i = 0; i < count; i++)
		answers[i] = (struct remote_answer){.recorder = answers[i].recorder, .fd = -1};
	while (is_under_way) {
		uint64_t now_ns = clock_monotonic_ns();

		if (now_ns >= end_ns)
			break;
		for (size_t i = 0; i < count; i++)
			if (answers[i].state == BEGINS)
				begin(&answers[i], request, limit_ms);
		is_under_way = wait_once(answers, count, fds, (end_ns - now_ns) / NS_PER_MS + 1);
	}
	for (size_t i = 0; i < count; i++) {
		if (answers[i].state != DONE)
			explain_silence(&answers[i], limit_ms);
		scope_release_fd(&answers[i].fd);
	}
}

int remote_ask(pid_t recorder, enum remote_request request, struct bytes *reply, struct error *err)
{
	struct remote_answer answer = {.recorder = recorder};

	remote_ask_all(&answer, 1, request, REMOTE_LIMIT_MS);
	if (answer.err.code == 0) {
		*reply = answer.reply;
		return 0;
	}
	bytes_fini(&answer.reply);
	if (err)
		*err = answer.err;
	return answer.err.code;
}

int remote_no_answer(pid_t recorder, struct error *err)
{
	return error_advise(err, error_set(err, -EIO, "recorder %d sent no answer", (int)recorder),
			    "ask again, or see what it is doing: wick sample %d", (int)recorder);
}

int remote_refused(pid_t recorder, const char *why, const char *remedy, struct error *err)
{
	(void)error_set(err, -EIO, "recorder %d reports an error: %s", (int)recorder, why);
	error_remedy(err, "%s", remedy && *remedy ? remedy : "check its state: wick status");
	return -EIO;
}
