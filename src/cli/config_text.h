/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_CONFIG_TEXT_H
#define WICK_CLI_CONFIG_TEXT_H

/*
 * config_text: strings of a configuration file: $NAME and ${NAME} are variables of the
 * environment, $$ is a dollar. Paths are relative to the folder of the file, or to $HOME when
 * they begin with ~/.
 */

#include <stdbool.h>

struct error;

/*
 * What text means in file; subject is what messages call the value. A variable that is not set
 * is -EINVAL. The caller frees *ret.
 */
int config_text_expand(const char *text, bool is_path, const char *file, const char *subject,
		       char **ret, struct error *err);

#endif
