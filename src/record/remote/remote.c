/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/remote/remote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/scope.h"
#include "record/remote/remote_place.h"

#define WORD_BYTES 16u
#define PEERS (REMOTE_FDS - 1u)
/* A peer that sends nothing is disconnected after this time. */
#define SILENCE_NS (2 * NS_PER_SEC)
/* A recorder that ends may remove the folder at the moment when this one starts. */
#define TRIES 5
#define NEW "new-" /* name of a socket before it listens */

const char *const remote_words[REMOTE_REQUESTS] = {
	[REMOTE_STATUS] = "status", [REMOTE_PAUSE] = "pause", [REMOTE_RESUME] = "resume",
	[REMOTE_WRITE] = "write",   [REMOTE_SCAN] = "scan",
};

struct peer {
	int fd; /* -1: free */
	uint64_t since_ns;
};

struct remote {
	int folder_fd;
	int listen_fd;
	char folder[REMOTE_PLACE_PATH];
	char name[16];
	struct peer peers[PEERS];
	bool is_full; /* no descriptor was left for a new peer: retry from time to time */
};

/* Removes sockets whose recorders have ended. */
static void sweep(int folder_fd)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!dir && fd >= 0)
		(void)close(fd); /* only opened */
	while (dir && (entry = readdir(dir))) {
		bool is_new = strncmp(entry->d_name, NEW, sizeof(NEW) - 1) == 0;
		pid_t pid = (pid_t)strtol(entry->d_name + (is_new ? sizeof(NEW) - 1 : 0), NULL, 10);
		int peer;

		/* A process in another container may have the same PID, or seem not to exist. */
		if (pid <= 0 || (pid != getpid() && kill(pid, 0) == 0))
			continue;
		peer = remote_place_connect(folder_fd, entry->d_name);
		if (peer == -ECONNREFUSED)
			(void)unlinkat(folder_fd, entry->d_name,
				       0); /* or another process has removed it */
		scope_release_fd(&peer);
	}
	if (dir)
		(void)closedir(dir);
}

