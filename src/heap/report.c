/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/report.h"

#include "heap/live_blocks.h"

uint32_t heap_thread_process(const struct heap_thread *thread)
{
	return thread->space / HEAP_SPACES;
}
