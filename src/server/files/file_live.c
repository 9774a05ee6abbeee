/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "model/profile.h"
#include "server/files/file_server_state.h"
#include "server/files/growing_file.h"
#include "server/files/thread_match.h"
#include "server/query.h"

/* The live view of a recording that is being made: a step every 5 seconds, until it ends. */

#define STEP_NS (5 * NS_PER_SEC)
#define END "event: end\ndata: {}\n\n"
#define WINDOW_S 60u
#define WINDOW_MAX_S 600u

struct live_stream {
	struct file_server *server;
	struct query query;
	char token[TOKEN_ID_MAX];
	uint64_t window_s;
	uint64_t step_ns; /* when the last step was sent; 0: none was */
};

/* A moment of the recording. */
struct step {
	uint64_t from_s;
	uint64_t to_s;
	uint64_t samples;
	uint64_t newest_s; /* 0: there is no sample yet */
	bool goes_on;
};

static bool is_watched(const struct live_stream *stream, const struct served_file *file)
{
	return matches_accept_service(stream->query.labels.matches, stream->query.labels.count,
				      file->name);
}

static void add_file(const struct live_stream *stream, const struct served_file *file,
		     struct step *step)
{
	uint64_t to_s = file_summary_to_s(&file->summary);
	uint64_t last_ns;

	if (to_s > step->to_s)
		step->to_s = to_s;
	step->from_s = step->to_s > stream->window_s ? step->to_s - stream->window_s : 0;
	if (!file->growing) {
		if (file->is_known)
			step->newest_s = step->to_s;
		return;
	}
	step->goes_on = true;
	step->samples += growing_file_samples(file->growing, step->from_s * NS_PER_SEC,
					      step->to_s * NS_PER_SEC, &last_ns);
	if (last_ns / NS_PER_SEC + 1 > step->newest_s && last_ns > 0)
		step->newest_s = last_ns / NS_PER_SEC + 1;
}

static struct step look(const struct live_stream *stream)
{
	struct served_files *files = &stream->server->files.files;
	struct step step = {0};
	size_t i;

	(void)pthread_mutex_lock(&files->lock);
	for (i = 0; i < files->count; i++) {
		const struct served_file *file = &files->files[i];

		if (!is_watched(stream, file))
			continue;
		/* What cannot be read is reported when its profile is asked for. */
		(void)served_files_refresh(files, i, NULL);
		add_file(stream, file, &step);
		if (file->ours_since_ns > 0 && !file->is_known)
			step.goes_on = true; /* it has not begun */
	}
	(void)pthread_mutex_unlock(&files->lock);
	return step;
}

/* A recording that has ended is read like any other. */
static void count_samples(struct live_stream *stream, struct step *step)
{
	struct source *source = &stream->server->files.source;
	struct store_selector window = stream->query.selector;
	struct profile *profile = NULL;

	window.from_s = (uint32_t)step->from_s;
	window.to_s = (uint32_t)step->to_s;
	if (source_profile(source, &window, false, &profile, NULL) < 0)
		return; /* the page learns why when it asks for the profile */
	step->samples = profile->quality.samples;
	source_release(source, profile);
}

static bool next(void *self, struct bytes *out, uint64_t *ret_wait_ms)
{
	struct live_stream *stream = self;
	uint64_t now_ns = clock_monotonic_ns();
	bool has_ended = atomic_load(&stream->server->has_ended);
	struct step step;

	if (!http_access_holds(&stream->server->access, stream->token, TOKEN_READ))
		return false;
	if (stream->step_ns > 0 && now_ns < stream->step_ns + STEP_NS && !has_ended) {
		*ret_wait_ms = (stream->step_ns + STEP_NS - now_ns) / NS_PER_MS + 1;
		return true;
	}
	if (has_ended && stream->step_ns > 0) { /* there is no time to read it to its end */
		bytes_printf(out, END);
		return false;
	}
	stream->step_ns = now_ns;
	step = look(stream);
	if (!step.goes_on && step.newest_s > 0)
		count_samples(stream, &step);
	bytes_printf(out,
		     "event: step\ndata: {\"from\": %" PRIu64 ", \"to\": %" PRIu64
		     ", \"samples\": %" PRIu64 ", \"newest\": %" PRIu64 "}\n\n",
		     step.from_s, step.to_s, step.samples, step.newest_s);
	*ret_wait_ms = STEP_NS / NS_PER_MS;
	if (step.goes_on && !has_ended)
		return true;
	bytes_printf(out, END);
	return false;
}

static int open_stream(struct live_stream *stream, const struct http_call *request,
		       struct error *err)
{
	struct http_grant grant;
	int r = query_read(&stream->query, &stream->server->files.source, request, "", err);

	if (r == 0)
		r = query_number(request, "window", WINDOW_S, WINDOW_MAX_S, &stream->window_s, err);
	http_access_grant(&stream->server->access, request, &grant);
	(void)snprintf(stream->token, sizeof(stream->token), "%s", grant.id); /* it fits */
	return r;
}

void route_files_live(void *self, const struct http_call *request, struct http_response *response)
{
	struct live_stream *stream = calloc(1, sizeof(*stream));
	struct error err = {0};
	int r = stream ? 0 : error_set(&err, -ENOMEM, "out of memory");

	if (stream)
		stream->server = self;
	if (r == 0)
		r = open_stream(stream, request, &err);
	if (r < 0) {
		free(stream);
		http_refuse_error(response, 0, &err);
		return;
	}
	response->type = "text/event-stream; charset=utf-8";
	response->stream = (struct http_stream){
		.next = next, .free = free, .self = stream, .wake_fd = stream->server->end_fd};
}
