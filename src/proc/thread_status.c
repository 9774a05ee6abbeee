/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/thread_status.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "proc/process_info.h"

int thread_status_parse(const char *text, const char *name, int base, uint64_t *ret)
{
	size_t size = strlen(name);
	char *end;

	/*
	 * The name of a program comes first and is escaped: it cannot look like one of these lines.
	 */
	while (text && (strncmp(text, name, size) != 0 || text[size] != ':')) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	if (!text)
		return -ENOENT;
	text += size + 1;
	text += strspn(text, " \t");
	if (!isxdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	uint64_t value = strtoull(text, &end, base);
	if (errno != 0 || end == text)
		return -EINVAL;
	*ret = value;
	return 0;
}

int thread_status_read(pid_t tid, const char *name, int base, uint64_t *ret)
{
	char path[64];
	char text[4096]; /* all needed fields are in the first half */
	ssize_t n;

	process_path(path, sizeof(path), tid, "status");
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return thread_status_parse(text, name, base, ret);
}

static pid_t read_id(pid_t tid, const char *name)
{
	uint64_t value;

	return thread_status_read(tid, name, 10, &value) == 0 ? (pid_t)value : -1;
}

pid_t thread_process(pid_t tid)
{
	return read_id(tid, "Tgid");
}

pid_t thread_tracer(pid_t tid)
{
	return read_id(tid, "TracerPid");
}

bool thread_catches(pid_t tid, int number)
{
	uint64_t caught;

	return thread_status_read(tid, "SigCgt", 16, &caught) == 0 &&
	       (caught >> (number - 1) & 1) != 0;
}
