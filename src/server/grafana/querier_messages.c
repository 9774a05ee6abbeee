/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/grafana/querier_messages.h"

/* One field on each line. */
/* clang-format off */
#define FIELDS const struct connect_field

FIELDS querier_profile_types_request[] = {
	{"start", 1, CONNECT_INT64},
	{"end", 2, CONNECT_INT64},
	{NULL},
};

static FIELDS profile_type[] = {
	{"ID", 1, CONNECT_STRING},
	{"name", 2, CONNECT_STRING},
	{"sampleType", 4, CONNECT_STRING},
	{"sampleUnit", 5, CONNECT_STRING},
	{"periodType", 6, CONNECT_STRING},
	{"periodUnit", 7, CONNECT_STRING},
	{NULL},
};

FIELDS querier_profile_types_response[] = {
	{"profileTypes", 1, CONNECT_MESSAGE, true, profile_type},
	{NULL},
};

FIELDS querier_label_names_request[] = {
	{"matchers", 1, CONNECT_STRING, true},
	{"start", 2, CONNECT_INT64},
	{"end", 3, CONNECT_INT64},
	{NULL},
};

FIELDS querier_label_values_request[] = {
	{"name", 1, CONNECT_STRING},
	{"matchers", 2, CONNECT_STRING, true},
	{"start", 3, CONNECT_INT64},
	{"end", 4, CONNECT_INT64},
	{NULL},
};

FIELDS querier_names_response[] = {
	{"names", 1, CONNECT_STRING, true},
	{NULL},
};

FIELDS querier_series_request[] = {
	{"matchers", 1, CONNECT_STRING, true},
	{"labelNames", 2, CONNECT_STRING, true},
	{"start", 3, CONNECT_INT64},
	{"end", 4, CONNECT_INT64},
	{NULL},
};

static FIELDS label_pair[] = {
	{"name", 1, CONNECT_STRING},
	{"value", 2, CONNECT_STRING},
	{NULL},
};

static FIELDS labels[] = {
	{"labels", 1, CONNECT_MESSAGE, true, label_pair},
	{NULL},
};

FIELDS querier_series_response[] = {
	{"labelsSet", 2, CONNECT_MESSAGE, true, labels},
	{NULL},
};

FIELDS querier_stacktraces_request[] = {
	{"profileTypeID", 1, CONNECT_STRING},
	{"labelSelector", 2, CONNECT_STRING},
	{"start", 3, CONNECT_INT64},
	{"end", 4, CONNECT_INT64},
	{"maxNodes", 5, CONNECT_INT64},
	{NULL},
};

static FIELDS level[] = {
	{"values", 1, CONNECT_INT64, true},
	{NULL},
};

static FIELDS flame_graph[] = {
	{"names", 1, CONNECT_STRING, true},
	{"levels", 2, CONNECT_MESSAGE, true, level},
	{"total", 3, CONNECT_INT64},
	{"maxSelf", 4, CONNECT_INT64},
	{"leftTicks", 5, CONNECT_INT64},
	{"rightTicks", 6, CONNECT_INT64},
	{NULL},
};

FIELDS querier_stacktraces_response[] = {
	{"flamegraph", 1, CONNECT_MESSAGE, false, flame_graph},
	{NULL},
};

FIELDS querier_select_series_request[] = {
	{"profileTypeID", 1, CONNECT_STRING},
	{"labelSelector", 2, CONNECT_STRING},
	{"start", 3, CONNECT_INT64},
	{"end", 4, CONNECT_INT64},
	{"groupBy", 5, CONNECT_STRING, true},
	{"step", 6, CONNECT_DOUBLE},
	{NULL},
};

static FIELDS point[] = {
	{"value", 1, CONNECT_DOUBLE},
	{"timestamp", 2, CONNECT_INT64},
	{NULL},
};

static FIELDS series[] = {
	{"labels", 1, CONNECT_MESSAGE, true, label_pair},
	{"points", 2, CONNECT_MESSAGE, true, point},
	{NULL},
};

FIELDS querier_select_series_response[] = {
	{"series", 1, CONNECT_MESSAGE, true, series},
	{NULL},
};

FIELDS querier_diff_request[] = {
	{"left", 1, CONNECT_MESSAGE, false, querier_stacktraces_request},
	{"right", 2, CONNECT_MESSAGE, false, querier_stacktraces_request},
	{NULL},
};

FIELDS querier_diff_response[] = {
	{"flamegraph", 1, CONNECT_MESSAGE, false, flame_graph},
	{NULL},
};
/* clang-format on */
