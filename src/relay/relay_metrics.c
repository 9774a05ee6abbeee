/* SPDX-License-Identifier: BSD-2-Clause */
#include "relay/relay_metrics.h"

#include "base/vec.h"
#include "net/metric_text.h"
#include "relay/relay.h"

void relay_metrics_put(struct bytes *out, const struct relay_stats *stats)
{
	const struct metric metrics[] = {
		{"windows_total", "Windows that were received.", (double)stats->received},
		{"received_bytes_total", "Their size.", (double)stats->received_bytes},
		{"refused_total", "Requests that were no windows, or damaged.",
		 (double)stats->refused},
		{"delayed_total", "Windows that their agents were asked to keep for now.",
		 (double)stats->delayed},
		{"merged_windows_total", "Windows that became parts of merged ones.",
		 (double)stats->merged},
		{"merges_total", "Merged windows.", (double)stats->merges},
		{"merged_bytes_total", "Size of the windows that were merged.",
		 (double)stats->merged_bytes},
		{"passed_total", "Windows that were sent as they are.", (double)stats->passed},
		{"inbox_windows", "Windows that wait to be merged.", (double)stats->inbox.windows},
		{"inbox_bytes", "Their size.", (double)stats->inbox.bytes},
		{"outbox_windows", "Windows that wait to be sent.", (double)stats->outbox.windows},
		{"outbox_bytes", "Their size.", (double)stats->outbox.bytes},
		{"damaged_total", "Files on disk that were damaged, and set aside.",
		 (double)(stats->inbox.damaged + stats->outbox.damaged)},
		{"sent_total", "Windows that the server has, merged or not.",
		 (double)stats->pusher.sent},
		{"sent_bytes_total", "Their size.", (double)stats->pusher.sent_bytes},
		{"sent_refused_total", "Windows that the server refused.",
		 (double)stats->pusher.refused},
		{"send_failures_total", "Attempts to send without success.",
		 (double)stats->pusher.failures},
		{"sending", "Whether the last attempt to send succeeded.",
		 !stats->pusher.is_failing},
	};

	metric_text_put(out, "wick_relay_", metrics, ARRAY_SIZE(metrics));
}
