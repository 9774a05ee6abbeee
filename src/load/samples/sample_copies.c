/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/samples/sample_copies.h"

#include "recording/sample_columns.h"

int sample_copies_add(struct sample_columns **copies, const struct sample_batch *batch)
{
	if (!*copies)
		return 0;
	if ((*copies)->count + batch->count <= SAMPLE_COPIES_MAX)
		return sample_columns_add(*copies, batch);
	sample_columns_fini(*copies);
	*copies = NULL;
	return 0;
}

void sample_copies_clear(struct sample_columns *copies)
{
	if (copies)
		copies->count = 0;
}
