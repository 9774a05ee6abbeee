/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_GRAFANA_QUERIER_MESSAGES_H
#define WICK_SERVER_GRAFANA_QUERIER_MESSAGES_H

/* querier_messages: the messages of Pyroscope's QuerierService, as far as we use them. */

#include "server/connect_codec.h"

extern const struct connect_field querier_profile_types_request[];
extern const struct connect_field querier_profile_types_response[];
extern const struct connect_field querier_label_names_request[];
extern const struct connect_field querier_label_values_request[];
extern const struct connect_field querier_names_response[];
extern const struct connect_field querier_series_request[];
extern const struct connect_field querier_series_response[];
extern const struct connect_field querier_stacktraces_request[];
extern const struct connect_field querier_stacktraces_response[];
extern const struct connect_field querier_select_series_request[];
extern const struct connect_field querier_select_series_response[];
extern const struct connect_field querier_diff_request[];
extern const struct connect_field querier_diff_response[];

#endif
