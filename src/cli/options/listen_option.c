/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/listen_option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

int listen_option_parse(const char *text, char *ret_address, size_t size, uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	size_t n = strlen(text);
	uint64_t number = *port;

	if (text[0] == '[') {
		const char *end = strchr(text, ']');

		if (!end)
			return -EINVAL;
		colon = end[1] == ':' ? end + 1 : NULL;
		if (!colon && end[1])
			return -EINVAL;
		n = (size_t)(end - text) - 1;
		text++;
	} else if (colon && strchr(text, ':') == colon) {
		n = (size_t)(colon - text);
	} else {
		colon = NULL;
	}
	if (colon && (number_parse_u64(colon + 1, &number) < 0 || number > UINT16_MAX))
		return -EINVAL;
	if (n >= size)
		return -EINVAL;
	memcpy(ret_address, n > 0 ? text : "127.0.0.1", n > 0 ? n : 10);
	ret_address[n > 0 ? n : 9] = '\0';
	if (strcmp(ret_address, "localhost") == 0)
		(void)snprintf(ret_address, size, "127.0.0.1");
	*port = (uint16_t)number;
	return 0;
}

int listen_option_parse_port(const char *text, char *ret_address, size_t size, uint16_t *ret_port)
{
	uint64_t number;

	*ret_port = 0;
	if (number_parse_u64(text, &number) < 0)
		return listen_option_parse(text, ret_address, size, ret_port);
	if (number > UINT16_MAX)
		return -EINVAL;
	*ret_port = (uint16_t)number;
	(void)snprintf(ret_address, size, "127.0.0.1"); /* it fits */
	return 0;
}
