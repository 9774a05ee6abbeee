/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/call_readers.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/perf/call_reader.h"
#include "engine/perf/perf_engine.h"

#define BELL_NS (5 * NS_PER_MS)
#define BELL_MACHINE_NS (50 * NS_PER_MS)

struct call_readers {
	int bell_fd;
	size_t count;
	struct call_reader *readers[];
};

/* The readers wait for the rings, and wake the engine. */
static int watch_bell(struct perf_engine *engine, int bell_fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	for (size_t i = 0; i < engine->rings.count; i++)
		(void)epoll_ctl(engine->epoll_fd, EPOLL_CTL_DEL, engine->rings.items[i].fd, NULL);
	return epoll_ctl(engine->epoll_fd, EPOLL_CTL_ADD, bell_fd, &event);
}

struct call_readers *call_readers_open(struct perf_engine *engine)
{
	size_t count = engine->rings.count;
	struct call_readers *readers =
		calloc(1, sizeof(*readers) + count * sizeof(struct call_reader *));

	if (!readers)
		return NULL;
	readers->bell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (readers->bell_fd < 0 || watch_bell(engine, readers->bell_fd) < 0) {
		call_readers_close(readers);
		return NULL;
	}
	for (; readers->count < count; readers->count++) {
		const struct cpu_ring *ring = &engine->rings.items[readers->count];
		struct call_reader_config config = {
			.calls = engine->calls,
			.layout = &engine->layout,
			.ring = &ring->ring,
			.number = readers->count,
			.event_fd = ring->fd,
			.cpu = ring->cpu,
			.bell_fd = readers->bell_fd,
			.bell_ns = engine->machine ? BELL_MACHINE_NS : BELL_NS,
		};

		readers->readers[readers->count] = call_reader_open(&config);
		if (!readers->readers[readers->count])
			break;
	}
	return readers;
}

void call_readers_close(struct call_readers *readers)
{
	if (!readers)
		return;
	for (size_t i = 0; i < readers->count; i++)
		call_reader_close(readers->readers[i]);
	if (readers->bell_fd >= 0)
		(void)close(readers->bell_fd);
	free(readers);
}
