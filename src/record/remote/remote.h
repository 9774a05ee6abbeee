/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_REMOTE_REMOTE_H
#define WICK_RECORD_REMOTE_REMOTE_H

/*
 * remote: a recorder that runs answers to others of its user, and to root.
 *
 * It listens on a socket in a folder of its user (see remote_place.h), named by its process id.
 * The socket goes with the recorder; that of one that was killed goes when another begins, or when
 * somebody asks. A request is one word; the answer is JSON.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/error.h"

struct pid_list;
struct pollfd;

enum remote_request {
	REMOTE_STATUS, /* how it goes */
	REMOTE_PAUSE,
	REMOTE_RESUME,
	REMOTE_WRITE, /* what there is so far is in the file when the answer comes */
	REMOTE_SCAN,  /* a leak scan of all that is recorded is in the file by then */
	REMOTE_REQUESTS
};

/* What a request says. */
extern const char *const remote_words[REMOTE_REQUESTS];

/* The recorder's side: who is connected is not waited for. */
struct remote;

/* Writes the answer. */
typedef void remote_answer_fn(void *self, enum remote_request request, struct bytes *reply);

/* NULL when nobody can ask this recorder, which is no reason not to record; the log says why. */
struct remote *remote_open(void);
void remote_close(struct remote *remote); /* NULL is fine, here and below */

/* What to poll: fills at most so many. Returns how many. */
#define REMOTE_FDS 9
size_t remote_fds(const struct remote *remote, struct pollfd *ret);

/* Takes notice of who comes, answers requests, and sends away who said nothing for long. */
void remote_serve(struct remote *remote, uint64_t now_ns, remote_answer_fn *answer, void *self);

/*
 * The other side. Recorders that this user may ask, and how many folders of recorders are other
 * users'. Those that have ended may be among them.
 */
int remote_list(struct pid_list *ret, size_t *ret_others, struct error *err);

/* What came of asking one of them. */
struct remote_answer {
	pid_t recorder;
	struct bytes reply;
	/* -ESRCH: it is gone, -EACCES: it is another user's, -ETIMEDOUT: it does not answer */
	struct error err;
	/* private */
	int fd;
	int state;
};

/* For an answer: recorders that do nothing else give it at once. */
#define REMOTE_LIMIT_MS 10000

/*
 * Asks all of them at the same time: all have answered, or failed, within the limit. The caller
 * sets who they are, and releases the replies.
 */
void remote_ask_all(struct remote_answer *answers, size_t count, enum remote_request request,
		    int limit_ms);

/* Asks one, within REMOTE_LIMIT_MS. */
int remote_ask(pid_t recorder, enum remote_request request, struct bytes *reply, struct error *err);

/* For an answer that makes no sense, and one that tells why it was not done. Return the code. */
int remote_no_answer(pid_t recorder, struct error *err);
int remote_refused(pid_t recorder, const char *why, const char *remedy, struct error *err);

#endif
