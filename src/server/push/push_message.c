/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/push/push_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/bytes.h"
#include "base/error.h"
#include "import/protobuf_reader.h"
#include "server/connect_codec.h"
#include "store/store.h"

#define MAX_LABELS 64

static int refuse(struct error *err)
{
	(void)error_set(err, -EBADMSG, "the body is not a PushRequest");
	error_remedy(err, "send push.v1.PushRequest as application/proto or application/json");
	return -EBADMSG;
}

static const char *text_of(struct arena *arena, struct cursor body)
{
	const char *text = arena_strndup(arena, (const char *)body.at, cursor_left(&body));

	return text ? text : "";
}

static void read_label(struct arena *arena, struct cursor body, struct store_label *ret)
{
	struct protobuf_field field;

	*ret = (struct store_label){"", ""};
	while (protobuf_next(&body, &field)) {
		if (field.number == 1 && field.packed)
			ret->name = text_of(arena, field.body);
		if (field.number == 2 && field.packed)
			ret->value = text_of(arena, field.body);
	}
}

static int send_samples(struct arena *arena, struct cursor series, struct push_sample *sample,
			push_sample_fn *fn, void *self, struct error *err)
{
	struct protobuf_field field;
	int r = 0;

	while (r == 0 && protobuf_next(&series, &field)) {
		struct protobuf_field inner;

		if (field.number != 2)
			continue;
		sample->data = NULL;
		sample->size = 0;
		sample->id = "";
		while (protobuf_next(&field.body, &inner)) {
			if (inner.number == 1) {
				sample->data = inner.body.at;
				sample->size = cursor_left(&inner.body);
			}
			if (inner.number == 2 && inner.packed)
				sample->id = text_of(arena, inner.body);
		}
		if (sample->size > 0)
			r = fn(self, sample, err);
	}
	return r;
}

static int read_proto(struct cursor in, push_sample_fn *fn, void *self, struct error *err)
{
	struct store_label labels[MAX_LABELS];
	struct arena arena = {0};
	struct protobuf_field field;
	int r = 0;

	while (r == 0 && protobuf_next(&in, &field)) {
		struct push_sample sample = {.labels = labels};
		struct cursor series = field.body;
		struct protobuf_field inner;

		if (field.number != 1)
			continue;
		while (protobuf_next(&series, &inner))
			if (inner.number == 1 && sample.label_count < MAX_LABELS)
				read_label(&arena, inner.body, &labels[sample.label_count++]);
		r = series.failed ? refuse(err)
				  : send_samples(&arena, field.body, &sample, fn, self, err);
	}
	arena_fini(&arena);
	return r == 0 && in.failed ? refuse(err) : r;
}

static int send_json_series(const json_t *series, push_sample_fn *fn, void *self, struct error *err)
{
	const json_t *told = json_object_get(series, "labels");
	const json_t *samples = json_object_get(series, "samples");
	struct store_label labels[MAX_LABELS];
	struct push_sample sample = {.labels = labels};
	size_t i;
	int r = 0;

	for (i = 0; i < json_array_size(told) && i < MAX_LABELS; i++) {
		const json_t *label = json_array_get(told, i);
		const char *name = json_string_value(json_object_get(label, "name"));
		const char *value = json_string_value(json_object_get(label, "value"));

		labels[sample.label_count++] =
			(struct store_label){name ? name : "", value ? value : ""};
	}
	for (i = 0; i < json_array_size(samples) && r == 0; i++) {
		const json_t *item = json_array_get(samples, i);
		const char *text = json_string_value(json_object_get(item, "rawProfile"));
		const char *id = json_string_value(json_object_get(item, "ID"));
		struct bytes data = {0};

		if (!text)
			text = json_string_value(json_object_get(item, "raw_profile"));
		if (!text || !base64_decode(text, &data)) {
			bytes_fini(&data);
			return refuse(err);
		}
		sample.id = id ? id : "";
		sample.data = data.data;
		sample.size = data.size;
		r = fn(self, &sample, err);
		bytes_fini(&data);
	}
	return r;
}

static int read_json(const void *data, size_t size, push_sample_fn *fn, void *self,
		     struct error *err)
{
	json_t *root = connect_parse(data, size, err);
	const json_t *series = json_object_get(root, "series");
	size_t i;
	int r = root ? 0 : err->code;

	for (i = 0; i < json_array_size(series) && r == 0; i++)
		r = send_json_series(json_array_get(series, i), fn, self, err);
	json_decref(root);
	return r;
}

int push_message_read(const void *data, size_t size, bool is_json, push_sample_fn *fn, void *self,
		      struct error *err)
{
	return is_json ? read_json(data, size, fn, self, err)
		       : read_proto(cursor_of(size > 0 ? data : "", size), fn, self, err);
}
