/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "net/http_client.h"

int http_url_check(const char *url, struct error *err)
{
	size_t scheme = strncmp(url, "http://", 7) == 0    ? 7
			: strncmp(url, "https://", 8) == 0 ? 8
							   : 0;

	if (scheme > 0 && strcspn(url + scheme, "/?#") > 0 &&
	    strcspn(url, " \t\r\n\"<>") == strlen(url))
		return 0;
	(void)error_set(err, -EINVAL, "invalid URL: %s", url);
	error_remedy(err, "write http://HOST:PORT or https://HOST:PORT");
	return -EINVAL;
}

void http_url_put(struct bytes *out, const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (isalnum(*at) || strchr("-_.~", *at))
			bytes_put_u8(out, *at);
		else
			bytes_printf(out, "%%%02X", *at);
	}
}