/* The socket gets its name only when it listens: otherwise it would look like a stale one. */
static int listen_in(int folder_fd, const char *name)
{
	SCOPED(fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address;
	char before[24];

	if (fd < 0)
		return -errno;
	(void)snprintf(before, sizeof(before), NEW "%s", name);
	(void)unlinkat(folder_fd, before, 0); /* left by a killed recorder with our PID */
	remote_place_address(folder_fd, before, &address);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (listen(fd, PEERS) < 0 ||
	    renameat2(folder_fd, before, folder_fd, name, RENAME_NOREPLACE) < 0) {
		int r = -errno;

		(void)unlinkat(folder_fd, before, 0); /* we created it */
		return r;
	}
	return scope_take_fd(&fd);
}

static int open_once(struct remote *remote)
{
	remote->folder_fd = remote_place_make(remote->folder, sizeof(remote->folder));
	if (remote->folder_fd < 0)
		return remote->folder_fd;
	sweep(remote->folder_fd);
	remote->listen_fd = listen_in(remote->folder_fd, remote->name);
	if (remote->listen_fd >= 0)
		return 0;
	(void)close(remote->folder_fd); /* only opened */
	remote_place_leave(remote->folder);
	return remote->listen_fd;
}

struct remote *remote_open(void)
{
	SCOPED(mem) struct remote *remote = calloc(1, sizeof(*remote));
	int r = -ENOENT;

	if (!remote)
		return NULL;
	for (size_t i = 0; i < PEERS; i++)
		remote->peers[i].fd = -1;
	(void)snprintf(remote->name, sizeof(remote->name), "%d", (int)getpid());
	for (int i = 0; i < TRIES && r == -ENOENT; i++)
		r = open_once(remote);
	if (r < 0) {
		log_info("wick status cannot reach this recorder: no socket in %s: %s",
			 remote->folder, strerror(-r));
		return NULL;
	}
	return scope_take(&remote);
}

static void dismiss(struct peer *peer)
{
	scope_release_fd(&peer->fd);
	peer->fd = -1;
}

void remote_close(struct remote *remote)
{
	if (!remote)
		return;
	/* Remove the name first, so that no new peer connects. */
	(void)unlinkat(remote->folder_fd, remote->name, 0); /* or it has been removed already */
	for (size_t i = 0; i < PEERS; i++)
		dismiss(&remote->peers[i]);
	(void)close(remote->listen_fd);
	(void)close(remote->folder_fd);
	remote_place_leave(remote->folder);
	free(remote);
}

size_t remote_fds(const struct remote *remote, struct pollfd *ret)
{
	size_t n = 0;

	if (!remote)
		return 0;
	if (!remote->is_full)
		ret[n++] = (struct pollfd){.fd = remote->listen_fd, .events = POLLIN};
	for (size_t i = 0; i < PEERS; i++)
		if (remote->peers[i].fd >= 0)
			ret[n++] = (struct pollfd){.fd = remote->peers[i].fd, .events = POLLIN};
	return n;
}

/* Whether the peer may send requests: it belongs to our user, or to root. */
static bool is_allowed(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* -EAGAIN: no request yet. */
static int read_request(int fd)
{
	char word[WORD_BYTES + 1] = "";
	ssize_t got = recv(fd, word, WORD_BYTES, MSG_DONTWAIT);

	if (got < 0 && errno == EAGAIN)
		return -EAGAIN;
	for (int i = 0; got > 0 && i < REMOTE_REQUESTS; i++)
		if (strcmp(word, remote_words[i]) == 0)
			return i;
	return -EINVAL;
}

/*
 * An answer fits into the socket's buffer; a peer that does not read a longer one misses its end.
 */
static void send_all(int fd, const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent <= 0)
			return; /* or it has disconnected */
		data += sent;
		size -= (size_t)sent;
	}
}

/* Makes room for a peer: the one that has been silent for the longest time is dropped. */
static struct peer *make_room(struct remote *remote)
{
	struct peer *oldest = &remote->peers[0];

	for (size_t i = 0; i < PEERS; i++) {
		if (remote->peers[i].fd < 0)
			return &remote->peers[i];
		if (remote->peers[i].since_ns < oldest->since_ns)
			oldest = &remote->peers[i];
	}
	dismiss(oldest);
	return oldest;
}

static void serve_peer(struct peer *peer, uint64_t now_ns, remote_answer_fn *answer, void *self)
{
	struct bytes reply = {0};
	int request = read_request(peer->fd);

	if (request == -EAGAIN && now_ns - peer->since_ns < SILENCE_NS)
		return;
	if (request >= 0)
		answer(self, (enum remote_request)request, &reply);
	if (!reply.failed)
		send_all(peer->fd, reply.data, reply.size);
	bytes_fini(&reply);
	dismiss(peer);
}

/* Accepts a waiting peer. Returns whether there was one. */
static bool welcome(struct remote *remote, uint64_t now_ns)
{
	int fd = accept4(remote->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	remote->is_full = fd < 0 && (errno == EMFILE || errno == ENFILE);
	if (fd < 0)
		return false;
	if (is_allowed(fd))
		*make_room(remote) = (struct peer){fd, now_ns};
	else
		(void)close(fd); /* no request was sent */
	return true;
}

void remote_serve(struct remote *remote, uint64_t now_ns, remote_answer_fn *answer, void *self)
{
	if (!remote)
		return;
	/* A bounded number: the recording must go on as well. */
	for (size_t i = 0; i < PEERS && welcome(remote, now_ns); i++)
		;
	for (size_t i = 0; i < PEERS; i++)
		if (remote->peers[i].fd >= 0)
			serve_peer(&remote->peers[i], now_ns, answer, self);
}
