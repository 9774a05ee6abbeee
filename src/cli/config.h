/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_CONFIG_H
#define WICK_CLI_CONFIG_H

/*
 * config: reads option values from the configuration file and the environment. The option tables
 * define the keys; this module knows none of them.
 *
 * The file is JSON, with sections of keys: {"sampling": {"frequency_hz": 997}}. Strings may
 * contain variables, and paths are relative to the directory of the file: see config_text.h. In
 * the environment, the same key is WICK_SAMPLING_FREQUENCY_HZ; there, commas separate the items of
 * a list, and colons separate paths.
 */

#include <stdbool.h>
#include <stddef.h>

struct command;
struct error;
struct json_t; /* of jansson, whose header clashes with base/json.h */
struct option_set;

/* Which defaults to start from. */
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
	char *path; /* of the file that was read; NULL if there was none */
	char *text;
	struct json_t *root;
	bool is_preset; /* weaker than the environment */
	char note[512]; /* to print: which file was ignored; "" if none was */
};

/*
 * Reads the file at path, which must exist. If path is NULL, reads the first that exists of
 * ./wick.json, $XDG_CONFIG_HOME/wick/config.json and /etc/wick/config.json; it is fine if there is
 * none, and a file that belongs neither to the user nor to root is ignored, with a note. path may
 * be a pipe that has a writer. The caller releases config with config_fini().
 */
int config_open(struct config *config, const char *path, struct error *err);

/* The values of a preset: a file of examples/presets that is built in. */
int config_open_preset(struct config *config, enum config_preset preset, struct error *err);

void config_fini(struct config *config);

/* Checks the whole file against the tables of all commands, and assigns the values of set. */
int config_apply_file(const struct config *config, const struct command *const *commands,
		      struct option_set *set, struct error *err);

/* Assigns the WICK_* variables for keys of set; others are ignored. */
int config_apply_environment(struct option_set *set, struct error *err);

/* Writes a note about a WICK_* variable that is not a setting. Returns false if there is none. */
bool config_find_strange_variable(const struct command *const *commands, char *ret_text,
				  size_t size);

/* Writes the name of the environment variable for a key. */
void config_variable_name(const char *key, char *ret_name, size_t size);

#endif
