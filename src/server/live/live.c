/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/live/live.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

void live_init(struct live *live)
{
	*live = (struct live){0};
	(void)pthread_mutex_init(&live->lock, NULL); /* never fails on Linux, like the next */
	(void)pthread_mutex_init(&live->query_lock, NULL);
}

void live_fini(struct live *live)
{
	(void)pthread_mutex_destroy(&live->lock); /* nobody holds them */
	(void)pthread_mutex_destroy(&live->query_lock);
}

int live_enter(struct live *live, struct live_watcher *watcher)
{
	watcher->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watcher->wake_fd < 0)
		return -errno;
	(void)pthread_mutex_lock(&live->lock);
	watcher->previous = NULL;
	watcher->next = live->first;
	if (watcher->next)
		watcher->next->previous = watcher;
	live->first = watcher;
	(void)pthread_mutex_unlock(&live->lock);
	return 0;
}

void live_leave(struct live *live, struct live_watcher *watcher)
{
	(void)pthread_mutex_lock(&live->lock);
	*(watcher->previous ? &watcher->previous->next : &live->first) = watcher->next;
	if (watcher->next)
		watcher->next->previous = watcher->previous;
	(void)pthread_mutex_unlock(&live->lock);
	(void)close(watcher->wake_fd); /* nothing was written to a file */
}

bool live_is_watched(struct live *live, const char *service)
{
	const struct live_watcher *watcher;
	bool found = false;

	(void)pthread_mutex_lock(&live->lock);
	for (watcher = live->first; watcher && !found; watcher = watcher->next)
		found = *service && strcmp(watcher->service, service) == 0;
	(void)pthread_mutex_unlock(&live->lock);
	return found;
}

static bool concerns(const struct live_watcher *watcher, const char *service)
{
	return !watcher->service[0] || strcmp(watcher->service, service) == 0;
}

bool live_has_watcher(struct live *live, const char *service)
{
	const struct live_watcher *watcher;
	bool found = false;

	(void)pthread_mutex_lock(&live->lock);
	for (watcher = live->first; watcher && !found; watcher = watcher->next)
		found = concerns(watcher, service);
	(void)pthread_mutex_unlock(&live->lock);
	return found;
}

void live_pushed(struct live *live, const char *service, uint64_t end_s)
{
	struct live_watcher *watcher;

	(void)pthread_mutex_lock(&live->lock);
	for (watcher = live->first; watcher; watcher = watcher->next) {
		if (!concerns(watcher, service))
			continue;
		if (end_s > watcher->newest_s)
			watcher->newest_s = end_s;
		if (!watcher->has_news)
			(void)eventfd_write(watcher->wake_fd, 1); /* it cannot overflow */
		watcher->has_news = true;
	}
	(void)pthread_mutex_unlock(&live->lock);
}

bool live_take_news(struct live *live, struct live_watcher *watcher, uint64_t *ret_newest_s)
{
	eventfd_t count;
	bool has_news;

	(void)pthread_mutex_lock(&live->lock);
	has_news = watcher->has_news;
	watcher->has_news = false;
	*ret_newest_s = watcher->newest_s;
	(void)eventfd_read(watcher->wake_fd, &count); /* it may be empty */
	(void)pthread_mutex_unlock(&live->lock);
	return has_news;
}
