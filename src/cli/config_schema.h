/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_CONFIG_SCHEMA_H
#define WICK_CLI_CONFIG_SCHEMA_H

/* config_schema: the JSON schema (draft 2020-12) of the configuration file, from the option tables.
 */

struct bytes;
struct command;
struct error;
struct json;
struct option_entry;

int config_schema_put(struct bytes *out, const struct command *const *commands, struct error *err);

/* Writes the value of an option as the configuration file would hold it; null when unset. */
void schema_put_value(struct json *json, const char *key, const struct option_entry *entry);

#endif
