/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/process_facts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"
#include "base/vec.h"
#include "proc/process_info.h"

#define CONTAINER_DIGITS 64u /* of a full id */
/* A larger environment is not searched to its end. */
#define MAX_ENVIRON_BYTES (512u << 10)
/* Of a longer variable only the beginning is looked at. */
#define PIECE_BYTES 8192u
#define MAX_CGROUP_BYTES 16384u

/* Cut before an incomplete character, so that it stays UTF-8. */
void process_fact_copy(char *ret, size_t size, const char *text, size_t length)
{
	size_t used = 0;

	for (size_t at = 0; at < length && text[at];) {
		uint32_t code;
		unsigned int n = text_decode_utf8(text + at, &code);

		if (at + n > length || used + n >= size)
			break;
		if (code < 0x20 || code == 0x7f || code == 0xfffd)
			ret[used++] = '_';
		else
			for (unsigned int i = 0; i < n; i++)
				ret[used++] = text[at + i];
		at += n;
	}
	ret[used] = '\0';
}

/* Container runtimes put an id of 64 hexadecimal digits into the path, with various words around
 * it. */
static void find_container(const char *path, struct process_facts *facts)
{
	size_t run = 0;

	for (const char *at = path;; at++) {
		run = isxdigit((unsigned char)*at) ? run + 1 : 0;
		if (run == CONTAINER_DIGITS && !isxdigit((unsigned char)at[1]))
			process_fact_copy(facts->container, sizeof(facts->container),
					  at + 1 - CONTAINER_DIGITS, CONTAINER_DIGITS);
		if (!*at)
			return;
	}
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length > n && memcmp(text + length - n, end, n) == 0;
}

/*
 * The innermost service of the path. The manager of a user is not one: everything that the user
 * runs is below it.
 */
static void find_unit(const char *path, struct process_facts *facts)
{
	while (*path) {
		size_t length = strcspn(path, "/");

		if (ends_with(path, length, ".service"))
			process_fact_copy(facts->unit, sizeof(facts->unit),
					  strncmp(path, "user@", 5) == 0 ? "" : path, length);
		path += length + (path[length] == '/');
	}
}

/*
 * Lines are "NUMBER:CONTROLLERS:PATH". The unified hierarchy has number 0; a system of the first
 * version may have it too, with the root as its only group.
 */
static bool is_better(const char *path, size_t length, const struct process_facts *facts)
{
	return length < sizeof(facts->cgroup) && length > strlen(facts->cgroup) && path[0] == '/';
}

void process_facts_parse_cgroup(const char *text, struct process_facts *facts)
{
	facts->cgroup[0] = facts->container[0] = facts->unit[0] = '\0';
	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *colon = memchr(text, ':', length);
		const char *path =
			colon ? memchr(colon + 1, ':', length - (size_t)(colon + 1 - text)) : NULL;

		if (path && is_better(path + 1, length - (size_t)(path + 1 - text), facts))
			process_fact_copy(facts->cgroup, sizeof(facts->cgroup), path + 1,
					  length - (size_t)(path + 1 - text));
		text += length + (text[length] == '\n');
	}
	find_container(facts->cgroup, facts);
	find_unit(facts->cgroup, facts);
}

void process_facts_parse_variable(const char *variable, struct process_facts *facts)
{
	static const struct {
		const char *start;
		size_t offset;
		bool yields; /* to one that was found already */
	} known[] = {
		{"WICK_SERVICE=", offsetof(struct process_facts, service), false},
		{"OTEL_SERVICE_NAME=", offsetof(struct process_facts, service), true},
		{"WICK_RELEASE=", offsetof(struct process_facts, release), false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t n = strlen(known[i].start);
		char *fact = (char *)facts + known[i].offset;

		if (strncmp(variable, known[i].start, n) == 0 && !(known[i].yields && fact[0]))
			process_fact_copy(fact, PROCESS_FACT_MAX, variable + n,
					  strlen(variable + n));
	}
}

size_t process_facts_parse_environment(const char *text, size_t size, struct process_facts *facts)
{
	size_t at = 0;

	for (const char *end; (end = memchr(text + at, '\0', size - at));
	     at = (size_t)(end - text) + 1)
		process_facts_parse_variable(text + at, facts);
	return at;
}

/*
 * The environment at its start, which the process may have overwritten since. An agent reads it of
 * every program that it samples: a stream of the C library would double the cost. Returns whether
 * there was anything.
 */
static bool read_environment(int fd, struct process_facts *facts)
{
	char text[PIECE_BYTES + 1];
	size_t have = 0;
	ssize_t n = 1;
	size_t all;

	for (all = 0; n > 0 && all<MAX_ENVIRON_BYTES; all += n> 0 ? (size_t)n : 0) {
		size_t used;

		n = read(fd, text + have, PIECE_BYTES - have);
		have += n > 0 ? (size_t)n : 0;
		used = process_facts_parse_environment(text, have, facts);
		if (used == 0 && (n <= 0 || have == PIECE_BYTES)) {
			text[have] = '\0'; /* the last one, or one that is too long */
			process_facts_parse_variable(text, facts);
			used = have;
		}
		have -= used;
		memmove(text, text + used, have);
	}
	return all > 0;
}

/* Reads a file of /proc up to that size. Returns how much, or a negative errno. */
static ssize_t read_text(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;

	process_path(path, sizeof(path), pid, name);
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	n = fd < 0 ? -1 : read(fd, text, size);
	return n < 0 ? -errno : n;
}

int process_facts_read(pid_t pid, struct process_facts *ret)
{
	char path[64];
	char text[MAX_CGROUP_BYTES];
	ssize_t size = read_text(pid, "cgroup", text, sizeof(text) - 1);

	*ret = (struct process_facts){0};
	if (size <= 0)
		return -ESRCH;
	text[size] = '\0';
	process_facts_parse_cgroup(text, ret);
	process_path(path, sizeof(path), pid, "environ");
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	ret->is_bare = fd >= 0 && !read_environment(fd, ret);
	return 0;
}
