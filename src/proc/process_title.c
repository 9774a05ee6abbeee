/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/process_title.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"

#define COMM_BYTES 15u /* of a program's name that the kernel keeps */

/* A title is one string, while arguments are several: it has zeros only at its end. */
static size_t title_size(const char *text, size_t size)
{
	size_t length = strnlen(text, size);

	for (size_t i = length; i < size; i++)
		if (text[i] != '\0')
			return 0;
	return length;
}

/* Whether a title begins like all titles: "NAME: ". */
static bool has_name(const char *text, size_t size, const char *comm)
{
	size_t known = strlen(comm);
	const char *colon = memchr(text, ':', size);
	size_t length = colon ? (size_t)(colon - text) : 0;

	if (known == 0 || length < known || (length > known && known < COMM_BYTES))
		return false;
	return memcmp(text, comm, known) == 0 && length + 1 < size && colon[1] == ' ' &&
	       !memchr(text, ' ', length);
}

/* Whether a word describes the process, and not what it works for: no argument, path, address. */
static bool is_plain(const char *word, size_t size)
{
	if (size > 0 && word[size - 1] == ':')
		return true; /* the name of a cluster, followed by the rest */
	for (size_t i = 0; i < size; i++)
		if (!isalpha((unsigned char)word[i]) && word[i] != '_' &&
		    !(i > 0 && word[i] == '-'))
			return false;
	return size > 0;
}

bool process_title_parse(const char *text, size_t size, const char *comm,
			 char ret[PROCESS_TITLE_MAX])
{
	size_t length = title_size(text, size);
	size_t used = 0;
	size_t words = 0;

	if (!has_name(text, length, comm))
		return false;
	for (size_t at = 0; at < length;) {
		const char *space = memchr(text + at, ' ', length - at);
		size_t end = space ? (size_t)(space - text) : length;

		if (!is_plain(text + at, end - at) || end >= PROCESS_TITLE_MAX)
			break;
		words++;
		used = end;
		at = end + 1;
	}
	memcpy(ret, text, used);
	ret[used] = '\0';
	return words > 1;
}

bool process_title_read(pid_t pid, const char *comm, char ret[PROCESS_TITLE_MAX])
{
	char path[64];
	char text[512];
	ssize_t size;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	size = fd < 0 ? -1 : read(fd, text, sizeof(text));
	return size > 0 && process_title_parse(text, (size_t)size, comm, ret);
}
