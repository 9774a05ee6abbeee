/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/resolver_batch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"
#include "load/names/resolver.h"
#include "symbol/address_sort.h"

int resolver_batch_visit(struct resolver *resolver, const uint64_t *addresses, size_t count,
			 int (*visit)(void *self, const struct resolved *found, size_t i),
			 void *self)
{
	SCOPED(mem) struct address_ref *order = malloc((count + 1) * sizeof(*order));
	int r = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		order[i] = (struct address_ref){addresses[i], (uint32_t)i};
	if (address_sort(order, count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++) {
		struct resolved found;

		resolver_find(resolver, order[i].address, &found);
		r = visit(self, &found, order[i].index);
	}
	return r;
}
