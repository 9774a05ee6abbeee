/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/label_groups.h"
#include "export/protobuf.h"
#include "export/used_ids.h"
#include "model/entity.h"
#include "model/profile.h"

/*
 * otlp: OpenTelemetry ProfilesData, package profiles.v1development: a resource for each service,
 * release, container and host that labels tell, in it one Profile for each value type, and a shared
 * dictionary:
 *
 *	Sample ── stack_table ── location_table ── function_table
 *	  └─ attribute_table           └─ mapping_table
 *
 * Item 0 of every table is empty and means "none", so our numbers count from 1. Strings and
 * attributes are numbered in order of first use; the dictionary comes last.
 */

enum data_field { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY = 2 };
enum resource_profiles_field { RESOURCE_RESOURCE = 1, RESOURCE_SCOPE_PROFILES = 2 };
enum resource_field { RESOURCE_ATTRIBUTES = 1 };
enum key_value_field { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum scope_profiles_field { SCOPE_SCOPE = 1, SCOPE_PROFILES = 2 };
enum scope_field { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME_UNIX_NANO = 3,
	PROFILE_DURATION_NANO = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES = 2, SAMPLE_VALUES = 4 };
enum dictionary_field {
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_LINK = 4,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7,
};
enum mapping_field { MAPPING_MEMORY_LIMIT = 2, MAPPING_FILENAME = 4, MAPPING_ATTRIBUTES = 5 };
enum location_field {
	LOCATION_MAPPING = 1,
	LOCATION_ADDRESS = 2,
	LOCATION_LINES = 3,
	LOCATION_ATTRIBUTES = 4,
};
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME = 2, FUNCTION_FILENAME = 3 };
enum stack_field { STACK_LOCATIONS = 1 };
enum link_field { LINK_TRACE_ID = 1, LINK_SPAN_ID = 2 };
enum attribute_field { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2 };
enum any_value_field { ANY_STRING = 1, ANY_INT = 3 };

#define TRACE_ID_BYTES 16
#define SPAN_ID_BYTES 8

struct otlp {
	const struct profile *profile;
	const char *host; /* NULL: unknown */
	struct label_groups resources;
	struct used_ids used;
	VEC(uint32_t) stacks; /* by stack that a sample has: its number; 0: no sample has it */
	struct strings strings;
	struct strings attributes;    /* the encoded messages as text, to find equal ones */
	VEC(uint32_t) mappings;       /* by string id of the module: its number, 0: not yet */
	VEC(uint32_t) mapped_modules; /* by number: string id */
	struct bytes attribute_table; /* fields of the dictionary */
	struct bytes message;         /* scratch, and so are these */
	struct bytes part;
	bool failed;
};

static void otlp_fini(struct otlp *otlp)
{
	label_groups_fini(&otlp->resources);
	used_ids_fini(&otlp->used);
	vec_fini(&otlp->stacks);
	strings_fini(&otlp->strings);
	strings_fini(&otlp->attributes);
	vec_fini(&otlp->mappings);
	vec_fini(&otlp->mapped_modules);
	bytes_fini(&otlp->attribute_table);
	bytes_fini(&otlp->message);
	bytes_fini(&otlp->part);
}

static uint32_t string_of(struct otlp *otlp, const char *text)
{
	uint32_t id = strings_add(&otlp->strings, text);

	otlp->failed = otlp->failed || id == ID_NONE;
	return id == ID_NONE ? 0 : id;
}

/* The number of an attribute; if text is NULL its value is a number. Equal ones are stored once. */
static uint32_t attribute_of(struct otlp *otlp, const char *key, const char *text, int64_t number)
{
	struct bytes value = {0};
	struct bytes attribute = {0};
	struct bytes name = {0};
	size_t known = otlp->attributes.entries.count;
	uint32_t id = ID_NONE;
	size_t i;

	if (text)
		protobuf_string(&value, ANY_STRING, text);
	else
		protobuf_set_u64(&value, ANY_INT, (uint64_t)number);
	protobuf_u64(&attribute, ATTRIBUTE_KEY, string_of(otlp, key));
	protobuf_message(&attribute, ATTRIBUTE_VALUE, &value);
	for (i = 0; i < attribute.size; i++) { /* strings hold no NUL, messages do */
		bytes_put_u8(&name, (uint8_t)('a' + (attribute.data[i] & 15)));
		bytes_put_u8(&name, (uint8_t)('a' + (attribute.data[i] >> 4)));
	}
	if (!name.failed && !attribute.failed)
		id = strings_add_n(&otlp->attributes, (char *)name.data, name.size);
	otlp->failed = otlp->failed || id == ID_NONE;
	if (id != ID_NONE && id == known)
		protobuf_message(&otlp->attribute_table, DICTIONARY_ATTRIBUTE, &attribute);
	bytes_fini(&value);
	bytes_fini(&attribute);
	bytes_fini(&name);
	return id == ID_NONE ? 0 : id;
}

