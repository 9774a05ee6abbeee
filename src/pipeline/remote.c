/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "proc/process_info.h"

#define NAME "wick/recorder/"
#define WORD_BYTES 16u
#define REPLY_MAX_BYTES (1u << 20)
/* Who comes and says nothing is sent away, for others to have their turn. */
#define SILENCE_NS (2 * NS_PER_SEC)
#define ASK_MS 10000

static const char *const words[REMOTE_REQUESTS] = {
	[REMOTE_STATUS] = "status", [REMOTE_PAUSE] = "pause", [REMOTE_RESUME] = "resume",
	[REMOTE_WRITE] = "write",   [REMOTE_SCAN] = "scan",
};

/* The first byte of the path is NUL: a name, not a file. */
static socklen_t address_of(pid_t pid, struct sockaddr_un *ret)
{
	int length;

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	length = snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, NAME "%d", (int)pid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static void set_timeouts(int fd, int ms)
{
	struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static int listen_on(const struct sockaddr_un *address, socklen_t length)
{
	SCOPED(fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)address, length) < 0 || listen(fd, 4) < 0)
		return -1;
	return scope_take_fd(&fd);
}

void remote_open(struct remote *remote)
{
	struct sockaddr_un address;
	socklen_t length = address_of(getpid(), &address);

	*remote = (struct remote){.listen_fd = listen_on(&address, length), .peer_fd = -1};
}

static void dismiss(struct remote *remote)
{
	if (remote->peer_fd >= 0)
		(void)close(remote->peer_fd);
	remote->peer_fd = -1;
}

void remote_close(struct remote *remote)
{
	dismiss(remote);
	if (remote->listen_fd >= 0)
		(void)close(remote->listen_fd);
	remote->listen_fd = -1;
}

int remote_fd(const struct remote *remote)
{
	return remote->peer_fd >= 0 ? remote->peer_fd : remote->listen_fd;
}

/* Whether it is the process that the name says: anybody can take a name. */
static bool is_process(int fd, pid_t pid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == pid;
}

/* Whether the other side may ask: it is of our user, or root. */
static bool is_allowed(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* -EAGAIN: nothing was said yet. */
static int read_request(int fd)
{
	char word[WORD_BYTES + 1] = "";
	ssize_t got = recv(fd, word, WORD_BYTES, MSG_DONTWAIT);

	if (got < 0 && errno == EAGAIN)
		return -EAGAIN;
	for (int i = 0; got > 0 && i < REMOTE_REQUESTS; i++)
		if (strcmp(word, words[i]) == 0)
			return i;
	return -EINVAL;
}

static int send_all(int fd, const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);

		if (sent <= 0)
			return sent < 0 ? -errno : -EPIPE;
		data += sent;
		size -= (size_t)sent;
	}
	return 0;
}

