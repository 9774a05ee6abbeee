/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/heap_profile.h"

#include <stdlib.h>

#include "heap/analysis.h"
#include "model/profile.h"

void heap_profile_fini(struct heap_profile *heap)
{
	profile_free(heap->profile);
	heap_analysis_free(heap->analysis);
	free(heap->stacks);
	free(heap->pool_stacks);
	free(heap->misuses);
	free(heap->threads);
	leak_scans_fini(&heap->leaks);
	*heap = (struct heap_profile){0};
}
