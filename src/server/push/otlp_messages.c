/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/push/otlp_messages.h"

/* One field on each line. */
/* clang-format off */
#define FIELDS const struct connect_field

/* Lists and maps are left out: they do not become labels. */
static FIELDS any_value[] = {
	{"stringValue", 1, CONNECT_STRING},
	{"boolValue", 2, CONNECT_BOOL},
	{"intValue", 3, CONNECT_INT64},
	{NULL},
};

static FIELDS key_value[] = {
	{"key", 1, CONNECT_STRING},
	{"value", 2, CONNECT_MESSAGE, false, any_value},
	{NULL},
};

static FIELDS resource[] = {
	{"attributes", 1, CONNECT_MESSAGE, true, key_value},
	{NULL},
};

static FIELDS value_type[] = {
	{"typeStrindex", 1, CONNECT_INT64},
	{"unitStrindex", 2, CONNECT_INT64},
	{NULL},
};

static FIELDS sample[] = {
	{"stackIndex", 1, CONNECT_INT64},
	{"attributeIndices", 2, CONNECT_INT64, true},
	{"linkIndex", 3, CONNECT_INT64},
	{"values", 4, CONNECT_INT64, true},
	{"timestampsUnixNano", 5, CONNECT_FIXED64, true},
	{NULL},
};

static FIELDS profile[] = {
	{"sampleType", 1, CONNECT_MESSAGE, false, value_type},
	{"samples", 2, CONNECT_MESSAGE, true, sample},
	{"timeUnixNano", 3, CONNECT_FIXED64},
	{"durationNano", 4, CONNECT_INT64},
	{"periodType", 5, CONNECT_MESSAGE, false, value_type},
	{"period", 6, CONNECT_INT64},
	{"attributeIndices", 11, CONNECT_INT64, true},
	{NULL},
};

static FIELDS scope_profiles[] = {
	{"profiles", 2, CONNECT_MESSAGE, true, profile},
	{NULL},
};

static FIELDS resource_profiles[] = {
	{"resource", 1, CONNECT_MESSAGE, false, resource},
	{"scopeProfiles", 2, CONNECT_MESSAGE, true, scope_profiles},
	{NULL},
};

static FIELDS mapping[] = {
	{"memoryStart", 1, CONNECT_INT64},
	{"memoryLimit", 2, CONNECT_INT64},
	{"fileOffset", 3, CONNECT_INT64},
	{"filenameStrindex", 4, CONNECT_INT64},
	{"attributeIndices", 5, CONNECT_INT64, true},
	{NULL},
};

static FIELDS line[] = {
	{"functionIndex", 1, CONNECT_INT64},
	{"line", 2, CONNECT_INT64},
	{"column", 3, CONNECT_INT64},
	{NULL},
};

static FIELDS location[] = {
	{"mappingIndex", 1, CONNECT_INT64},
	{"address", 2, CONNECT_INT64},
	{"lines", 3, CONNECT_MESSAGE, true, line},
	{"attributeIndices", 4, CONNECT_INT64, true},
	{NULL},
};

static FIELDS function[] = {
	{"nameStrindex", 1, CONNECT_INT64},
	{"systemNameStrindex", 2, CONNECT_INT64},
	{"filenameStrindex", 3, CONNECT_INT64},
	{"startLine", 4, CONNECT_INT64},
	{NULL},
};

static FIELDS attribute[] = {
	{"keyStrindex", 1, CONNECT_INT64},
	{"value", 2, CONNECT_MESSAGE, false, any_value},
	{"unitStrindex", 3, CONNECT_INT64},
	{NULL},
};

static FIELDS stack[] = {
	{"locationIndices", 1, CONNECT_INT64, true},
	{NULL},
};

static FIELDS dictionary[] = {
	{"mappingTable", 1, CONNECT_MESSAGE, true, mapping},
	{"locationTable", 2, CONNECT_MESSAGE, true, location},
	{"functionTable", 3, CONNECT_MESSAGE, true, function},
	{"stringTable", 5, CONNECT_STRING, true},
	{"attributeTable", 6, CONNECT_MESSAGE, true, attribute},
	{"stackTable", 7, CONNECT_MESSAGE, true, stack},
	{NULL},
};

FIELDS otlp_profiles_request[] = {
	{"resourceProfiles", 1, CONNECT_MESSAGE, true, resource_profiles},
	{"dictionary", 2, CONNECT_MESSAGE, false, dictionary},
	{NULL},
};
/* clang-format on */
