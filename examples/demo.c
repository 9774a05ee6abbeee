/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * demo: a program to look at with a profiler. It "renders" frames for about two
 * seconds of CPU time; the call tree has three levels with clear shares:
 *
 *	main
 *	└ render_frame		100 %
 *	  ├ trace_rays		 60 %
 *	  │ ├ intersect		 45 %
 *	  │ └ shade		 15 %
 *	  ├ blur_image		 30 %
 *	  └ encode_frame	 10 %
 *
 *	cc -g -O1 demo.c -o demo
 *	wick record -o demo.wick -- ./demo
 *	wick report demo.wick        these shares
 *	wick flame demo.wick         the same as a picture, demo.svg
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

/* About 20 ms of CPU time on a current machine, split among the leaves below. */
#define FRAME_WORK UINT64_C(10000000)

static volatile uint64_t checksum;

/* A macro: an inlined function would be a frame of its own, and get all of the time. */
#define WORK(steps)                                                                                \
	do {                                                                                       \
		uint64_t x_ = checksum | 1;                                                        \
		for (uint64_t i_ = 0; i_ < (steps); i_++) {                                        \
			x_ = x_ * UINT64_C(6364136223846793005) + 1442695040888963407u;            \
			__asm__ volatile("" : "+r"(x_));                                           \
		}                                                                                  \
		checksum += x_;                                                                    \
	} while (0)

static NOINLINE void intersect(void)
{
	WORK(FRAME_WORK * 45 / 100);
}

static NOINLINE void shade(void)
{
	WORK(FRAME_WORK * 15 / 100);
}

static NOINLINE void trace_rays(void)
{
	intersect();
	shade();
	checksum++;
}

static NOINLINE void blur_image(void)
{
	WORK(FRAME_WORK * 30 / 100);
}

static NOINLINE void encode_frame(void)
{
	WORK(FRAME_WORK * 10 / 100);
}

static NOINLINE void render_frame(void)
{
	trace_rays();
	blur_image();
	encode_frame();
	checksum++;
}

static double cpu_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* cannot fail for this clock */
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2.0;
	int frames = 0;

	while (cpu_seconds() < seconds) {
		render_frame();
		frames++;
	}
	printf("rendered %d frames in %.2f s of CPU time\n", frames, cpu_seconds());
	return 0;
}
