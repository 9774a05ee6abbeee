/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_CONFIG_TEXT_H
#define WICK_CLI_CONFIG_TEXT_H

/*
 * config_text: expands strings of a configuration file. $NAME and ${NAME} are environment
 * variables, $$ is a dollar sign. Paths are relative to the directory of the file, or to $HOME if
 * they begin with ~/.
 */

#include <stdbool.h>

struct error;

/*
 * Expands text, a value in file; subject is what messages call the value. Returns -EINVAL if a
 * variable is not set. The caller frees *ret.
 */
int config_text_expand(const char *text, bool is_path, const char *file, const char *subject,
		       char **ret, struct error *err);

#endif