/* The number of a module among the mappings; 0: it has none. */
static uint32_t mapping_of(struct otlp *otlp, uint32_t module)
{
	if (module == 0)
		return 0;
	while (otlp->mappings.count <= module)
		if (vec_push(&otlp->mappings, 0) < 0) {
			otlp->failed = true;
			return 0;
		}
	if (otlp->mappings.items[module] == 0) {
		if (vec_push(&otlp->mapped_modules, module) < 0) {
			otlp->failed = true;
			return 0;
		}
		otlp->mappings.items[module] = (uint32_t)otlp->mapped_modules.count;
	}
	return otlp->mappings.items[module];
}

static void put_value_type(struct otlp *otlp, struct bytes *out, uint32_t field,
			   struct value_type type)
{
	protobuf_u64(&otlp->part, VALUE_TYPE_TYPE, string_of(otlp, type.name));
	protobuf_u64(&otlp->part, VALUE_TYPE_UNIT, string_of(otlp, type.unit));
	protobuf_message(out, field, &otlp->part);
}

/* Labels that are attributes of a resource, by the names of OpenTelemetry. */
static const struct {
	const char *label;
	const char *key;
} resource_labels[] = {
	{"service", "service.name"},
	{"release", "service.version"},
	{"container", "container.id"},
	{"host", "host.name"},
};

static bool is_of_resource(const char *label)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(resource_labels); i++)
		if (strcmp(label, resource_labels[i].label) == 0)
			return true;
	return false;
}

/* Keys are unique in a sample: labels must not use our own keys. */
static bool is_own_key(const char *key)
{
	static const char *const own[] = {"process.pid", "process.executable.name", "thread.id",
					  "thread.name", "thread.state"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own); i++)
		if (strcmp(key, own[i]) == 0)
			return true;
	return false;
}

static void put_sample_attributes(struct otlp *otlp, const struct profile_entry *entry)
{
	const struct profile *profile = otlp->profile;
	const struct profile_thread *thread = &profile->threads.items[entry->thread];
	struct label labels[LABELS_MAX];
	size_t n = label_sets_get(&profile->labels, &profile->strings, entry->labels, labels);
	struct bytes *out = &otlp->part;
	size_t i;

	bytes_put_varint(out, attribute_of(otlp, "process.pid", NULL, thread->pid));
	bytes_put_varint(out, attribute_of(otlp, "process.executable.name",
					   profile_text(profile, thread->process_comm), 0));
	bytes_put_varint(out, attribute_of(otlp, "thread.id", NULL, thread->tid));
	bytes_put_varint(out,
			 attribute_of(otlp, "thread.name", profile_text(profile, thread->comm), 0));
	if (entry->state != 0)
		bytes_put_varint(out, attribute_of(otlp, "thread.state",
						   profile_text(profile, entry->state), 0));
	for (i = 0; i < n; i++)
		if (!is_own_key(labels[i].key) && !is_of_resource(labels[i].key))
			bytes_put_varint(out,
					 attribute_of(otlp, labels[i].key, labels[i].value, 0));
	protobuf_message(&otlp->message, SAMPLE_ATTRIBUTES, out);
}

static void put_sample(struct otlp *otlp, size_t at, uint32_t value, struct bytes *out)
{
	const struct profile_entry *entry = &otlp->profile->entries.items[at];

	protobuf_u64(&otlp->message, SAMPLE_STACK, otlp->stacks.items[entry->stack]);
	put_sample_attributes(otlp, entry);
	bytes_put_varint(&otlp->part, (uint64_t)profile_entry_values(otlp->profile, at)[value]);
	protobuf_message(&otlp->message, SAMPLE_VALUES, &otlp->part);
	protobuf_message(out, PROFILE_SAMPLES, &otlp->message);
}

