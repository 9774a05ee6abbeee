/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Messages of Pyroscope's clients, as JSON or protobuf: what was read is written in both ways, and
 * what was written is readable. The first byte chooses the message and the way.
 */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "server/grafana/querier_messages.h"
#include "server/push/otlp_messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct connect_field *const messages[] = {
	querier_profile_types_request, querier_label_names_request, querier_label_values_request,
	querier_series_request,        querier_stacktraces_request, querier_select_series_request,
	querier_diff_request,          querier_diff_response,       querier_series_response,
	otlp_profiles_request,
};

static void write_and_read(const struct connect_field *fields, const json_t *message, bool as_json)
{
	struct bytes out = {0};
	struct error err = {0};
	json_t *again;

	connect_write(fields, message, as_json, &out);
	if (!out.failed) {
		again = connect_read(fields, out.data, out.size, as_json, &err);
		if (!again && err.code != -EFBIG)
			abort();
		json_decref(again);
	}
	bytes_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct connect_field *fields;
	struct error err = {0};
	json_t *message;

	if (size < 1)
		return 0;
	fields = messages[(data[0] >> 1) % (sizeof(messages) / sizeof(messages[0]))];
	message = connect_read(fields, data + 1, size - 1, data[0] & 1, &err);
	if (!message) {
		if (!err.text[0])
			abort(); /* it has to say why */
		return 0;
	}
	(void)connect_number(message, "start");
	(void)connect_text(message, "labelSelector");
	write_and_read(fields, message, true);
	write_and_read(fields, message, false);
	json_decref(message);
	return 0;
}
