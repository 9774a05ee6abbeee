/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * ptrace_bench [SECONDS] [DEPTH]: how long a thread is stopped by a sample.
 *
 * A child spins at the bottom of a stack and notes every gap in its own time; the
 * parent samples it a thousand times a second. Shown are the times from asking to
 * letting go, as the sampler sees them, and the gaps, as the child sees them, of
 * this and of a run without samples: a busy machine makes gaps of its own.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/ptrace/sampler.h"
#include "engine/ptrace/stop_times.h"

#define STEP_NS NS_PER_MS
#define GAP_NS (2 * NS_PER_US)

struct shared {
	volatile int ready;
	volatile int phase; /* 0: without samples, 1: with them */
	struct stop_times gaps[2];
};

static volatile uint64_t frames_left;

static __attribute__((noinline, noclone)) void spin(struct shared *shared)
{
	uint64_t last_ns = clock_monotonic_ns();

	shared->ready = 1;
	while (shared->ready) { /* for ever: it is killed */
		uint64_t now_ns = clock_monotonic_ns();

		if (now_ns - last_ns > GAP_NS)
			stop_times_add(&shared->gaps[shared->phase], now_ns - last_ns);
		last_ns = now_ns;
	}
}

static __attribute__((noinline, noclone)) void descend(struct shared *shared, int depth)
{
	if (depth > 0)
		descend(shared, depth - 1);
	else
		spin(shared);
	frames_left++; /* keeps the call from becoming a jump */
}

static int count_frames(void *self, const struct stack_sample *sample, struct error *err)
{
	uint64_t *frames = self;

	(void)err;
	*frames += sample->count;
	return 0;
}

static void wait_ns(uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / NS_PER_SEC),
				.tv_nsec = (long)(ns % NS_PER_SEC)};

	(void)nanosleep(&time, NULL); /* a shorter wait does no harm */
}

static void print_times(const char *name, const struct stop_times *times)
{
	printf("%-28s %8llu  p50 %5llu us  p90 %5llu us  p99 %5llu us  longest %6llu us\n", name,
	       (unsigned long long)times->count, stop_times_quantile_ns(times, 0.5) / NS_PER_US,
	       stop_times_quantile_ns(times, 0.9) / NS_PER_US,
	       stop_times_quantile_ns(times, 0.99) / NS_PER_US, times->longest_ns / NS_PER_US);
}

static int measure(pid_t pid, struct shared *shared, uint64_t seconds)
{
	uint64_t frames = 0;
	struct sampler_config config = {.depth = 1024, .taken = count_frames, .self = &frames};
	struct sampler *sampler;
	struct error err = {0};
	uint64_t end_ns;

	while (!shared->ready)
		wait_ns(STEP_NS);
	wait_ns(seconds * NS_PER_SEC);
	if (sampler_open(&config, &sampler, &err) < 0 ||
	    sampler_attach_thread(sampler, pid, pid, &err) < 0 ||
	    sampler_round(sampler, &err) < 0) {
		(void)fprintf(stderr, "ptrace_bench: %s\n", err.text);
		return 1;
	}
	shared->phase = 1;
	end_ns = clock_monotonic_ns() + seconds * NS_PER_SEC;
	while (clock_monotonic_ns() < end_ns && sampler_round(sampler, &err) == 0)
		wait_ns(STEP_NS);
	print_times("asked until let go", sampler_times(sampler));
	print_times("gaps of the child", &shared->gaps[1]);
	print_times("gaps without samples", &shared->gaps[0]);
	printf("frames of a stack            %8.1f\n",
	       (double)frames / (double)sampler_times(sampler)->count);
	sampler_close(sampler);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 5;
	int depth = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 25;
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = shared == MAP_FAILED ? -1 : fork();
	int status;

	if (pid == 0)
		descend(shared, depth);
	if (pid < 0)
		return 1;
	status = measure(pid, shared, seconds);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return status;
}