/* Some samples have only other values. */
static bool has_value(const struct otlp *otlp, size_t at, uint32_t value)
{
	return otlp->profile->value_count <= 2 ||
	       profile_entry_values(otlp->profile, at)[value] != 0;
}

/* Returns how many samples the resource has of this value type. */
static size_t put_samples(struct otlp *otlp, uint32_t value, uint32_t resource, struct bytes *out)
{
	const struct profile *profile = otlp->profile;
	size_t count = 0;
	size_t i;

	for (i = 0; i < profile->entries.count; i++) {
		uint32_t set = profile->entries.items[i].labels;

		if (otlp->resources.of_sets.items[set] != resource || !has_value(otlp, i, value))
			continue;
		put_sample(otlp, i, value, out);
		count++;
	}
	return count;
}

/* One value type of a resource; if no sample has it, only the first resource says so. */
static void put_profile(struct otlp *otlp, uint32_t value, uint32_t resource, struct bytes *out)
{
	const struct profile *profile = otlp->profile;
	struct bytes body = {0};
	size_t count;

	put_value_type(otlp, &body, PROFILE_SAMPLE_TYPE, profile->value_types[value]);
	count = put_samples(otlp, value, resource, &body);
	protobuf_fixed64(&body, PROFILE_TIME_UNIX_NANO, profile->start_realtime_ns);
	protobuf_u64(&body, PROFILE_DURATION_NANO, profile->duration_ns);
	if (profile->period_ns > 0) {
		put_value_type(otlp, &body, PROFILE_PERIOD_TYPE,
			       profile->value_types[profile->main_value]);
		protobuf_u64(&body, PROFILE_PERIOD, profile->period_ns);
	}
	if (count > 0 || resource == 0)
		protobuf_message(out, SCOPE_PROFILES, &body);
	bytes_fini(&body);
}

static void put_resource_attribute(struct otlp *otlp, const char *key, const char *text,
				   struct bytes *out)
{
	struct bytes attribute = {0};

	protobuf_string(&attribute, KEY_VALUE_KEY, key);
	protobuf_string(&otlp->part, ANY_STRING, text);
	protobuf_message(&attribute, KEY_VALUE_VALUE, &otlp->part);
	protobuf_message(out, RESOURCE_ATTRIBUTES, &attribute);
	bytes_fini(&attribute);
}

/* Without attributes there is no resource. */
static void put_resource(struct otlp *otlp, uint32_t resource, struct bytes *out)
{
	const struct profile *profile = otlp->profile;
	uint32_t set =
		resource < otlp->resources.sets.count ? otlp->resources.sets.items[resource] : 0;
	struct label labels[LABELS_MAX];
	size_t n = label_sets_get(&profile->labels, &profile->strings, set, labels);
	const char *host = otlp->host;
	size_t i;
	size_t k;

	for (i = 0; i < n; i++)
		for (k = 0; k < ARRAY_SIZE(resource_labels); k++) {
			if (strcmp(labels[i].key, resource_labels[k].label) != 0)
				continue;
			put_resource_attribute(otlp, resource_labels[k].key, labels[i].value,
					       &otlp->message);
			if (strcmp(labels[i].key, "host") == 0)
				host = NULL;
		}
	if (host)
		put_resource_attribute(otlp, "host.name", host, &otlp->message);
	if (otlp->message.size > 0)
		protobuf_message(out, RESOURCE_RESOURCE, &otlp->message);
}

/* By default readers show the first profile, so it is the main value. */
static void put_resource_profiles(struct otlp *otlp, uint32_t resource, struct bytes *out)
{
	const struct profile *profile = otlp->profile;
	struct bytes scope = {0};
	struct bytes body = {0};
	uint32_t i;

	put_resource(otlp, resource, &body);
	protobuf_string(&otlp->message, SCOPE_NAME, "wick");
	protobuf_string(&otlp->message, SCOPE_VERSION, WICK_VERSION);
	protobuf_message(&scope, SCOPE_SCOPE, &otlp->message);
	put_profile(otlp, profile->main_value, resource, &scope);
	for (i = 0; i < profile->value_count; i++)
		if (i != profile->main_value)
			put_profile(otlp, i, resource, &scope);
	protobuf_message(&body, RESOURCE_SCOPE_PROFILES, &scope);
	protobuf_message(out, DATA_RESOURCE_PROFILES, &body);
	bytes_fini(&scope);
	bytes_fini(&body);
}

