/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/agent_metrics.h"

#include "agent/agent_stats.h"
#include "agent/pusher.h"
#include "agent/spool.h"
#include "base/bytes.h"
#include "base/vec.h"
#include "net/metric_text.h"
#include "record/pace.h"

void agent_metrics_put(struct bytes *out, const struct agent_stats *agent,
		       const struct spool_stats *spool, const struct pusher_stats *pusher)
{
	const struct metric metrics[] = {
		{"rate_asked_hz", "Samples per second and CPU that were asked for.",
		 agent->asked_hz},
		{"rate_hz", "Samples per second and CPU now; 0 in a pause.", agent->hz},
		{"rate_achieved_hz", "Samples per second of CPU time in the last window.",
		 agent->achieved_hz},
		{"windows_total", "Windows that were written.", (double)agent->windows},
		{"windows_failed_total", "Windows that could not be written.",
		 (double)agent->failed_windows},
		{"samples_total", "Samples in windows.", (double)agent->samples},
		{"samples_lost_total", "Samples that the kernel had no room for.",
		 (double)agent->lost},
		{"samples_unnamed_total",
		 "Samples whose innermost function has no name; 0 with --symbolize server.",
		 (double)agent->unnamed},
		{"ring_fill_ratio", "Largest recent fill of a buffer of the kernel.",
		 agent->ring_fill},
		{"rows_total", "Sums by process, stack and bucket in windows.",
		 (double)agent->rows},
		{"services", "Different services that were seen.", (double)agent->services},
		{"processes_total", "Processes that were sampled.", (double)agent->processes},
		{"budget_ratio", "Share of one CPU that it may cost; 0: no limit.", agent->budget},
		{"cpu_ratio", "Share of one CPU that the last window cost.", agent->cpu_share},
		{"cpu_seconds_total", "CPU time of the agent and of its sampling.",
		 (double)agent->cpu_ns / 1e9},
		{"resident_bytes", "Memory of the agent.", (double)agent->rss_bytes},
		{"memory_limit_bytes", "What --max-memory allows; 0: no limit.",
		 (double)agent->memory_limit_bytes},
		{"memory_step", "0: all, 1: fewer services, 2: shorter stacks, 3: pause.",
		 agent->memory_step},
		{"renewals_total", "Times that sampling began anew to free memory.",
		 (double)agent->renewals},
		{"breaker_open", "Whether sampling is paused because the host is busy.",
		 (agent->paused & PACE_BREAKER) != 0},
		{"paused_seconds_total", "Time of all pauses that have ended.",
		 (double)agent->paused_ns / 1e9},
		{"spool_windows", "Windows that wait to be sent.", (double)spool->windows},
		{"spool_bytes", "Their size.", (double)spool->bytes},
		{"spool_limit_bytes", "The size above which the oldest are removed.",
		 (double)spool->max_bytes},
		{"spool_dropped_total", "Windows that were removed without being sent.",
		 (double)spool->dropped},
		{"spool_damaged_total", "Files of the spool that were set aside.",
		 (double)spool->damaged},
		{"sent_total", "Windows that the server has.", (double)pusher->sent},
		{"sent_bytes_total", "Their size.", (double)pusher->sent_bytes},
		{"refused_total", "Windows that the server refused.", (double)pusher->refused},
		{"send_failures_total", "Attempts to send without success.",
		 (double)pusher->failures},
		{"symbols_sent_total", "Symbol tables that the server asked for and has.",
		 (double)pusher->symbols.sent},
		{"symbols_sent_bytes_total", "Their size.", (double)pusher->symbols.sent_bytes},
		{"symbols_failed_total", "Symbol tables that could not be read, or were refused.",
		 (double)pusher->symbols.failures},
		{"sending", "Whether the last attempt to send succeeded.", !pusher->is_failing},
	};

	metric_text_put(out, "wick_agent_", metrics, ARRAY_SIZE(metrics));
}
