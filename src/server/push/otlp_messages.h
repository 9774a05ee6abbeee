/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_PUSH_OTLP_MESSAGES_H
#define WICK_SERVER_PUSH_OTLP_MESSAGES_H

/*
 * otlp_messages: OpenTelemetry's ExportProfilesServiceRequest, with which its JSON becomes the
 * protobuf that import/otlp.c reads. Fields that it does not look at are missing.
 */

#include "server/connect_codec.h"

extern const struct connect_field otlp_profiles_request[];

#endif
