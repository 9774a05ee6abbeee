/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_FILE_SERVER_STATE_H
#define WICK_SERVER_FILES_FILE_SERVER_STATE_H

/* file_server_state: what the routes of a file server share. Private to src/server/files. */

#include <stdatomic.h>

#include "net/http_access.h"
#include "net/http_server.h"
#include "net/rate_limit.h"
#include "server/files/files_source.h"

struct file_server {
	struct files_source files; /* first: the routes of queries know nothing else */
	struct http_access access;
	struct rate_limit login_rate;
	struct http_server *http;
	int end_fd;            /* an eventfd that can be read when the recording has ended */
	atomic_bool has_ended; /* the recording of this program */
};

/* file_live.c */
http_handler route_files_live;

#endif
