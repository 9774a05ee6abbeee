/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_STATUS_JSON_H
#define WICK_CLI_COMMANDS_PARTS_STATUS_JSON_H

/*
 * status_json: writes the answers of recorders as JSON. The answers come from other processes,
 * perhaps of other users, so everything is escaped by base/json.h. That header cannot be included
 * together with the one of the parser (jansson), hence this module.
 */

#include <stdint.h>

struct bytes;
struct status_json;

enum status_value_kind { STATUS_NOTHING, STATUS_NULL, STATUS_STRING, STATUS_NUMBER, STATUS_REAL };

struct status_value {
	const char *key;
	enum status_value_kind kind;
	union {
		const char *text;
		int64_t number;
		double real;
	};
};

struct status_json *status_json_new(void); /* NULL if out of memory */

/* One answer: open, its values and lists, close. Inside a list, keys are NULL. */
void status_json_open(struct status_json *json);
void status_json_open_list(struct status_json *json, const char *key);
void status_json_put(struct status_json *json, struct status_value value);
void status_json_close(struct status_json *json);

/* Ends the list of answers. The text lives until json is freed. */
const struct bytes *status_json_end(struct status_json *json);
void status_json_free(struct status_json *json); /* NULL is fine */

#endif
