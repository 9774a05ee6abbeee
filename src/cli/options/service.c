/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/service.h"

#include <stdio.h>
#include <string.h>

void service_hold_signals(sigset_t *ret)
{
	(void)sigemptyset(ret); /* these cannot fail */
	(void)sigaddset(ret, SIGTERM);
	(void)sigaddset(ret, SIGINT);
	(void)sigaddset(ret, SIGHUP);
	(void)pthread_sigmask(SIG_BLOCK, ret, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

void service_url(bool has_tls, const char *address, uint16_t port, char ret[SERVICE_URL_MAX])
{
	const char *open = strchr(address, ':') ? "[" : "";

	(void)snprintf(ret, SERVICE_URL_MAX, "%s://%s%s%s:%u", has_tls ? "https" : "http", open,
		       address, *open ? "]" : "", port);
}
