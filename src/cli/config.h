/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_CONFIG_H
#define WICK_CLI_CONFIG_H

/*
 * config: the configuration file and the environment as sources of option
 * values. The option tables say which keys exist; this module knows none itself.
 *
 * The file is JSON: sections of keys, {"sampling": {"frequency_hz": 997}}. The
 * Strings may have variables, paths are those from the folder of the file: config_text.h. The
 * same key in the environment is WICK_SAMPLING_FREQUENCY_HZ; lists there are
 * separated by commas, lists of paths by colons.
 */

#include <stdbool.h>
#include <stddef.h>

struct command;
struct error;
struct json_t; /* of jansson, whose header clashes with base/json.h */
struct option_set;

/* What values to start from. */
enum config_preset {
	CONFIG_PRESET_NONE,
	CONFIG_PRESET_PRODUCTION,
	CONFIG_PRESET_DEVELOPMENT,
	CONFIG_PRESET_MICRO,
	CONFIG_PRESET_HEAP,
};

/* The sections a file may have, NULL last. */
extern const char *const config_sections[];

struct config {
	char *path; /* of the file that was read; NULL when there was none */
	char *text;
	struct json_t *root;
	bool is_preset; /* weaker than the environment */
	char note[512]; /* for stderr: a file that was left aside; "" for none */
};

/*
 * Reads the file at path, which must exist; without a path the first that exists
 * of ./wick.json, $XDG_CONFIG_HOME/wick/config.json and /etc/wick/config.json.
 * None at all is fine, and one that belongs neither to the user nor to root is left aside with
 * a note. A pipe may be given if it has a writer. The caller releases with config_fini().
 */
int config_open(struct config *config, const char *path, struct error *err);
/* The values that wick brings under a name: a file of examples/presets. */
int config_open_preset(struct config *config, enum config_preset preset, struct error *err);

void config_fini(struct config *config);

/*
 * Checks the whole file against the tables of all commands and assigns what
 * concerns set.
 */
int config_apply_file(const struct config *config, const struct command *const *commands,
		      struct option_set *set, struct error *err);

/* Assigns the WICK_* variables that belong to keys of set; others are ignored. */
int config_apply_environment(struct option_set *set, struct error *err);

/* Words about a variable that looks like one of a key, and is of none; false: there is none. */
bool config_find_strange_variable(const struct command *const *commands, char *ret_text,
				  size_t size);

/* Writes the name of the environment variable of a key. */
void config_variable_name(const char *key, char *ret_name, size_t size);

#endif