/* A profile without samples is written too. */
static void put_all_resources(struct otlp *otlp, struct bytes *out)
{
	uint32_t resource = 0;

	do
		put_resource_profiles(otlp, resource, out);
	while (++resource < otlp->resources.sets.count);
}

static void put_stacks(struct otlp *otlp, struct bytes *out)
{
	const struct stack_node *nodes = otlp->profile->stacks.nodes.items;
	size_t i;
	uint32_t at;

	for (i = 1; i < otlp->stacks.count; i++) {
		if (otlp->stacks.items[i] == 0)
			continue;
		for (at = (uint32_t)i; at != 0; at = nodes[at].parent)
			bytes_put_varint(&otlp->part,
					 (uint64_t)otlp->used.locations.items[nodes[at].frame] + 1);
		protobuf_message(&otlp->message, STACK_LOCATIONS, &otlp->part);
		protobuf_message(out, DICTIONARY_STACK, &otlp->message);
	}
}

/* The OpenTelemetry name for a kind of code; NULL: none fits. */
static const char *frame_type(const struct profile *profile,
			      const struct profile_location *location)
{
	uint32_t function = profile->lines.items[location->first_line].function;

	switch ((enum function_origin)profile->functions.items[function].origin) {
	case ORIGIN_KERNEL:
		return "kernel";
	case ORIGIN_PROGRAM:
	case ORIGIN_LIBRARY:
		return "native";
	case ORIGIN_INTERPRETED:
		return "cpython";
	case ORIGIN_JIT:
	case ORIGIN_UNKNOWN:
	case ORIGIN_TRUNCATED:
		break;
	}
	return NULL;
}

static void put_location(struct otlp *otlp, const struct profile_location *location,
			 struct bytes *out)
{
	const struct profile_line *lines = otlp->profile->lines.items + location->first_line;
	const char *type = frame_type(otlp->profile, location);
	uint32_t i;

	protobuf_u64(&otlp->message, LOCATION_MAPPING, mapping_of(otlp, location->module));
	protobuf_u64(&otlp->message, LOCATION_ADDRESS, location->vaddr);
	for (i = location->line_count; i-- > 0;) { /* the innermost first */
		protobuf_u64(&otlp->part, LINE_FUNCTION,
			     (uint64_t)otlp->used.functions.items[lines[i].function] + 1);
		protobuf_u64(&otlp->part, LINE_LINE, lines[i].line);
		protobuf_message(&otlp->message, LOCATION_LINES, &otlp->part);
	}
	if (type) {
		bytes_put_varint(&otlp->part, attribute_of(otlp, "profile.frame.type", type, 0));
		protobuf_message(&otlp->message, LOCATION_ATTRIBUTES, &otlp->part);
	}
	protobuf_message(out, DICTIONARY_LOCATION, &otlp->message);
}

static void put_function(struct otlp *otlp, const struct profile_function *function,
			 struct bytes *out)
{
	uint32_t name = string_of(otlp, profile_text(otlp->profile, function->name));

	/* A function without any text would be the empty item. */
	if (name == 0)
		name = string_of(otlp, "[unnamed]");
	protobuf_u64(&otlp->message, FUNCTION_NAME, name);
	protobuf_u64(&otlp->message, FUNCTION_SYSTEM_NAME, name);
	protobuf_u64(&otlp->message, FUNCTION_FILENAME,
		     string_of(otlp, profile_text(otlp->profile, function->file)));
	protobuf_message(out, DICTIONARY_FUNCTION, &otlp->message);
}

