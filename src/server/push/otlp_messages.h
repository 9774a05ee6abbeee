/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_PUSH_OTLP_MESSAGES_H
#define WICK_SERVER_PUSH_OTLP_MESSAGES_H

/*
 * otlp_messages: describes OpenTelemetry's ExportProfilesServiceRequest, to turn its JSON into the
 * protobuf that import/otlp.c reads. Fields that import/otlp.c ignores are left out.
 */

#include "server/connect_codec.h"

extern const struct connect_field otlp_profiles_request[];

#endif
