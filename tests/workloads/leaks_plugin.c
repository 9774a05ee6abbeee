/* SPDX-License-Identifier: BSD-2-Clause */

/* A library that keeps pointers in its data, and in those of a thread. */

__attribute__((visibility("default"))) void keep(void *in_data, void *of_thread);

static void *volatile data_pointer;
static __thread void *volatile thread_pointer;

void keep(void *in_data, void *of_thread)
{
	data_pointer = in_data;
	thread_pointer = of_thread;
}
