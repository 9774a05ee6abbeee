/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_SENDER_H
#define WICK_CLI_OPTIONS_SENDER_H

/* sender: what commands that send windows to a server have in common. */

#include <stddef.h>

struct error;

#define SENDER_TOKEN_MAX 1024

/*
 * The token to send: WICK_TOKEN, which is the choice of whoever starts us, or the first line of the
 * file. "" if neither is given (path NULL).
 */
int sender_token(const char *path, char ret[SENDER_TOKEN_MAX], struct error *err);

/*
 * The folder for windows that wait: the wanted one, or, if that is NULL, /var/lib/wick/NAME for
 * root and ~/.local/state/wick/NAME for others.
 */
int sender_spool(const char *wanted, const char *name, char *ret, size_t size, struct error *err);

#endif
