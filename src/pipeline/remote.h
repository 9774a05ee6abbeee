/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_REMOTE_H
#define WICK_PIPELINE_REMOTE_H

/*
 * remote: a recorder that runs answers to others of its user, and to root.
 *
 * It listens on a socket without a file, named by its process id, so that nothing is
 * left behind however it ends. A request is one word; the answer is JSON.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bytes;
struct error;
struct pid_list;

enum remote_request {
	REMOTE_STATUS, /* how it goes */
	REMOTE_PAUSE,
	REMOTE_RESUME,
	REMOTE_WRITE, /* what there is so far is in the file when the answer comes */
	REMOTE_SCAN,  /* a leak scan of all that is recorded is in the file by then */
	REMOTE_REQUESTS
};

/* Writes the answer. */
typedef void remote_answer_fn(void *self, enum remote_request request, struct bytes *reply);

/* The recorder's side: one who asks at a time, whom nobody waits for. */
struct remote {
	int listen_fd; /* -1: nobody can ask */
	int peer_fd;   /* who is about to say what; -1: nobody */
	uint64_t since_ns;
};

void remote_open(struct remote *remote);
void remote_close(struct remote *remote);

/* What to poll; -1: nothing. */
int remote_fd(const struct remote *remote);

/* It is readable, or time went by: takes notice of who comes, and answers a request. */
void remote_serve(struct remote *remote, uint64_t now_ns, remote_answer_fn *answer, void *self);

/* The recorders that listen on this machine, as far as they can be seen. */
int remote_list(struct pid_list *ret, struct error *err);

/*
 * Asks a recorder. -ESRCH when the name is another process's, -EACCES when it does not answer
 * to us, -ETIMEDOUT when it is stopped or busy with something else.
 */
int remote_ask(pid_t recorder, enum remote_request request, struct bytes *reply, struct error *err);

/* For an answer that makes no sense, and one that tells why it was not done. Return the code. */
int remote_no_answer(pid_t recorder, struct error *err);
int remote_refused(pid_t recorder, const char *why, const char *remedy, struct error *err);

#endif
