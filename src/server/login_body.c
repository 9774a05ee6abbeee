/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/login_body.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#define BODY_MAX 4096u

bool login_body_read(const void *data, size_t size, char ret[TOKEN_SECRET_MAX])
{
	json_error_t why;
	json_t *root = size <= BODY_MAX ? json_loadb(data, size, 0, &why) : NULL;
	const char *text = json_string_value(json_object_get(root, "token"));
	bool fits = text && strlen(text) < TOKEN_SECRET_MAX;

	(void)snprintf(ret, TOKEN_SECRET_MAX, "%s", fits ? text : ""); /* it fits */
	json_decref(root);
	return text != NULL;
}
