/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/page_url.h"

#include <string.h>

void page_url_print(FILE *out, const char *address, uint16_t port, bool has_tls)
{
	bool is_six = strchr(address, ':') != NULL;

	/* Output without a reader is no failure of a server. */
	(void)fprintf(out, "%s://%s%s%s:%u/\n", has_tls ? "https" : "http", is_six ? "[" : "",
		      address, is_six ? "]" : "", port);
	(void)fflush(out);
}
