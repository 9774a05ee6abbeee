/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_HTTP_STREAM_H
#define WICK_NET_HTTP_STREAM_H

/*
 * http_stream: the answers without an end of a server. Each waits on the thread of its connection
 * until there is something to send, its client has gone or the server stops. A comment every 15
 * seconds shows both sides that the other is still there. Private to src/net.
 */

#include <pthread.h>

struct MHD_Response;
struct http_stream;
struct running_stream;

struct http_streams {
	pthread_mutex_t lock;
	struct running_stream *first;
	unsigned int count;
	unsigned int max;
	unsigned int max_of_address;
	int stop_fd; /* an eventfd that can be read when the server stops */
};

int http_streams_init(struct http_streams *streams, unsigned int max, unsigned int max_of_address);
void http_streams_fini(struct http_streams *streams); /* after the last has ended */

/* Ends all streams, and those that begin later. */
void http_streams_stop(struct http_streams *streams);

unsigned int http_streams_count(struct http_streams *streams);

/*
 * The answer that sends a stream, which it takes over if it returns one. NULL: there are too many,
 * or memory is short.
 */
struct MHD_Response *http_streams_begin(struct http_streams *streams, const char *client,
					int socket_fd, const struct http_stream *stream);

#endif
