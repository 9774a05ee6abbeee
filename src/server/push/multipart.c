/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/push/multipart.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The boundary as it stands in the body: "--" and the word of the header. */
static bool read_boundary(const char *content_type, char *ret, size_t size)
{
	const char *at = strcasestr(content_type, "boundary=");
	size_t n;

	if (strncasecmp(content_type, "multipart/form-data", 19) != 0 || !at)
		return false;
	at += 9;
	if (*at == '"')
		at++;
	n = strcspn(at, "\";\r\n ");
	return n > 0 && n + 3 < size && snprintf(ret, size, "--%.*s", (int)n, at) > 0;
}

static bool has_name(const uint8_t *head, size_t size, const char *name)
{
	char wanted[80];
	int n = snprintf(wanted, sizeof(wanted), "name=\"%s\"", name);
	const uint8_t *at = memmem(head, size, wanted, (size_t)n);

	/* Not the end of filename="…". */
	return at && (at == head || at[-1] == ' ' || at[-1] == ';');
}

bool multipart_find(const char *content_type, const uint8_t *body, size_t size, const char *name,
		    struct multipart_part *ret)
{
	char boundary[128];
	const uint8_t *end = body + size;
	const uint8_t *at;
	size_t n;

	if (!read_boundary(content_type, boundary, sizeof(boundary)))
		return false;
	n = strlen(boundary);
	at = memmem(body, size, boundary, n);
	while (at) {
		const uint8_t *head = at + n;
		const uint8_t *data = memmem(head, (size_t)(end - head), "\r\n\r\n", 4);
		const uint8_t *next = data ? memmem(data, (size_t)(end - data), boundary, n) : NULL;

		if (!next)
			return false;
		data += 4;
		if (has_name(head, (size_t)(data - head), name) && next >= data + 2) {
			ret->data = data;
			ret->size = (size_t)(next - data) - 2; /* without the last line end */
			return true;
		}
		at = next;
	}
	return false;
}
