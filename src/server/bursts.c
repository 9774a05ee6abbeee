/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/bursts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"

void bursts_init(struct bursts *bursts)
{
	memset(bursts, 0, sizeof(*bursts));
	(void)pthread_mutex_init(&bursts->lock, NULL); /* never fails on Linux */
}

void bursts_fini(struct bursts *bursts)
{
	(void)pthread_mutex_destroy(&bursts->lock); /* nobody holds it */
}

static const struct burst *last_of(const struct bursts *bursts, const char *service)
{
	const struct burst *last = NULL;
	size_t i;

	for (i = 0; i < BURSTS_MAX; i++) {
		const struct burst *burst = &bursts->items[i];

		if (burst->id[0] && strcmp(burst->service, service) == 0 &&
		    (!last || burst->asked_s > last->asked_s))
			last = burst;
	}
	return last;
}

int bursts_ask(struct bursts *bursts, const struct burst *wanted, uint64_t interval_s,
	       uint64_t now_s, struct burst *ret, struct error *err)
{
	const struct burst *last;
	struct burst *place;
	int r = 0;

	(void)pthread_mutex_lock(&bursts->lock);
	last = last_of(bursts, wanted->service);
	place = &bursts->items[bursts->next % BURSTS_MAX]; /* the oldest */
	if (last && now_s < last->asked_s + interval_s) {
		r = error_set(err, -EBUSY,
			      "service %s had a burst %" PRIu64 " seconds ago; the next is allowed "
			      "in %" PRIu64 " seconds",
			      wanted->service, now_s - last->asked_s,
			      last->asked_s + interval_s - now_s);
		error_remedy(err, "wait, or start the server with a shorter --burst-interval");
	} else if (place->id[0] && now_s < place->asked_s + interval_s) {
		r = error_set(err, -EBUSY, "too many bursts at once");
		error_remedy(err, "wait a few minutes");
	} else {
		*place = *wanted;
		place->asked_s = now_s;
		place->host_count = 0;
		(void)snprintf(place->id, sizeof(place->id), "%" PRIu64 "-%" PRIu64, now_s,
			       bursts->next++);
		*ret = *place;
	}
	(void)pthread_mutex_unlock(&bursts->lock);
	return r;
}

static uint32_t running_hosts(const struct bursts *bursts, uint64_t now_s)
{
	uint32_t count = 0;
	size_t i;
	uint32_t k;

	for (i = 0; i < BURSTS_MAX; i++)
		for (k = 0; k < bursts->items[i].host_count; k++)
			count += bursts->items[i].given[k].until_s > now_s;
	return count;
}

static bool may_have(const struct burst *burst, const char *host, const char *service,
		     uint64_t now_s)
{
	uint32_t k;

	if (!burst->id[0] || strcmp(burst->service, service) != 0 ||
	    now_s > burst->asked_s + BURST_WAIT_S || burst->host_count >= burst->hosts ||
	    burst->host_count >= BURST_HOSTS_MAX)
		return false;
	for (k = 0; k < burst->host_count; k++)
		if (strcmp(burst->given[k].host, host) == 0)
			return false;
	return true;
}

bool bursts_take(struct bursts *bursts, const char *host, const char *service, uint32_t host_limit,
		 uint64_t now_s, struct burst *ret)
{
	bool found = false;
	size_t i;

	(void)pthread_mutex_lock(&bursts->lock);
	for (i = 0; i < BURSTS_MAX && !found; i++) {
		struct burst *burst = &bursts->items[i];

		found = may_have(burst, host, service, now_s) &&
			running_hosts(bursts, now_s) < host_limit;
		if (!found)
			continue;
		(void)snprintf(burst->given[burst->host_count].host, sizeof(burst->given[0].host),
			       "%s", host); /* it fits */
		burst->given[burst->host_count++].until_s = now_s + burst->seconds;
		*ret = *burst;
	}
	(void)pthread_mutex_unlock(&bursts->lock);
	return found;
}

size_t bursts_list(struct bursts *bursts, struct burst ret[BURSTS_MAX])
{
	size_t count = 0;
	size_t i;

	(void)pthread_mutex_lock(&bursts->lock);
	for (i = 0; i < BURSTS_MAX && i < bursts->next; i++)
		ret[count++] = bursts->items[(bursts->next - 1 - i) % BURSTS_MAX];
	(void)pthread_mutex_unlock(&bursts->lock);
	return count;
}

uint64_t burst_started_s(const struct burst *burst)
{
	return burst->host_count > 0 ? burst->given[0].until_s - burst->seconds : 0;
}

int burst_parse(struct burst *ret, const void *text, size_t size, struct error *err)
{
	json_error_t why;
	json_t *root = json_loadb(text, size, 0, &why);
	const char *service = json_string_value(json_object_get(root, "service"));
	json_int_t rate = json_integer_value(json_object_get(root, "rate"));
	json_int_t seconds = json_integer_value(json_object_get(root, "seconds"));
	json_int_t hosts = json_integer_value(json_object_get(root, "hosts"));
	int r = 0;

	if (!service || !*service || strlen(service) >= sizeof(ret->service) || rate < 1 ||
	    rate > BURST_RATE_MAX || seconds < 1 || seconds > BURST_SECONDS_MAX || hosts < 0) {
		r = error_set(err, -EINVAL, "the body does not describe a burst");
		error_remedy(err,
			     "send {\"service\": \"S\", \"rate\": 1000, \"seconds\": 60}: at most "
			     "%u Hz and %u seconds",
			     BURST_RATE_MAX, BURST_SECONDS_MAX);
	} else {
		(void)snprintf(ret->service, sizeof(ret->service), "%s", service); /* it fits */
		ret->rate_hz = (uint32_t)rate;
		ret->seconds = (uint32_t)seconds;
		ret->hosts =
			hosts > 0 && hosts < BURST_HOSTS_MAX ? (uint32_t)hosts : BURST_HOSTS_MAX;
	}
	json_decref(root);
	return r;
}
