/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_LIVE_LIVE_H
#define WICK_SERVER_LIVE_LIVE_H

/*
 * live: who watches which service now. A push wakes those who watch what it contains; while nobody
 * does, it costs a push nothing but a look at an empty list. Any thread may call.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define LIVE_SERVICE_MAX 128

struct live_watcher {
	struct live_watcher *next;
	struct live_watcher *previous;
	char service[LIVE_SERVICE_MAX]; /* "": all of them */
	int wake_fd;                    /* an eventfd */
	bool has_news;                  /* since live_take_news() */
	uint64_t newest_s;              /* end of the newest window; 0: none was pushed */
};

struct live {
	pthread_mutex_t lock;
	struct live_watcher *first;
	pthread_mutex_t query_lock; /* watchers ask the store one after another */
};

void live_init(struct live *live);
void live_fini(struct live *live);

/*
 * The watcher belongs to the caller, who calls live_leave() before releasing it. 0 or a negative
 * errno.
 */
int live_enter(struct live *live, struct live_watcher *watcher);
void live_leave(struct live *live, struct live_watcher *watcher);

/* Whether somebody watches a service: by its name, and not among all others. */
bool live_is_watched(struct live *live, const char *service);
/* Whether anybody would be woken by a push of it. */
bool live_has_watcher(struct live *live, const char *service);

/* A window of a service that ends at end_s is in the store. */
void live_pushed(struct live *live, const char *service, uint64_t end_s);

/* Whether there is something new since the last call. */
bool live_take_news(struct live *live, struct live_watcher *watcher, uint64_t *ret_newest_s);

#endif
