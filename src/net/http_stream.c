/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/http_stream.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/clock.h"
#include "net/http_server.h"

#define BLOCK_BYTES 4096u
#define SILENCE_NS (15 * NS_PER_SEC)
/* Clients ignore a line that begins with a colon. */
#define COMMENT ":\n\n"

struct running_stream {
	struct running_stream *next;
	struct running_stream *previous;
	struct http_streams *all;
	struct http_stream stream;
	char client[64];
	int socket_fd;
	struct bytes out; /* what is on its way */
	size_t sent;      /* of out */
	uint64_t sent_ns; /* when something was last sent */
	bool has_ended;
};

int http_streams_init(struct http_streams *streams, unsigned int max, unsigned int max_of_address)
{
	*streams = (struct http_streams){.max = max, .max_of_address = max_of_address};
	(void)pthread_mutex_init(&streams->lock, NULL); /* never fails on Linux */
	streams->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return streams->stop_fd < 0 ? -errno : 0;
}

void http_streams_fini(struct http_streams *streams)
{
	if (streams->stop_fd >= 0)
		(void)close(streams->stop_fd); /* nothing was written to a file */
	(void)pthread_mutex_destroy(&streams->lock);
}

void http_streams_stop(struct http_streams *streams)
{
	(void)eventfd_write(streams->stop_fd, 1); /* nobody reads it: it stays readable */
}

unsigned int http_streams_count(struct http_streams *streams)
{
	unsigned int count;

	(void)pthread_mutex_lock(&streams->lock);
	count = streams->count;
	(void)pthread_mutex_unlock(&streams->lock);
	return count;
}

/* Returns whether there is still somebody to send to. */
static bool wait_for_news(const struct running_stream *running, uint64_t wait_ms)
{
	uint64_t silent_ns = clock_monotonic_ns() - running->sent_ns;
	uint64_t left_ms = silent_ns < SILENCE_NS ? (SILENCE_NS - silent_ns) / NS_PER_MS + 1 : 0;
	struct pollfd fds[] = {
		{.fd = running->all->stop_fd, .events = POLLIN},
		{.fd = running->socket_fd, .events = POLLRDHUP},
		{.fd = running->stream.wake_fd, .events = POLLIN},
	};

	if (poll(fds, 3, (int)(wait_ms < left_ms ? wait_ms : left_ms)) < 0 && errno != EINTR)
		return false;
	return fds[0].revents == 0 && fds[1].revents == 0;
}

/* Waits until out has something that was not sent. Returns false at the end. */
static bool fill(struct running_stream *running)
{
	uint64_t wait_ms = 0;

	bytes_clear(&running->out);
	running->sent = 0;
	while (!running->has_ended) {
		running->has_ended =
			!running->stream.next(running->stream.self, &running->out, &wait_ms);
		if (running->out.failed)
			return false;
		if (running->out.size == 0 && !running->has_ended &&
		    clock_monotonic_ns() - running->sent_ns >= SILENCE_NS)
			bytes_printf(&running->out, COMMENT);
		if (running->out.size > 0) {
			running->sent_ns = clock_monotonic_ns();
			return true;
		}
		running->has_ended = running->has_ended || !wait_for_news(running, wait_ms);
	}
	return false;
}

static ssize_t on_read(void *self, uint64_t position, char *buffer, size_t size)
{
	struct running_stream *running = self;
	size_t left;

	(void)position; /* it only grows */
	if (running->sent == running->out.size && !fill(running))
		return MHD_CONTENT_READER_END_OF_STREAM;
	left = running->out.size - running->sent;
	if (left > size)
		left = size;
	memcpy(buffer, running->out.data + running->sent, left);
	running->sent += left;
	return (ssize_t)left;
}

static void leave(struct running_stream *running)
{
	struct http_streams *all = running->all;

	(void)pthread_mutex_lock(&all->lock);
	*(running->previous ? &running->previous->next : &all->first) = running->next;
	if (running->next)
		running->next->previous = running->previous;
	all->count--;
	(void)pthread_mutex_unlock(&all->lock);
	bytes_fini(&running->out);
	free(running);
}

static void on_free(void *self)
{
	struct running_stream *running = self;

	running->stream.free(running->stream.self);
	leave(running);
}

/* Adds it to the list if there is room. */
static bool enter(struct http_streams *streams, struct running_stream *running)
{
	const struct running_stream *other;
	unsigned int same = 0;
	bool fits;

	(void)pthread_mutex_lock(&streams->lock);
	for (other = streams->first; other; other = other->next)
		same += strcmp(other->client, running->client) == 0;
	fits = streams->count < streams->max && same < streams->max_of_address;
	if (fits) {
		running->next = streams->first;
		if (running->next)
			running->next->previous = running;
		streams->first = running;
		streams->count++;
	}
	(void)pthread_mutex_unlock(&streams->lock);
	return fits;
}

struct MHD_Response *http_streams_begin(struct http_streams *streams, const char *client,
					int socket_fd, const struct http_stream *stream)
{
	struct running_stream *running = calloc(1, sizeof(*running));
	struct MHD_Response *response;

	if (!running)
		return NULL;
	running->all = streams;
	running->stream = *stream;
	running->socket_fd = socket_fd;
	running->sent_ns = clock_monotonic_ns();
	(void)snprintf(running->client, sizeof(running->client), "%s", client); /* it fits */
	if (!enter(streams, running)) {
		free(running);
		return NULL;
	}
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_read,
						     running, on_free);
	if (!response)
		leave(running);
	return response;
}
