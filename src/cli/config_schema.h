/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_CONFIG_SCHEMA_H
#define WICK_CLI_CONFIG_SCHEMA_H

/* config_schema: makes the JSON schema (draft 2020-12) of the configuration from the tables. */

struct bytes;
struct command;
struct error;
struct json;
struct option_entry;

int config_schema_put(struct bytes *out, const struct command *const *commands, struct error *err);

/* Writes the value of an option as the configuration file would have it; null if unset. */
void schema_put_value(struct json *json, const char *key, const struct option_entry *entry);

#endif
