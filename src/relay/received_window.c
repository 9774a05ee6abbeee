/* SPDX-License-Identifier: BSD-2-Clause */
#include "relay/received_window.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "server/push/window.h"

/* The server must see the id unchanged. A window that a relay merged has parts with ids. */
static int find_id(const struct window *window, const char *told_id, struct received_window *ret,
		   struct error *err)
{
	const char *id = told_id && *told_id ? told_id : window->id;

	if (*id && strlen(id) < sizeof(ret->id) && (!*window->id || strcmp(id, window->id) == 0)) {
		(void)snprintf(ret->id, sizeof(ret->id), "%s", id);
		(void)snprintf(ret->host, sizeof(ret->host), "%s", window->host);
		return 0;
	}
	(void)error_set(err, -EINVAL, "the window has no id of its own");
	error_remedy(err, "send windows of wick agent; other profiles go to the server");
	return -EINVAL;
}

int received_window_check(const void *data, size_t size, size_t limit, const char *told_id,
			  struct received_window *ret, struct error *err)
{
	struct window window = {0};
	int r = window_read(&window, data, size, limit, err);

	if (r == 0)
		r = find_id(&window, told_id, ret, err);
	window_fini(&window);
	return r;
}