/* Addresses are relative to the file, so a mapping covers the whole file. */
static void put_mapping(struct otlp *otlp, uint32_t path, struct bytes *out)
{
	const struct profile_module *module = profile_find_module(otlp->profile, path);
	char id[2 * BUILD_ID_MAX + 1];

	protobuf_u64(&otlp->message, MAPPING_MEMORY_LIMIT, UINT64_MAX);
	protobuf_u64(&otlp->message, MAPPING_FILENAME,
		     string_of(otlp, profile_text(otlp->profile, path)));
	if (module && module->build_id.size > 0) {
		build_id_format(&module->build_id, id);
		bytes_put_varint(&otlp->part,
				 attribute_of(otlp, "process.executable.build_id.gnu", id, 0));
		protobuf_message(&otlp->message, MAPPING_ATTRIBUTES, &otlp->part);
	}
	protobuf_message(out, DICTIONARY_MAPPING, &otlp->message);
}

static void put_empty_items(struct otlp *otlp, struct bytes *out)
{
	static const uint32_t tables[] = {DICTIONARY_MAPPING, DICTIONARY_LOCATION,
					  DICTIONARY_FUNCTION, DICTIONARY_ATTRIBUTE,
					  DICTIONARY_STACK};
	static const uint8_t zeros[TRACE_ID_BYTES];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		protobuf_message(out, tables[i], &otlp->message);
	protobuf_bytes(&otlp->message, LINK_TRACE_ID, zeros, TRACE_ID_BYTES);
	protobuf_bytes(&otlp->message, LINK_SPAN_ID, zeros, SPAN_ID_BYTES);
	protobuf_message(out, DICTIONARY_LINK, &otlp->message);
}

static void put_dictionary(struct otlp *otlp, struct bytes *out)
{
	const struct profile *profile = otlp->profile;
	struct bytes body = {0};
	size_t i;

	put_empty_items(otlp, &body);
	put_stacks(otlp, &body);
	for (i = 0; i < profile->locations.count; i++)
		if (otlp->used.locations.items[i] != ID_NONE)
			put_location(otlp, &profile->locations.items[i], &body);
	for (i = 0; i < profile->functions.count; i++)
		if (otlp->used.functions.items[i] != ID_NONE)
			put_function(otlp, &profile->functions.items[i], &body);
	for (i = 0; i < otlp->mapped_modules.count; i++)
		put_mapping(otlp, otlp->mapped_modules.items[i], &body);
	bytes_put(&body, otlp->attribute_table.data, otlp->attribute_table.size);
	for (i = 0; i < otlp->strings.entries.count; i++)
		protobuf_string(&body, DICTIONARY_STRING, strings_get(&otlp->strings, (uint32_t)i));
	protobuf_message(out, DATA_DICTIONARY, &body);
	bytes_fini(&body);
}

/*
 * Stacks are lists here: callers that are not themselves the stack of a sample are not in the
 * table.
 */
static int number_stacks(struct otlp *otlp)
{
	const struct profile *profile = otlp->profile;
	uint32_t next = 0;
	size_t i;

	for (i = 0; i < profile->stacks.nodes.count; i++)
		if (vec_push(&otlp->stacks, 0) < 0)
			return -ENOMEM;
	for (i = 0; i < profile->entries.count; i++)
		otlp->stacks.items[profile->entries.items[i].stack] = 1;
	otlp->stacks.items[0] = 0;
	for (i = 0; i < otlp->stacks.count; i++)
		if (otlp->stacks.items[i] != 0)
			otlp->stacks.items[i] = ++next;
	return 0;
}

static int otlp_write(const struct profile *profile, const struct export_config *config,
		      struct bytes *out, struct error *err)
{
	struct otlp otlp = {.profile = profile, .host = config->host};
	int r = strings_init(&otlp.strings);

	if (r == 0)
		r = strings_init(&otlp.attributes);
	if (r == 0)
		r = label_groups_init(&otlp.resources, profile, is_of_resource);
	if (r == 0)
		r = used_ids_by_entries(&otlp.used, profile);
	if (r == 0)
		r = number_stacks(&otlp);
	if (r == 0) {
		put_all_resources(&otlp, out);
		put_dictionary(&otlp, out);
		r = otlp.failed || otlp.attribute_table.failed ? -ENOMEM : 0;
	}
	otlp_fini(&otlp);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

const struct exporter_ops export_otlp = {
	.name = "otlp",
	.summary = "OpenTelemetry ProfilesData (profiles v1development)",
	.extension = "otlp",
	.binary = true,
	.write = otlp_write,
};
