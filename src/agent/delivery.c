/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/delivery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

#define PATIENCE_MS 3000u /* for the last windows, when the agent ends */

struct delivery {
	struct spool *spool;
	struct pusher *pusher; /* NULL: nothing is sent */
	char id[SPOOL_ID_MAX]; /* of the window being written */
};

int delivery_open(const struct delivery_config *config, struct delivery **ret, struct error *err)
{
	struct delivery *delivery = calloc(1, sizeof(*delivery));
	struct pusher_config pusher = {.url = config->url,
				       .format = config->format,
				       .host = config->host,
				       .token = config->token,
				       .ca_file = config->ca_file,
				       .notice = config->spool.notice,
				       .self = config->spool.self};
	int r;

	if (!delivery)
		return error_set(err, -ENOMEM, "out of memory");
	r = spool_open(&config->spool, &delivery->spool, err);
	pusher.spool = delivery->spool;
	if (r == 0 && config->url)
		r = pusher_start(&pusher, &delivery->pusher, err);
	if (r < 0)
		delivery_close(delivery);
	else
		*ret = delivery;
	return r;
}

void delivery_close(struct delivery *delivery)
{
	if (!delivery)
		return;
	pusher_stop(delivery->pusher, PATIENCE_MS);
	spool_close(delivery->spool);
	free(delivery);
}

static int begin(void *self, const char *id, struct error *err)
{
	struct delivery *delivery = self;

	(void)snprintf(delivery->id, sizeof(delivery->id), "%s", id);
	return spool_begin(delivery->spool, err);
}

static int end(void *self, const struct window_totals *totals, struct error *err)
{
	struct delivery *delivery = self;
	int r;

	if (!totals) {
		spool_abort(delivery->spool);
		return 0;
	}
	r = spool_commit(delivery->spool, delivery->id, err);
	if (r == 0 && delivery->pusher)
		pusher_wake(delivery->pusher);
	return r;
}

static bool order(void *self, struct burst_order *ret)
{
	struct delivery *delivery = self;

	return delivery->pusher && pusher_take_order(delivery->pusher, ret);
}

struct agent_output delivery_output(struct delivery *delivery)
{
	return (struct agent_output){.begin = begin, .end = end, .order = order, .self = delivery};
}

void delivery_stats(struct delivery *delivery, struct spool_stats *ret_spool,
		    struct pusher_stats *ret_pusher)
{
	*ret_pusher = (struct pusher_stats){0};
	spool_stats(delivery->spool, ret_spool);
	if (delivery->pusher)
		pusher_stats(delivery->pusher, ret_pusher);
}
