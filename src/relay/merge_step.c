/* SPDX-License-Identifier: BSD-2-Clause */
#include "relay/merge_step.h"

#include <errno.h>
#include <stdio.h>

#include "agent/agent.h"
#include "agent/delivery.h"
#include "agent/spool.h"
#include "agent/window.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "relay/merged_window.h"

/* A window in memory. */
struct held {
	struct spool_item item;
	struct bytes data;
};

struct group {
	VEC(struct held) windows;
	uint64_t stored_bytes;
	uint64_t raw_bytes;
};

static void group_fini(struct group *group)
{
	for (size_t i = 0; i < group->windows.count; i++)
		bytes_fini(&group->windows.items[i].data);
	vec_fini(&group->windows);
}

/* A window goes as it is, with its own id. */
static int pass(struct merge_step *step, const struct held *held, struct error *err)
{
	int r = delivery_add(step->to, held->item.id, held->data.data, held->data.size, err);

	if (r == 0) {
		spool_remove(step->from, &held->item);
		step->passed++;
	}
	return r;
}

/* Adds a window to the group, or passes it on. Returns 1 if the group is full. */
static int place(struct merge_step *step, struct group *group, struct held *held, struct error *err)
{
	uint64_t raw_bytes;
	int r;

	if (!merged_window_takes(held->data.data, held->data.size, &raw_bytes)) {
		r = pass(step, held, err);
		bytes_fini(&held->data);
		return r;
	}
	r = vec_push(&group->windows, *held);
	if (r < 0) {
		bytes_fini(&held->data);
		return error_set(err, r, "out of memory");
	}
	group->stored_bytes += held->data.size;
	group->raw_bytes += raw_bytes;
	return group->windows.count >= MERGE_PARTS_MAX || group->stored_bytes >= MERGE_STORED_MAX ||
	       group->raw_bytes >= MERGE_RAW_MAX;
}

static int collect(struct merge_step *step, struct group *group, struct error *err)
{
	uint64_t last = 0;
	int r = 0;

	while (r == 0) {
		struct held held = {0};

		if (!spool_next(step->from, last, &held.item))
			break;
		last = held.item.number;
		r = spool_read(step->from, &held.item, &held.data, err);
		if (r == -EBADMSG || r == -ENOENT) { /* it is not there any more */
			log_info("window %s: %s", held.item.id, err->text);
			bytes_fini(&held.data);
			r = 0;
			continue;
		}
		if (r < 0)
			bytes_fini(&held.data);
		else
			r = place(step, group, &held, err);
	}
	return r < 0 ? r : 0;
}

/* Takes over fd. */
static int write_group(const struct merge_step *step, const struct group *group, int fd,
		       struct error *err)
{
	struct merged_window *merged;
	int r = merged_window_open(fd, step->id, &merged, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < group->windows.count && r == 0; i++) {
		const struct held *held = &group->windows.items[i];
		char id[SPOOL_ID_MAX];
		struct merged_part part = {.data = held->data.data,
					   .size = held->data.size,
					   .id = id,
					   .offset_s = spool_split_id(held->item.id, id)};

		r = merged_window_add(merged, &part, err);
	}
	if (r == 0)
		r = merged_window_finish(merged, err);
	merged_window_free(merged);
	return r;
}

static int merge(struct merge_step *step, const struct group *group, struct error *err)
{
	const struct agent_output output = delivery_output(step->to);
	const struct window_totals totals = {0};
	int fd = output.begin(output.self, step->id, err);
	int r = fd < 0 ? fd : write_group(step, group, fd, err);

	if (fd < 0)
		return r;
	if (r < 0) {
		(void)output.end(output.self, NULL, err); /* r is reported */
		return r;
	}
	r = output.end(output.self, &totals, err);
	for (size_t i = 0; i < group->windows.count && r == 0; i++)
		spool_remove(step->from, &group->windows.items[i].item);
	if (r == 0) {
		step->merged += group->windows.count;
		step->bytes = group->stored_bytes;
	}
	return r;
}

static int pass_all(struct merge_step *step, const struct group *group, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < group->windows.count && r == 0; i++)
		r = pass(step, &group->windows.items[i], err);
	return r;
}

int merge_step_run(struct merge_step *step, struct error *err)
{
	struct group group = {0};
	int r = collect(step, &group, err);

	if (r == 0 && group.windows.count == 1)
		r = pass_all(step, &group, err);
	else if (r == 0 && group.windows.count > 1)
		r = merge(step, &group, err);
	if (r == -EINVAL || r == -E2BIG) /* one of them is odd: it is for the server to say why */
		r = pass_all(step, &group, err);
	group_fini(&group);
	return r < 0 ? r : step->merged + step->passed > 0;
}
