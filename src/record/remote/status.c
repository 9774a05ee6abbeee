/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/remote/status.h"

#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "engine/engine.h"
#include "record/pace.h"

/* Why sampling is paused; NULL: it is not. */
static const char *why_paused(const struct pace *pace)
{
	if (pace->paused & PACE_ASKED)
		return "asked";
	if (pace->paused & PACE_DELAY)
		return "delay";
	return pace->paused & PACE_BREAKER ? "breaker" : NULL;
}

/* Failures to change the rate are reported with the state. */
static const char *why_of(const struct pace *pace)
{
	if ((pace->paused != 0) != (pace->hz == 0))
		return pace->refusal;
	return why_paused(pace);
}

void status_write(const struct recorder_status *status, struct bytes *ret)
{
	const struct pace *pace = status->pace;
	struct json json;

	json_init(&json, ret, false);
	json_open_object(&json, NULL);
	json_u64(&json, "recorder", (uint64_t)getpid());
	json_string(&json, "target", status->title);
	json_open_array(&json, "pids");
	for (size_t i = 0; i < status->pid_count; i++)
		json_u64(&json, NULL, (uint64_t)status->pids[i]);
	json_close(&json);
	json_string(&json, "engine", status->engine);
	json_string(&json, "state", pace->hz == 0 ? "paused" : "recording");
	json_string(&json, "why", why_of(pace));
	json_u64(&json, "elapsed_ns", status->elapsed_ns);
	json_u64(&json, "samples", status->stats->samples.count + status->stats->offcpu.repeated);
	json_u64(&json, "lost", status->stats->samples.lost);
	json_u64(&json, "rate_hz", pace->fixed ? 0 : pace->hz);
	json_u64(&json, "rate_failures", pace->failures);
	json_u64(&json, "asked_hz", status->stats->granted.frequency_hz);
	json_double(&json, "overhead_percent", 100 * pace->budget.spent, 3);
	json_string(&json, "output", status->output);
	json_u64(&json, "kept_bytes", status->kept_bytes);
	json_string(&json, "error", status->error ? status->error->text : NULL);
	json_string(&json, "remedy", status->error ? status->error->remedy : NULL);
	json_close(&json);
}
