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

/* What follows the name of a field; NULL if there is no such line. */
static const char *find_field(const char *text, const char *name)
{
	size_t size = strlen(name);

	/*
	 * The name of a program comes first and is escaped: it cannot look like one of these lines.
	 */
	while (text && (strncmp(text, name, size) != 0 || text[size] != ':')) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	if (!text)
		return NULL;
	text += size + 1;
	return text + strspn(text, " \t");
}

int thread_status_parse(const char *text, const char *name, int base, uint64_t *ret)
{
	char *end;

	text = find_field(text, name);
	if (!text)
		return -ENOENT;
	if (!isxdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	uint64_t value = strtoull(text, &end, base);
	if (errno != 0 || end == text)
		return -EINVAL;
	*ret = value;
	return 0;
}

#define STATUS_BYTES 4096 /* all needed fields are in the first half */

static int read_status(pid_t tid, char text[STATUS_BYTES])
{
	char path[64];
	ssize_t n;

	process_path(path, sizeof(path), tid, "status");
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, STATUS_BYTES - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return 0;
}

int thread_status_read(pid_t tid, const char *name, int base, uint64_t *ret)
{
	char text[STATUS_BYTES];
	int r = read_status(tid, text);

	return r < 0 ? r : thread_status_parse(text, name, base, ret);
}

int thread_inner_tid(pid_t tid, pid_t *ret)
{
	char text[STATUS_BYTES];
	const char *numbers;
	size_t size;
	int r = read_status(tid, text);

	if (r < 0)
		return r;
	/* From the namespace of /proc to the innermost. */
	numbers = find_field(text, "NSpid");
	size = numbers ? strcspn(numbers, "\n") : 0;
	while (size > 0 && isdigit((unsigned char)numbers[size - 1]))
		size--;
	if (!numbers || !isdigit((unsigned char)numbers[size]))
		return -ENOENT;
	*ret = (pid_t)strtol(numbers + size, NULL, 10);
	return 0;
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
