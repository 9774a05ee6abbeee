/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/kernel_stack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last word of "63 0x3 0xffff84418000 … SP PC". */
static uint64_t last_word(const char *text)
{
	const char *space = strrchr(text, ' ');

	return space ? strtoull(space + 1, NULL, 16) : 0;
}

static ssize_t read_file(pid_t pid, pid_t tid, const char *name, char *text, size_t capacity)
{
	char path[64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, capacity);
	if (n < 0)
		n = -errno;
	(void)close(fd); /* nothing was written */
	return n;
}

int kernel_stack_read(pid_t pid, pid_t tid, struct kernel_stack *ret)
{
	char where[256];
	ssize_t n = read_file(pid, tid, "stack", ret->text, sizeof(ret->text));

	if (n < 0)
		return (int)n;
	ret->size = (size_t)n;
	ret->user_pc = 0;
	n = read_file(pid, tid, "syscall", where, sizeof(where) - 1);
	if (n < 0)
		return (int)n;
	where[n] = '\0';
	if (strncmp(where, "running", strlen("running")) == 0)
		return -EAGAIN;
	ret->user_pc = last_word(where);
	return 0;
}

int kernel_stack_probe(void)
{
	char byte;
	ssize_t n = read_file(getpid(), getpid(), "stack", &byte, sizeof(byte));

	return n < 0 ? (int)n : 0;
}

/* "[<0>] futex_wait_queue+0x60/0x90 [module]"; an old kernel has the address in brackets. */
static bool parse(const char *line, size_t size, struct kernel_stack_entry *ret)
{
	const char *name = memchr(line, ' ', size);
	const char *plus;

	if (line[0] != '[' || !name)
		return false;
	name++;
	plus = memchr(name, '+', size - (size_t)(name - line));
	if (!plus || plus == name || (size_t)(plus - name) >= sizeof(ret->name))
		return false;
	memcpy(ret->name, name, (size_t)(plus - name));
	ret->name[plus - name] = '\0';
	ret->offset = strtoull(plus + 1, NULL, 16);
	return true;
}

bool kernel_stack_next(const char **at, const char *end, struct kernel_stack_entry *ret)
{
	while (*at < end) {
		const char *line = *at;
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		if (!newline)
			break; /* truncated: its number may be as well */
		*at = newline + 1;
		if (parse(line, (size_t)(newline - line), ret))
			return true;
	}
	return false;
}
