/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"

static const uint64_t bounds_ms[METRICS_BUCKETS] = {1, 5, 10, 25, 50, 100, 250, 500, 1000, 5000};

void metrics_init(struct metrics *metrics)
{
	memset(metrics, 0, sizeof(*metrics));
	(void)pthread_mutex_init(&metrics->lock, NULL); /* never fails on Linux */
}

void metrics_fini(struct metrics *metrics)
{
	(void)pthread_mutex_destroy(&metrics->lock); /* nobody holds it */
}

void metrics_request(struct metrics *metrics, size_t route, const char *path, unsigned int status,
		     uint64_t took_ns)
{
	size_t last = METRICS_ROUTES_MAX - 1;
	struct metrics_route *entry = &metrics->routes[route < last ? route : last];
	size_t i;

	(void)pthread_mutex_lock(&metrics->lock);
	entry->path = route < last ? path : "other";
	entry->by_class[status / 100 < 6 ? status / 100 : 0]++;
	entry->count++;
	entry->sum_ns += took_ns;
	for (i = 0; i < METRICS_BUCKETS; i++)
		if (took_ns <= bounds_ms[i] * NS_PER_MS)
			entry->buckets[i]++;
	(void)pthread_mutex_unlock(&metrics->lock);
}

void metrics_add(struct metrics *metrics, uint64_t *counter, uint64_t n)
{
	(void)pthread_mutex_lock(&metrics->lock);
	*counter += n;
	(void)pthread_mutex_unlock(&metrics->lock);
}

void metrics_put_head(struct bytes *out, const char *name, const char *kind, const char *help)
{
	bytes_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

void metrics_put_value(struct bytes *out, const char *name, const char *kind, const char *help,
		       double value)
{
	metrics_put_head(out, name, kind, help);
	bytes_printf(out, "%s %.17g\n", name, value);
}

void metrics_put_label(struct bytes *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			bytes_printf(out, "\\n");
		else if (*text == '"' || *text == '\\')
			bytes_printf(out, "\\%c", *text);
		else
			bytes_put_u8(out, (uint8_t)*text);
	}
}

static void put_requests(const struct metrics *metrics, struct bytes *out)
{
	size_t i;
	size_t class;

	metrics_put_head(out, "wick_server_requests_total", "counter",
			 "Requests by path and class of status.");
	for (i = 0; i < METRICS_ROUTES_MAX; i++)
		for (class = 1; class < 6; class ++)
			if (metrics->routes[i].by_class[class] > 0)
				bytes_printf(
					out,
					"wick_server_requests_total{path=\"%s\",status=\"%zuxx\"} "
					"%" PRIu64 "\n",
					metrics->routes[i].path, class,
					metrics->routes[i].by_class[class]);
}

static void put_durations(const struct metrics *metrics, struct bytes *out)
{
	const char *name = "wick_server_request_seconds";
	size_t i;
	size_t k;

	metrics_put_head(out, name, "histogram", "How long answers took.");
	for (i = 0; i < METRICS_ROUTES_MAX; i++) {
		const struct metrics_route *route = &metrics->routes[i];

		for (k = 0; k < METRICS_BUCKETS && route->count > 0; k++)
			bytes_printf(out, "%s_bucket{path=\"%s\",le=\"%g\"} %" PRIu64 "\n", name,
				     route->path, (double)bounds_ms[k] / 1000, route->buckets[k]);
		if (route->count > 0)
			bytes_printf(out,
				     "%s_bucket{path=\"%s\",le=\"+Inf\"} %" PRIu64 "\n"
				     "%s_sum{path=\"%s\"} %.9f\n%s_count{path=\"%s\"} %" PRIu64
				     "\n",
				     name, route->path, route->count, name, route->path,
				     (double)route->sum_ns / (double)NS_PER_SEC, name, route->path,
				     route->count);
	}
}

void metrics_put(struct metrics *metrics, struct bytes *out)
{
	const struct {
		const char *name;
		const char *help;
		const uint64_t *value;
	} counters[] = {
		{"wick_server_received_bytes_total", "Bytes of request bodies.",
		 &metrics->received_bytes},
		{"wick_server_windows_total", "Windows stored.", &metrics->windows},
		{"wick_server_windows_duplicate_total", "Windows that were stored already.",
		 &metrics->duplicate_windows},
		{"wick_server_windows_rejected_total", "Windows that were refused for good.",
		 &metrics->rejected_windows},
		{"wick_server_windows_delayed_total",
		 "Windows that could not be stored now, because of a full disk for example.",
		 &metrics->delayed_windows},
		{"wick_server_windows_shifted_total", "Windows from hosts whose clock is off.",
		 &metrics->shifted_windows},
		{"wick_server_rows_total", "Rows stored.", &metrics->rows},
		{"wick_server_maintain_failures_total", "Failed runs of the store's maintenance.",
		 &metrics->maintain_failures},
		{"wick_server_symbol_uploads_total", "Uploads of symbols.", &metrics->uploads},
		{"wick_server_symbol_upload_bytes_total", "Bytes of those, decompressed.",
		 &metrics->upload_bytes},
		{"wick_server_symbol_uploads_refused_total",
		 "Uploads of symbols that were refused.", &metrics->refused_uploads},
	};
	size_t i;

	(void)pthread_mutex_lock(&metrics->lock);
	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		metrics_put_value(out, counters[i].name, "counter", counters[i].help,
				  (double)*counters[i].value);
	put_requests(metrics, out);
	put_durations(metrics, out);
	(void)pthread_mutex_unlock(&metrics->lock);
}
