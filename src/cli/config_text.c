/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/config_text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"
#define MAX_NAME 128

/* Appends the variable whose name follows a $. Returns the text after it, or NULL with err. */
static const char *put_variable(struct bytes *out, const char *at, const char *subject,
				struct error *err)
{
	bool braces = *at == '{';
	size_t n = strspn(at + braces, NAME_LETTERS);
	char name[MAX_NAME];
	const char *value;

	(void)snprintf(name, sizeof(name), "%.*s", (int)n, at + braces);
	if (n == 0 || n >= MAX_NAME || (braces && at[1 + n] != '}')) {
		(void)error_set(err, -EINVAL, "%s: a name must follow $", subject);
		error_remedy(err,
			     "$NAME or ${NAME} is an environment variable, $$ is a dollar sign");
		return NULL;
	}
	value = getenv(name);
	if (!value) {
		(void)error_set(err, -EINVAL, "%s: the variable $%s is not set", subject, name);
		error_remedy(err, "set it, or write $$ for a dollar sign");
		return NULL;
	}
	bytes_put(out, value, strlen(value));
	return at + braces + n + braces;
}

int config_text_expand(const char *text, bool is_path, const char *file, const char *subject,
		       char **ret, struct error *err)
{
	const char *slash = strrchr(file, '/');
	struct bytes out = {0};
	int r = 0;

	if (is_path && strncmp(text, "~/", 2) == 0) { /* as in a shell */
		text = put_variable(&out, "HOME", subject, err) ? text + 1 : "";
		r = *text ? 0 : -EINVAL;
	}
	/* If the text begins with a variable, its value decides whether the path is absolute. */
	while (r == 0 && *text) {
		if (text[0] != '$') {
			bytes_put_u8(&out, (uint8_t)*text++);
		} else if (text[1] == '$') {
			bytes_put_u8(&out, '$');
			text += 2;
		} else {
			text = put_variable(&out, text + 1, subject, err);
			r = text ? 0 : -EINVAL;
		}
	}
	bytes_put_u8(&out, 0);
	if (r == 0 && is_path && slash && out.size > 1 && out.data[0] != '/') {
		struct bytes whole = {0};

		bytes_put(&whole, file, (size_t)(slash + 1 - file));
		bytes_put(&whole, out.data, out.size);
		bytes_fini(&out);
		out = whole;
	}
	if (r == 0 && out.failed)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r < 0)
		bytes_fini(&out);
	else
		*ret = (char *)out.data;
	return r;
}
