/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/delivery.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/symbol_files.h"
#include "base/error.h"
#include "base/file/outfile.h"

#define PATIENCE_MS 3000u /* for the last windows, when the agent ends */

struct delivery {
	struct spool *spool;
	const char *folder;         /* of the spool */
	struct pusher *pusher;      /* NULL: nothing is sent */
	struct symbol_files *files; /* NULL: symbols are not sent */
	pthread_mutex_t lock;       /* held while a window is written: the spool has one writer */
	char id[SPOOL_ID_MAX];      /* of the window being written */
};

int delivery_open(const struct delivery_config *config, struct delivery **ret, struct error *err)
{
	struct delivery *delivery = calloc(1, sizeof(*delivery));
	struct pusher_config pusher = {.url = config->url,
				       .format = config->format,
				       .host = config->host,
				       .token = config->token,
				       .ca_file = config->ca_file,
				       .symbol_paths = config->symbol_paths,
				       .symbol_path_count = config->symbol_path_count,
				       .symbol_bytes_per_minute = config->symbol_bytes_per_minute,
				       .notice = config->spool.notice,
				       .answered = config->answered,
				       .self = config->spool.self};
	int r;

	if (!delivery)
		return error_set(err, -ENOMEM, "out of memory");
	(void)pthread_mutex_init(&delivery->lock, NULL); /* never fails on Linux */
	delivery->folder = config->spool.folder;
	r = spool_open(&config->spool, &delivery->spool, err);
	pusher.spool = delivery->spool;
	if (r == 0 && config->sends_symbols) {
		delivery->files = symbol_files_new();
		if (!delivery->files)
			r = error_set(err, -ENOMEM, "out of memory");
		pusher.files = delivery->files;
	}
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
	symbol_files_free(delivery->files);
	(void)pthread_mutex_destroy(&delivery->lock);
	free(delivery);
}

/* From a descriptor on, until end(). */
static int begin(void *self, const char *id, struct error *err)
{
	struct delivery *delivery = self;
	int fd;

	(void)pthread_mutex_lock(&delivery->lock);
	(void)snprintf(delivery->id, sizeof(delivery->id), "%s", id);
	fd = spool_begin(delivery->spool, err);
	if (fd < 0)
		(void)pthread_mutex_unlock(&delivery->lock);
	return fd;
}

/* Who writes a window does not know where it goes. */
static void tell_folder(const struct delivery *delivery, struct error *err)
{
	if (err->code == -ENOMEM)
		return;
	(void)error_prefix(err, err->code, "the spool %s", delivery->folder);
	if (err->code == -ENOSPC || err->code == -EDQUOT)
		error_remedy(err, "free space in %s, or choose another folder with --spool DIR",
			     delivery->folder);
}

static int end(void *self, const struct window_totals *totals, struct error *err)
{
	struct delivery *delivery = self;
	int r = 0;

	if (totals)
		r = spool_commit(delivery->spool, delivery->id, err);
	else
		spool_abort(delivery->spool);
	if (!totals && err)
		tell_folder(delivery, err);
	(void)pthread_mutex_unlock(&delivery->lock);
	if (totals && r == 0 && delivery->pusher)
		pusher_wake(delivery->pusher);
	return r;
}

int delivery_add(struct delivery *delivery, const char *id, const void *data, size_t size,
		 struct error *err)
{
	const struct window_totals totals = {.bytes = size};
	int fd = begin(delivery, id, err);
	int r;

	if (fd < 0)
		return fd;
	r = outfile_write_all(fd, data, size);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0)
		return end(delivery, &totals, err);
	(void)error_errno(err, r, "cannot write window %s", id);
	(void)end(delivery, NULL, err); /* r is reported */
	return r;
}

static bool order(void *self, struct burst_order *ret)
{
	struct delivery *delivery = self;

	return delivery->pusher && pusher_take_order(delivery->pusher, ret);
}

static uint32_t window_s(void *self)
{
	struct delivery *delivery = self;

	return delivery->pusher ? pusher_window_s(delivery->pusher) : 0;
}

static void waiting(void *self, uint64_t *ret_windows, uint64_t *ret_bytes)
{
	struct delivery *delivery = self;
	struct spool_stats stats;

	spool_stats(delivery->spool, &stats);
	*ret_windows = stats.windows;
	*ret_bytes = stats.bytes;
}

static void see_module(void *self, const struct module *module, uint32_t pid)
{
	struct delivery *delivery = self;

	symbol_files_note(delivery->files, module, pid);
}

struct agent_output delivery_output(struct delivery *delivery)
{
	return (struct agent_output){.begin = begin,
				     .end = end,
				     .order = order,
				     .window_s = window_s,
				     .waiting = waiting,
				     .module = delivery->files ? see_module : NULL,
				     .self = delivery};
}

void delivery_stats(struct delivery *delivery, struct spool_stats *ret_spool,
		    struct pusher_stats *ret_pusher)
{
	*ret_pusher = (struct pusher_stats){0};
	spool_stats(delivery->spool, ret_spool);
	if (delivery->pusher)
		pusher_stats(delivery->pusher, ret_pusher);
}
