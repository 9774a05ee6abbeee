/* SPDX-License-Identifier: BSD-2-Clause */
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
