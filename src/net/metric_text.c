/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/metric_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

void metric_text_put(struct bytes *out, const char *prefix, const struct metric *metrics,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = metrics[i].name;
		size_t length = strlen(name);
		bool grows = length > 6 && strcmp(name + length - 6, "_total") == 0;

		bytes_printf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n%s%s %.15g\n", prefix, name,
			     metrics[i].help, prefix, name, grows ? "counter" : "gauge", prefix,
			     name, metrics[i].value);
	}
}
