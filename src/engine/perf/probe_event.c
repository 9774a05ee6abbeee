/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/probe_event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"

/* A function's return instead of its entry: bit 0 of the kernel's uprobe events. */
#define RETURN_PROBE 1u

bool probe_event_is(const char *name)
{
	return strchr(name, ':') != NULL;
}

/* Reads the number in a file. Returns 0 or a negative errno. */
static int read_number(const char *path, uint64_t *ret)
{
	char text[32] = "";
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return n < 0 ? -errno : -EIO;
	*ret = strtoull(text, NULL, 10);
	return 0;
}

static int refuse_name(const char *name, struct error *err)
{
	(void)error_set(err, -EINVAL, "there is no event called %s", name);
	error_remedy(err, "tracepoints are GROUP:NAME, functions uprobe:FILE:FUNCTION; see: wick "
			  "list events");
	return -EINVAL;
}

static bool is_plain(const char *text)
{
	return text[0] && !strchr(text, '/') && text[0] != '.';
}

/* group:name; the kernel's number for it is in tracefs. */
static int find_tracepoint(struct probe_event *event, struct error *err)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char group[128];
	const char *colon = strchr(event->name, ':');
	bool mounted = false;
	bool hidden = false;

	(void)snprintf(group, sizeof(group), "%.*s", (int)(colon - event->name), event->name);
	if (!is_plain(group) || !is_plain(colon + 1))
		return refuse_name(event->name, err);
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		char path[512];

		(void)snprintf(path, sizeof(path), "%s/events", roots[i]);
		if (access(path, R_OK) == 0)
			mounted = true;
		else
			hidden |= errno == EACCES;
		(void)snprintf(path, sizeof(path), "%s/events/%s/%s/id", roots[i], group,
			       colon + 1);
		if (read_number(path, &event->kind.config) == 0)
			return 0;
	}
	if (mounted)
		return refuse_name(event->name, err);
	if (hidden)
		return error_advise(err,
				    error_set(err, -EACCES,
					      "only root can read the kernel's tracepoints (%s)",
					      roots[0]),
				    "run as root: sudo wick record -e %s …", event->name);
	(void)error_set(err, -ENOENT, "the kernel's tracepoints cannot be read");
	error_remedy(err, "as root: mount -t tracefs tracefs /sys/kernel/tracing");
	return -ENOENT;
}

/* FUNCTION, FUNCTION+0x10 or 0x1234. */
static int find_place(struct probe_event *event, char *place, probe_place_fn *find, void *self,
		      struct error *err)
{
	char *plus = strchr(place, '+');
	struct stat status;
	uint64_t more = 0;
	char *end = place;
	int r;

	if (strncmp(place, "0x", 2) == 0) {
		event->kind.config2 = strtoull(place, &end, 16);
		if (*end)
			return refuse_name(event->name, err);
		if (stat(event->path, &status) == 0 &&
		    event->kind.config2 >= (uint64_t)status.st_size)
			return error_advise(
				err,
				error_set(err, -EINVAL, "%s is past the end of %s", place,
					  event->path),
				"give an offset inside the file; nm and readelf -l show offsets");
		return 0;
	}
	if (plus) {
		more = strtoull(plus + 1, &end, 0);
		if (*end || end == plus + 1)
			return refuse_name(event->name, err);
		*plus = '\0';
	}
	if (!find)
		return error_advise(
			err,
			error_set(err, -EOPNOTSUPP, "no symbols are available to find %s", place),
			"give its offset in the file, 0x…");
	r = find(self, event->path, place, &event->kind.config2, err);
	event->kind.config2 += more;
	return r;
}

/* uprobe:FILE:PLACE */
static int find_function(struct probe_event *event, probe_place_fn *find, void *self,
			 struct error *err)
{
	static const char pmu[] = "/sys/bus/event_source/devices/uprobe/type";
	char *place;
	uint64_t type;
	int r;

	(void)snprintf(event->path, sizeof(event->path), "%s", strchr(event->name, ':') + 1);
	place = strrchr(event->path, ':');
	if (!place || place == event->path || !place[1])
		return refuse_name(event->name, err);
	*place++ = '\0';
	r = read_number(pmu, &type);
	if (r < 0)
		return error_advise(
			err,
			error_set(err, r, "this kernel does not support probes in programs (%s)",
				  pmu),
			"use a kernel with CONFIG_UPROBE_EVENTS");
	event->kind.type = (uint32_t)type;
	event->kind.config = event->name[1] == 'r' ? RETURN_PROBE : 0;
	event->kind.config1 = (uint64_t)(uintptr_t)event->path;
	return find_place(event, place, find, self, err);
}

int probe_event_find(const char *name, probe_place_fn *place, void *place_self,
		     struct probe_event *ret, struct error *err)
{
	*ret = (struct probe_event){
		.kind = {.name = ret->name,
			 .value = ret->name,
			 .unit = "count",
			 .type = PERF_TYPE_TRACEPOINT,
			 .default_period = 1},
	};
	if (strlen(name) >= sizeof(ret->name))
		return refuse_name("that", err);
	(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	if (strncmp(name, "uprobe:", strlen("uprobe:")) == 0 ||
	    strncmp(name, "uretprobe:", strlen("uretprobe:")) == 0)
		return find_function(ret, place, place_self, err);
	return find_tracepoint(ret, err);
}
