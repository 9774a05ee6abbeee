/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "preload/heap/heap.h"
#include "preload/real_functions.h"
#include "wire/heap_observer.h"

_Atomic(const struct heap_observer *) heap_observer;

PRELOAD_EXPORT int wick_observe_heap(const struct heap_observer *observer)
{
	const struct heap_observer *none = NULL;

	if (!observer) {
		atomic_store(&heap_observer, NULL);
		heap_set_detour(HEAP_OBSERVED, false);
		return 0;
	}
	if (observer->version != HEAP_OBSERVER_VERSION || observer->bytes < sizeof(*observer))
		return -EINVAL;
	if (!atomic_compare_exchange_strong(&heap_observer, &none, observer))
		return -EBUSY;
	heap_set_detour(HEAP_OBSERVED, true);
	return 0;
}
