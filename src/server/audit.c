/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/json.h"
#include "base/log.h"
#include "net/http_server.h"

static int reopen(struct audit *audit)
{
	struct stat status;

	audit->fd = open(audit->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (audit->fd < 0)
		return -errno;
	audit->size = fstat(audit->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
	return 0;
}

int audit_open(struct audit *audit, const char *path, struct error *err)
{
	int r;

	audit->fd = -1;
	(void)pthread_mutex_init(&audit->lock, NULL); /* never fails on Linux */
	audit->path = strdup(path);
	if (!audit->path)
		return error_set(err, -ENOMEM, "out of memory");
	r = reopen(audit);
	return r < 0 ? error_file(err, r, "cannot open %s", path) : 0;
}

void audit_close(struct audit *audit)
{
	if (audit->fd >= 0)
		(void)close(audit->fd); /* every line was written with its own call */
	free(audit->path);
	(void)pthread_mutex_destroy(&audit->lock);
}

static void rotate(struct audit *audit)
{
	struct bytes old = {0};

	bytes_printf(&old, "%s.1", audit->path);
	bytes_put_u8(&old, '\0');
	if (!old.failed && rename(audit->path, (const char *)old.data) == 0) {
		(void)close(audit->fd); /* every line was written with its own call */
		if (reopen(audit) < 0)
			audit->fd = -1;
	}
	bytes_fini(&old);
}

static void put_time(struct json *json, const char *key)
{
	time_t now = (time_t)(clock_realtime_ns() / NS_PER_SEC);
	struct tm utc;
	char text[32] = "";

	if (gmtime_r(&now, &utc))
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	json_string(json, key, text);
}

void audit_add(struct audit *audit, const struct http_call *request, unsigned int status,
	       const char *detail)
{
	struct bytes line = {0};
	struct json json;

	json_init(&json, &line, false);
	json_open_object(&json, NULL);
	put_time(&json, "time");
	json_string(&json, "who", request->who);
	json_string(&json, "client", request->client);
	json_string(&json, "path", request->path);
	json_u64(&json, "status", status);
	if (*detail)
		json_string(&json, "detail", detail);
	json_close(&json);
	bytes_put_u8(&line, '\n');
	(void)pthread_mutex_lock(&audit->lock);
	if (!line.failed && audit->fd >= 0) {
		if (audit->size + line.size > AUDIT_MAX_BYTES)
			rotate(audit);
		if (outfile_write_all(audit->fd, line.data, line.size) < 0)
			log_info("cannot write %s", audit->path);
		audit->size += line.size;
	}
	(void)pthread_mutex_unlock(&audit->lock);
	bytes_fini(&line);
}