static void welcome(struct remote *remote, uint64_t now_ns)
{
	remote->peer_fd = accept4(remote->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	remote->since_ns = now_ns;
	if (remote->peer_fd >= 0 && !is_allowed(remote->peer_fd))
		dismiss(remote);
}

void remote_serve(struct remote *remote, uint64_t now_ns, remote_answer_fn *answer, void *self)
{
	struct bytes reply = {0};
	int request;

	if (remote->listen_fd < 0)
		return;
	if (remote->peer_fd < 0)
		welcome(remote, now_ns);
	if (remote->peer_fd < 0)
		return;
	request = read_request(remote->peer_fd);
	if (request == -EAGAIN && now_ns - remote->since_ns < SILENCE_NS)
		return;
	if (request >= 0) {
		answer(self, (enum remote_request)request, &reply);
		if (!reply.failed)
			(void)send_all(remote->peer_fd, reply.data,
				       reply.size); /* or it has left */
		bytes_fini(&reply);
	}
	dismiss(remote);
}

int remote_list(struct pid_list *ret, struct error *err)
{
	SCOPED(file) FILE *file = fopen("/proc/net/unix", "re");
	SCOPED(mem) char *line = NULL;
	size_t room = 0;

	if (!file)
		return error_file(err, -errno, "cannot read /proc/net/unix");
	while (getline(&line, &room, file) > 0) {
		const char *name = strstr(line, "@" NAME);
		pid_t pid = name ? (pid_t)strtol(name + sizeof("@" NAME) - 1, NULL, 10) : 0;
		bool known = pid <= 0;

		/* Who is being answered has a line too. */
		for (size_t i = 0; i < ret->count && !known; i++)
			known = ret->items[i] == pid;
		if (!known && vec_push(ret, pid) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int receive(int fd, struct bytes *reply)
{
	for (;;) {
		uint8_t part[4096];
		ssize_t got = recv(fd, part, sizeof(part), 0);

		if (got < 0)
			return -errno;
		if (got == 0)
			return reply->size > 0 ? 0 : -EACCES;
		bytes_put(reply, part, (size_t)got);
		if (reply->failed || reply->size > REPLY_MAX_BYTES)
			return -E2BIG;
	}
}

/* A process that does not answer: its state says why. */
static int explain_silence(pid_t recorder, struct error *err)
{
	struct process_info info = {.state = '?'};

	(void)process_info_read(recorder, &info, NULL); /* not known then */
	if (info.state == 'T' || info.state == 't') {
		(void)error_set(err, -ETIMEDOUT,
				"the recorder %d does not answer: it is stopped (state %c)",
				(int)recorder, info.state);
		error_remedy(err, "let it go on with: kill -CONT %d", (int)recorder);
	} else {
		(void)error_set(err, -ETIMEDOUT,
				"the recorder %d has not answered for %d s (state %c)",
				(int)recorder, ASK_MS / 1000, info.state);
		error_remedy(err, "ask again, or see what it does: wick sample %d", (int)recorder);
	}
	return -ETIMEDOUT;
}

/* One that is stopped would be waited for in vain. */
static bool is_stopped(pid_t recorder)
{
	struct process_info info;

	return process_info_read(recorder, &info, NULL) == 0 &&
	       (info.state == 'T' || info.state == 't');
}

int remote_ask(pid_t recorder, enum remote_request request, struct bytes *reply, struct error *err)
{
	SCOPED(fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *word = words[request];
	struct sockaddr_un address;
	socklen_t length = address_of(recorder, &address);
	int r = fd < 0 ? -errno : 0;

	if (r == 0) {
		set_timeouts(fd, ASK_MS);
		r = connect(fd, (const struct sockaddr *)&address, length) < 0 ? -errno : 0;
	}
	if (r == 0 && !is_process(fd, recorder))
		return error_advise(
			err,
			error_set(err, -ESRCH,
				  "the recorder %d has ended and its id went to another process",
				  (int)recorder),
			"see who records: wick status");
	if (r == 0 && is_stopped(recorder))
		return explain_silence(recorder, err);
	if (r == 0)
		r = send_all(fd, (const uint8_t *)word, strlen(word));
	if (r == 0)
		r = receive(fd, reply);
	if (r == -EACCES || r == -ECONNRESET || r == -EPIPE) {
		(void)error_set(err, -EACCES, "the recorder %d does not answer to this user",
				(int)recorder);
		error_remedy(err, "ask as the user who runs it, or as root");
		return -EACCES;
	}
	if (r == -EAGAIN)
		return explain_silence(recorder, err);
	return r < 0 ? error_errno(err, r, "cannot ask the recorder %d", (int)recorder) : 0;
}

int remote_no_answer(pid_t recorder, struct error *err)
{
	return error_advise(err,
			    error_set(err, -EIO, "the recorder %d gave no answer", (int)recorder),
			    "ask again, or see what it does: wick sample %d", (int)recorder);
}

int remote_refused(pid_t recorder, const char *why, const char *remedy, struct error *err)
{
	(void)error_set(err, -EIO, "the recorder %d did not do it: %s", (int)recorder, why);
	error_remedy(err, "%s", remedy && *remedy ? remedy : "see how it goes: wick status");
	return -EIO;
}
