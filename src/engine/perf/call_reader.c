/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/call_reader.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/clock.h"
#include "engine/perf/ring.h"
#include "engine/perf/sample_calls.h"
#include "perf_records/perf_record.h"

#define FULL_SHARE 4 /* of a ring: then it should be drained */
#define TURN_NS (100 * NS_PER_US)

/* What sched_setattr() reads; C libraries differ in whether they declare it. */
struct turn_request {
	uint32_t size;
	uint32_t policy; /* 0: the usual one */
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t turn_ns;
	uint64_t deadline_ns;
	uint64_t period_ns;
};

struct call_reader {
	struct call_reader_config config;
	struct ring view; /* with a position of its own; never released */
	uint64_t rung_ns;
	bool ends;
	int epoll_fd; /* for its ring and for stop_fd */
	int stop_fd;
	pthread_t thread;
};

static void ring_bell(const struct call_reader *reader)
{
	uint64_t one = 1;

	(void)!write(reader->config.bell_fd, &one, sizeof(one)); /* it is rung already */
}

static void read_record(struct call_reader *reader, const struct perf_event_header *header)
{
	struct sample_record sample;
	uint64_t now_ns;

	if (header->type != PERF_RECORD_SAMPLE ||
	    !perf_record_sample(reader->config.layout, header, &sample) || sample.pid <= 0 ||
	    sample_calls_read(reader->config.calls, reader->config.number, reader->view.tail,
			      &sample))
		return;
	now_ns = clock_monotonic_ns();
	if (now_ns - reader->rung_ns < reader->config.bell_ns)
		return;
	reader->rung_ns = now_ns;
	ring_bell(reader);
}

/* Looks at the records that are new. */
static void read_ring(struct call_reader *reader)
{
	struct ring *view = &reader->view;
	uint64_t drained = ring_drained(view);
	const struct perf_event_header *header;

	if (view->tail < drained)
		view->tail = drained;
	ring_look(view);
	while ((header = ring_peek(view))) {
		read_record(reader, header);
		ring_next(view);
	}
	if (view->head - drained > view->data_bytes / FULL_SHARE)
		ring_bell(reader);
}

/*
 * Without the right to go first: since Linux 6.12 a thread that asks for shorter turns than others
 * goes before them when it wakes.
 */
static void ask_for_short_turns(void)
{
	struct turn_request request = {.size = sizeof(request), .turn_ns = TURN_NS};

	(void)syscall(SYS_sched_setattr, 0, &request, 0); /* its reads may be late then */
}

/* Lets this thread take the place of the one that was sampled, as far as that is allowed. */
static void take_place(int cpu)
{
	struct sched_param first = {.sched_priority = 1};
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	if (sched_setscheduler(0, SCHED_FIFO, &first) < 0)
		ask_for_short_turns();
}

static void *run(void *self)
{
	struct call_reader *reader = self;
	struct epoll_event event;

	take_place(reader->config.cpu);
	while (!__atomic_load_n(&reader->ends, __ATOMIC_ACQUIRE)) {
		int r = epoll_wait(reader->epoll_fd, &event, 1, -1);

		if (r > 0)
			read_ring(reader);
		else if (r < 0 && errno != EINTR)
			break;
	}
	return NULL;
}

/* Signals go to the thread that started it. */
static int start(struct call_reader *reader)
{
	sigset_t all;
	sigset_t before;
	int code;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&reader->thread, NULL, run, reader);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

/* Edge-triggered: otherwise an event whose thread has ended would always be ready. */
static int watch(const struct call_reader *reader, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	return epoll_ctl(reader->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void release(struct call_reader *reader)
{
	if (reader->stop_fd >= 0)
		(void)close(reader->stop_fd);
	if (reader->epoll_fd >= 0)
		(void)close(reader->epoll_fd);
	free(reader->view.wrapped);
	free(reader);
}

struct call_reader *call_reader_open(const struct call_reader_config *config)
{
	struct call_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->config = *config;
	ring_view(config->ring, &reader->view);
	reader->stop_fd = eventfd(0, EFD_CLOEXEC);
	reader->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (reader->stop_fd >= 0 && reader->epoll_fd >= 0 && watch(reader, reader->stop_fd) == 0 &&
	    watch(reader, config->event_fd) == 0 && start(reader) == 0)
		return reader;
	release(reader);
	return NULL;
}

void call_reader_close(struct call_reader *reader)
{
	uint64_t one = 1;

	if (!reader)
		return;
	__atomic_store_n(&reader->ends, true, __ATOMIC_RELEASE);
	(void)!write(reader->stop_fd, &one, sizeof(one)); /* cannot fail */
	(void)pthread_join(reader->thread, NULL);
	release(reader);
}
