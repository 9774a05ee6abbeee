/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_LOSSY_PROXY_H
#define WICK_TESTS_LOSSY_PROXY_H

/*
 * lossy_proxy: passes HTTP requests on to a port of loopback, one connection after another in
 * threads of their own. It can lose answers from one on, or hold back one request until the test
 * passes it on: then the client believes that it was lost, and it arrives late.
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROXY_REQUEST_MAX (1u << 20)

enum proxy_fault { PROXY_LOSE_ANSWER, PROXY_HOLD_REQUEST };

struct lossy_proxy {
	int listener;
	unsigned int port;
	unsigned int upstream;
	pthread_t thread;
	enum proxy_fault fault;
	atomic_int countdown; /* 1: the next request meets the fault; 0: none does */
	atomic_uint met;
	atomic_bool is_broken; /* from the fault on, all answers are lost */
	char *held;            /* a request that was held back */
	size_t held_bytes;
};

static inline int proxy_connect(unsigned int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				      .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		abort();
	return fd;
}

static inline bool proxy_send(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, data, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		data += sent;
		n -= (size_t)sent;
	}
	return true;
}

/* Reads one request with its body. Returns its size, 0 at the end of the connection. */
static inline size_t proxy_read_request(int fd, char *data)
{
	size_t size = 0;
	size_t wanted = 0;

	while (wanted == 0 || size < wanted) {
		ssize_t got = recv(fd, data + size, PROXY_REQUEST_MAX - 1 - size, 0);
		const char *end;
		const char *length;

		if (got <= 0)
			return 0;
		size += (size_t)got;
		data[size] = '\0';
		end = memmem(data, size, "\r\n\r\n", 4);
		length = strcasestr(data, "\r\nContent-Length: ");
		if (end)
			wanted = (size_t)(end + 4 - data) +
				 (length && length < end ? strtoul(length + 18, NULL, 10) : 0);
	}
	return size;
}

/* Passes on what comes back, until nothing does for a moment after the first bytes. */
static inline bool proxy_answer(int from, int to, bool is_lost)
{
	char data[65536];
	struct pollfd wait = {.fd = from, .events = POLLIN};
	int timeout_ms = -1;

	while (poll(&wait, 1, timeout_ms) > 0) {
		ssize_t got = recv(from, data, sizeof(data), 0);

		if (got <= 0 || (!is_lost && !proxy_send(to, data, (size_t)got)))
			return false;
		timeout_ms = 20;
	}
	return !is_lost;
}

struct proxy_connection {
	struct lossy_proxy *proxy;
	int client;
};

static inline void *proxy_serve(void *self)
{
	struct proxy_connection connection = *(struct proxy_connection *)self;
	struct lossy_proxy *proxy = connection.proxy;
	int upstream = proxy_connect(proxy->upstream);
	char *request = malloc(PROXY_REQUEST_MAX);
	bool goes_on = request != NULL;
	size_t size;

	free(self);
	while (goes_on && (size = proxy_read_request(connection.client, request)) > 0) {
		int left = atomic_load(&proxy->countdown);
		bool is_met = left > 0 && atomic_fetch_sub(&proxy->countdown, 1) == 1;

		atomic_fetch_add(&proxy->met, is_met);
		if (is_met && proxy->fault == PROXY_LOSE_ANSWER)
			atomic_store(&proxy->is_broken, true);
		if (is_met && proxy->fault == PROXY_HOLD_REQUEST) {
			proxy->held = malloc(size);
			if (proxy->held)
				memcpy(proxy->held, request, size);
			proxy->held_bytes = size;
			break;
		}
		goes_on = proxy_send(upstream, request, size) &&
			  proxy_answer(upstream, connection.client, atomic_load(&proxy->is_broken));
	}
	free(request);
	(void)close(upstream);
	(void)close(connection.client);
	return NULL;
}

static inline void *proxy_accept(void *self)
{
	struct lossy_proxy *proxy = self;
	int client;

	while ((client = accept(proxy->listener, NULL, NULL)) >= 0) {
		struct proxy_connection *connection = malloc(sizeof(*connection));
		pthread_t thread;

		if (!connection)
			abort();
		*connection = (struct proxy_connection){proxy, client};
		if (pthread_create(&thread, NULL, proxy_serve, connection) != 0)
			abort();
		(void)pthread_detach(thread);
	}
	return NULL;
}

static inline void proxy_begin(struct lossy_proxy *proxy, unsigned int upstream)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);

	*proxy = (struct lossy_proxy){.upstream = upstream};
	proxy->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (proxy->listener < 0 || bind(proxy->listener, (struct sockaddr *)&address, size) < 0 ||
	    getsockname(proxy->listener, (struct sockaddr *)&address, &size) < 0 ||
	    listen(proxy->listener, 16) < 0 ||
	    pthread_create(&proxy->thread, NULL, proxy_accept, proxy) != 0)
		abort();
	proxy->port = ntohs(address.sin_port);
}

/* Passes on the request that was held back, and waits until it was answered. */
static inline void proxy_release(struct lossy_proxy *proxy)
{
	int upstream = proxy_connect(proxy->upstream);
	char answer[4096];

	if (!proxy_send(upstream, proxy->held, proxy->held_bytes) ||
	    recv(upstream, answer, sizeof(answer), 0) <= 0)
		abort();
	(void)close(upstream);
	free(proxy->held);
	proxy->held = NULL;
}

static inline void proxy_end(struct lossy_proxy *proxy)
{
	(void)shutdown(proxy->listener, SHUT_RDWR);
	(void)pthread_join(proxy->thread, NULL);
	(void)close(proxy->listener);
}

#endif
