/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/samples/sample_cover.h"

#include <string.h>

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

enum sample_cover_side sample_cover_side_of(const char *engine)
{
	if (strcmp(engine, "ebpf") == 0)
		return SAMPLE_COVERS_AFTER;
	return strcmp(engine, "signal") == 0 || strcmp(engine, "ptrace") == 0
		       ? SAMPLE_COVERS_BEFORE
		       : SAMPLE_COVERS_NOTHING;
}

struct sample_cover sample_cover_of(uint64_t since_ns, uint64_t weight, enum sample_cover_side side)
{
	struct sample_cover cover = {.begin_ns = since_ns, .end_ns = since_ns, .weight = weight};

	if (side == SAMPLE_COVERS_BEFORE)
		cover.begin_ns = since_ns > weight ? since_ns - weight : 0;
	/* Saturates, for sums in forged files. */
	if (side == SAMPLE_COVERS_AFTER && weight <= UINT64_MAX / 2 && since_ns <= UINT64_MAX / 2)
		cover.end_ns = since_ns + weight;
	return cover;
}

bool sample_cover_meets(const struct sample_cover *cover, uint64_t from_ns, uint64_t to_ns)
{
	if (cover->begin_ns == cover->end_ns)
		return cover->end_ns >= from_ns && cover->end_ns < to_ns;
	return cover->begin_ns < to_ns && cover->end_ns > from_ns;
}

uint64_t sample_cover_within(const struct sample_cover *cover, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t lasted_ns = cover->end_ns - cover->begin_ns;
	uint64_t within_ns;

	if (!sample_cover_meets(cover, from_ns, to_ns))
		return 0;
	if (lasted_ns == 0)
		return cover->weight;
	within_ns = smaller(cover->end_ns, to_ns) - larger(cover->begin_ns, from_ns);
	return from_ns <= cover->begin_ns ? within_ns + (cover->weight - lasted_ns) : within_ns;
}

struct sample_cover sample_cover_cut(const struct sample_cover *cover, uint64_t from_ns,
				     uint64_t to_ns)
{
	return (struct sample_cover){
		.begin_ns = larger(cover->begin_ns, smaller(from_ns, cover->end_ns)),
		.end_ns = smaller(cover->end_ns, to_ns),
		.weight = sample_cover_within(cover, from_ns, to_ns),
	};
}
