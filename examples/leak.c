/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * leak: a server that loses memory in two ways. It answers REQUESTS requests (200 by default),
 * 5 ms apart.
 *
 *	parse_request()		copies 1,000 bytes; every tenth request is malformed, and
 *				its copy is forgotten: 20,000 bytes that nothing points to
 *				any more
 *	remember_session()	keeps 4,000 bytes for each request in a list that nobody
 *				empties: still reachable, and it grows without bound
 *
 *	cc -g leak.c -o leak
 *	wick heap --leaks -o leak.wick -- ./leak
 *	wick leaks leak.wick             what is lost, which code lost it, and how sure that is
 *	wick leaks --all leak.wick       also what is kept
 *	wick heap-report leak.wick       a page: what was live over time, and what grows
 *
 * Growth takes time to detect: "./leak 2000" runs for ten seconds, and wick leaks then reports the
 * list as growth. "wick heap --leaks --fail-on definite" fails in CI (status 3).
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))
#define REQUEST_BYTES 1000
#define SESSION_BYTES 4000

struct session {
	struct session *next;
	char data[SESSION_BYTES - sizeof(struct session *)];
};

static struct session *sessions;

/* NULL for a request that is malformed. */
static NOINLINE char *parse_request(int number)
{
	char *copy = malloc(REQUEST_BYTES);

	if (!copy)
		return NULL;
	memset(copy, 'x', REQUEST_BYTES);
	if (number % 10 == 9)
		return NULL; /* the mistake: copy is not freed */
	return copy;
}

static NOINLINE bool remember_session(void)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session)
		return false;
	session->next = sessions;
	sessions = session;
	return true;
}

static NOINLINE bool answer(int number)
{
	char *request = parse_request(number);
	bool kept = remember_session();

	free(request);
	return kept;
}

int main(int argc, char **argv)
{
	int requests = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 200;
	int kept = 0;

	for (int i = 0; i < requests; i++) {
		kept += answer(i);
		(void)nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); /* no signal comes */
	}
	printf("lost %d bytes in %d blocks, kept %d bytes in %d sessions\n",
	       requests / 10 * REQUEST_BYTES, requests / 10, kept * SESSION_BYTES, kept);
	return 0;
}
