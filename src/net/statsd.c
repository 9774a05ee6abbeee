/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/statsd.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash_seed.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"

/* Fits into a packet of Ethernet, with room for tunnels. */
#define DATAGRAM_MAX 1400

/* What was sent of a counter so far. */
struct counter {
	uint64_t hash; /* of its name: with 64 bits nobody meets another */
	double value;
};

struct statsd {
	int fd;
	char *host;
	struct id_index index;
	VEC(struct counter) counters;
	struct bytes packet;
	struct bytes name; /* scratch */
};

/* The name and the port of "HOST:PORT"; brackets around an address are taken off. */
static bool split(const char *address, char ret_host[256], const char **ret_port)
{
	const char *colon = strrchr(address, ':');
	size_t length = colon ? (size_t)(colon - address) : 0;

	if (length > 2 && address[0] == '[' && address[length - 1] == ']') {
		address++;
		length -= 2;
	} else if (memchr(address, ':', length)) {
		return false; /* an address of IPv6 without brackets */
	}
	if (length == 0 || length > 255 || !colon[1])
		return false;
	memcpy(ret_host, address, length);
	ret_host[length] = '\0';
	*ret_port = colon + 1;
	return true;
}

static int open_socket(const struct addrinfo *found)
{
	for (; found; found = found->ai_next) {
		int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
				0);

		if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0)
			return fd;
		if (fd >= 0)
			(void)close(fd); /* nothing was sent */
	}
	return -errno;
}

static int open_address(const char *address, struct error *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
	struct addrinfo *found;
	char host[256];
	const char *port;
	int r;

	if (!split(address, host, &port)) {
		(void)error_set(err, -EINVAL, "--statsd %s: expected HOST:PORT", address);
		error_remedy(err, "for example --statsd 127.0.0.1:8125");
		return -EINVAL;
	}
	r = getaddrinfo(host, port, &hints, &found);
	if (r != 0) {
		(void)error_set(err, -EHOSTUNREACH, "--statsd %s: %s", address, gai_strerror(r));
		error_remedy(err, "give its address, or check the name");
		return -EHOSTUNREACH;
	}
	r = open_socket(found);
	freeaddrinfo(found);
	return r < 0 ? error_errno(err, r, "--statsd %s: cannot send there", address) : r;
}

int statsd_open(const char *address, const char *host, struct statsd **ret, struct error *err)
{
	struct statsd *statsd;
	int fd = open_address(address, err);

	if (fd < 0)
		return fd;
	statsd = calloc(1, sizeof(*statsd));
	if (statsd)
		statsd->host = strdup(host ? host : "");
	if (!statsd || !statsd->host) {
		(void)close(fd); /* nothing was sent */
		free(statsd);
		return error_set(err, -ENOMEM, "out of memory");
	}
	statsd->fd = fd;
	*ret = statsd;
	return 0;
}

void statsd_close(struct statsd *statsd)
{
	if (!statsd)
		return;
	(void)close(statsd->fd); /* what was sent is on its way */
	id_index_fini(&statsd->index);
	vec_fini(&statsd->counters);
	bytes_fini(&statsd->packet);
	bytes_fini(&statsd->name);
	free(statsd->host);
	free(statsd);
}

static void flush(struct statsd *statsd)
{
	if (statsd->packet.size > 0 && !statsd->packet.failed)
		(void)send(statsd->fd, statsd->packet.data, statsd->packet.size,
			   MSG_DONTWAIT | MSG_NOSIGNAL); /* nobody listens, or there is no room */
	bytes_clear(&statsd->packet);
}

/* Other characters have a meaning for StatsD, or for what stores the names. */
static void put_part(struct bytes *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '-';

		bytes_put_u8(out, plain ? (uint8_t)c : '_');
	}
}

/* Makes the name of a line's metric. Returns where its value is; NULL: the line has none. */
static const char *make_name(struct statsd *statsd, const char *line)
{
	struct bytes *name = &statsd->name;
	size_t length = strcspn(line, "{ \n");
	const char *at = line + length;

	bytes_clear(name);
	put_part(name, line, length);
	while (*at == '{' || *at == ',') {
		const char *value = strstr(at, "=\"");
		const char *end = value ? value + 2 : NULL;

		while (end && *end && *end != '"')
			end += end[0] == '\\' && end[1] ? 2 : 1;
		if (!end || !*end)
			return NULL;
		bytes_put_u8(name, '.');
		put_part(name, value + 2, (size_t)(end - value) - 2);
		at = end + 1;
	}
	if (statsd->host[0]) {
		bytes_put_u8(name, '.');
		put_part(name, statsd->host, strlen(statsd->host));
	}
	bytes_put_u8(name, '\0');
	at += *at == '}';
	return *at == ' ' && !name->failed ? at + 1 : NULL;
}

/* What was added to a counter since the last time. */
static double added(struct statsd *statsd, double value)
{
	uint64_t hash = XXH3_64bits_withSeed(statsd->name.data, statsd->name.size, hash_seed.first);
	struct id_probe probe = id_index_probe(&statsd->index, hash);
	struct counter counter = {hash, value};
	uint32_t id;
	double before;

	while ((id = id_probe_next(&statsd->index, &probe)) != ID_NONE) {
		if (statsd->counters.items[id].hash != hash)
			continue;
		before = statsd->counters.items[id].value;
		statsd->counters.items[id].value = value;
		return value - before;
	}
	/* If out of memory, this one is not sent: else it would be counted again. */
	if (vec_push(&statsd->counters, counter) < 0)
		return 0;
	if (id_index_add(&statsd->index, hash, (uint32_t)statsd->counters.count - 1) < 0) {
		statsd->counters.count--;
		return 0;
	}
	return value;
}

static void put_value(struct statsd *statsd, double value, char kind)
{
	char line[512];
	int length = snprintf(line, sizeof(line), "%s:%.15g|%c\n", (const char *)statsd->name.data,
			      value, kind);

	if (length < 0 || (size_t)length >= sizeof(line))
		return;
	if (statsd->packet.size + (size_t)length > DATAGRAM_MAX)
		flush(statsd);
	bytes_put(&statsd->packet, line, (size_t)length);
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length >= n && strncmp(text + length - n, end, n) == 0;
}

/* kind: what the metric is: 'c'ounter, 'g'auge or 'h'istogram. */
static void send_line(struct statsd *statsd, const char *line, char kind)
{
	const char *at;
	double value;
	char *end;

	if (kind == 'h' && ends_with(line, strcspn(line, "{ \n"), "_bucket"))
		return;
	at = make_name(statsd, line);
	if (!at)
		return;
	value = strtod(at, &end);
	if (end == at)
		return;
	if (kind != 'g') {
		value = added(statsd, value);
		if (value > 0)
			put_value(statsd, value, 'c');
		return;
	}
	if (value < 0)
		put_value(statsd, 0, 'g'); /* a sign means a change: so it starts from 0 */
	put_value(statsd, value, 'g');
}

void statsd_send(struct statsd *statsd, const char *text)
{
	char kind = 'g';

	if (!statsd)
		return;
	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL) {
		if (strncmp(text, "# TYPE ", 7) == 0) {
			const char *word = strchr(text + 7, ' ');

			kind = word ? word[1] : 'g';
		} else if (*text != '#' && *text != '\n') {
			send_line(statsd, text, kind);
		}
	}
	flush(statsd);
}
