/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_REMOTE_REMOTE_H
#define WICK_RECORD_REMOTE_REMOTE_H

/*
 * remote: lets other processes of the same user, and root, query and control a running recorder.
 *
 * A recorder listens on a socket in a folder of its user (see remote_place.h), named after its
 * process id. It removes the socket when it ends; the socket of a killed recorder is removed when
 * another recorder starts, or on the next query. A request is one word; the answer is JSON.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/error.h"

struct pid_list;
struct pollfd;

enum remote_request {
	REMOTE_STATUS, /* report the state */
	REMOTE_PAUSE,
	REMOTE_RESUME,
	REMOTE_WRITE, /* the data so far is in the file when the answer arrives */
	REMOTE_SCAN,  /* so is a leak scan of all recorded processes */
	REMOTE_REQUESTS
};

/* The word of each request. */
extern const char *const remote_words[REMOTE_REQUESTS];

/* The recorder's side. It never waits for a peer. */
struct remote;

/* Writes the answer. */
typedef void remote_answer_fn(void *self, enum remote_request request, struct bytes *reply);

/* Returns NULL if this recorder cannot be queried; it still records, and the log says why. */
struct remote *remote_open(void);
void remote_close(struct remote *remote); /* NULL is fine, here and below */

/* Fills in the descriptors to poll, at most this many. Returns how many. */
#define REMOTE_FDS 9
size_t remote_fds(const struct remote *remote, struct pollfd *ret);

/* Accepts connections, answers requests, and closes connections that were silent for long. */
void remote_serve(struct remote *remote, uint64_t now_ns, remote_answer_fn *answer, void *self);

/*
 * The client side. Lists the recorders that this user may query, and counts the folders of other
 * users. The list may include recorders that have ended.
 */
int remote_list(struct pid_list *ret, size_t *ret_others, struct error *err);

/* The result of querying one recorder. */
struct remote_answer {
	pid_t recorder;
	struct bytes reply;
	/*
	 * -ESRCH: it has ended, -EACCES: it belongs to another user, -ETIMEDOUT: it does not answer
	 */
	struct error err;
	/* private */
	int fd;
	int state;
};

/* Time limit for an answer. An idle recorder answers at once. */
#define REMOTE_LIMIT_MS 10000

/*
 * Queries all of them in parallel: all have answered or failed within the limit. The caller sets
 * the recorders and releases the replies.
 */
void remote_ask_all(struct remote_answer *answers, size_t count, enum remote_request request,
		    int limit_ms);

/* Queries one recorder, within REMOTE_LIMIT_MS. */
int remote_ask(pid_t recorder, enum remote_request request, struct bytes *reply, struct error *err);

/*
 * Set the error for an invalid answer, and for one that says why the request failed. Return the
 * code.
 */
int remote_no_answer(pid_t recorder, struct error *err);
int remote_refused(pid_t recorder, const char *why, const char *remedy, struct error *err);

#endif
