/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "import/address_stacks.h"
#include "import/builder.h"
#include "import/formats.h"
#include "import/import.h"

/*
 * gperftools CPU profiles, as written with CPUPROFILE=: machine words of the profiled machine,
 * then text.
 *
 *	0 3 0 <period in us> 0     the header: 3 more words, version 0
 *	<count> <n> <n addresses>  a stack that occurred count times, leaf first
 *	…
 *	0 1 0                      the end
 *	5589…-5589… r-xp …         mappings, in the format of /proc/PID/maps
 *
 * Words have 4 or 8 bytes, in either byte order: the header shows which.
 */

#define HEAD_WORDS 5u
#define MAX_FRAMES 65536u
#define NS_PER_US 1000u

struct words {
	const uint8_t *at;
	const uint8_t *end;
	unsigned int bytes; /* of a word */
	bool is_big;
	bool failed;
};

static uint64_t next_word(struct words *words)
{
	uint64_t value = 0;

	if ((size_t)(words->end - words->at) < words->bytes) {
		words->failed = true;
		return 0;
	}
	for (unsigned int i = 0; i < words->bytes; i++) {
		unsigned int shift = 8 * (words->is_big ? words->bytes - 1 - i : i);

		value |= (uint64_t)words->at[i] << shift;
	}
	words->at += words->bytes;
	return value;
}

/* Reads the header in the form that fits; false if none does. Version 1 is Java's. */
static bool read_head(const uint8_t *data, size_t size, struct words *ret, uint64_t *ret_version,
		      uint64_t *ret_period_us)
{
	for (unsigned int form = 0; form < 4; form++) {
		struct words words = {data, data + size, form < 2 ? 8 : 4, form % 2, false};
		uint64_t head[HEAD_WORDS];

		for (size_t i = 0; i < HEAD_WORDS; i++)
			head[i] = next_word(&words);
		if (words.failed || head[0] != 0 || head[1] != 3 || head[2] > 1 || head[3] == 0 ||
		    head[3] > UINT32_MAX || head[4] != 0)
			continue;
		*ret = words;
		*ret_version = head[2];
		*ret_period_us = head[3];
		return true;
	}
	return false;
}

static bool cpu_recognise(const uint8_t *data, size_t size)
{
	struct words words;
	uint64_t version;
	uint64_t period;

	return read_head(data, size, &words, &version, &period);
}

typedef VEC(uint64_t) pc_list;

/* Reads a stack. Returns 1, 0 at the end, or a negative errno. */
static int next_stack(struct words *words, uint64_t *ret_count, pc_list *ret_pcs, struct error *err)
{
	uint64_t count = next_word(words);
	uint64_t depth = next_word(words);

	if (words->failed)
		return 0; /* the program was killed */
	if (depth > MAX_FRAMES)
		return error_set(err, -EBADMSG, "a stack has an invalid number of frames: %llu",
				 (unsigned long long)depth);
	ret_pcs->count = 0;
	for (uint64_t i = 0; i < depth && !words->failed; i++) {
		uint64_t pc = next_word(words);

		/* Both the signal handler and the stack walk report the leaf. */
		if (i == 1 && pc == ret_pcs->items[0])
			continue;
		if (vec_push(ret_pcs, pc) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	*ret_count = count;
	return !words->failed && !(count == 0 && depth == 1 && ret_pcs->items[0] == 0);
}

/* Skips the stacks, up to the mappings. Returns 0, or 1 if those are cut off. */
static int find_maps(struct words words, const uint8_t **ret, struct error *err)
{
	pc_list pcs = {0};
	uint64_t count;
	int r;

	do
		r = next_stack(&words, &count, &pcs, err);
	while (r > 0);
	*ret = words.failed ? words.end : words.at;
	vec_fini(&pcs);
	return r < 0 ? r : words.failed;
}

static int add_stacks(struct words words, uint64_t period_ns, struct address_stacks *stacks,
		      struct error *err)
{
	pc_list pcs = {0};
	uint64_t count;
	int r;

	while ((r = next_stack(&words, &count, &pcs, err)) > 0) {
		struct address_sample sample = {
			.pcs = pcs.items, .count = pcs.count, .times = count};

		if (__builtin_mul_overflow(count, period_ns, &sample.weight))
			sample.weight = INT64_MAX;
		r = count > 0 ? address_stacks_add(stacks, &sample, err) : 0;
		if (r < 0)
			break;
	}
	vec_fini(&pcs);
	return r;
}

static int cpu_read(const uint8_t *data, size_t size, struct import_builder *builder,
		    struct error *err)
{
	struct address_stacks *stacks = NULL;
	const uint8_t *maps;
	struct words words;
	uint64_t period_us;
	uint64_t version;
	int r;

	if (!read_head(data, size, &words, &version, &period_us))
		return error_set(err, -EBADMSG, "its header is invalid");
	if (version == 1)
		return error_set(err, -EOPNOTSUPP, "it is a Java CPU profile in an old format");
	r = find_maps(words, &maps, err);
	if (r > 0)
		import_set_incomplete(builder);
	if (r >= 0)
		r = address_stacks_new(builder, (const char *)maps, (size_t)(words.end - maps),
				       &stacks, err);
	if (r == 0 &&
	    import_schema(builder, "cpu", "cpu", "nanoseconds", period_us * NS_PER_US) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		r = add_stacks(words, period_us * NS_PER_US, stacks, err);
	address_stacks_free(stacks);
	return r < 0 ? r : import_finish(builder, 0, err);
}

const struct importer_ops import_gperftools_cpu = {
	.name = "gperftools-cpu",
	.summary = "gperftools CPU profiles, as written with CPUPROFILE=",
	.recognise = cpu_recognise,
	.read = cpu_read,
};
