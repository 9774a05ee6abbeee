/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_LOGIN_BODY_H
#define WICK_SERVER_LOGIN_BODY_H

/* login_body: the token in the body of a login: {"token": "wick_..."}. It comes from anybody. */

#include <stdbool.h>
#include <stddef.h>

#include "net/token.h"

/* A text that is too long for a token is "", which is none. false: there is no text. */
bool login_body_read(const void *data, size_t size, char ret[TOKEN_SECRET_MAX]);

#endif
