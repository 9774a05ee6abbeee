/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/heap/heap_memory.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/quantity.h"
#include "heap/footprint.h"
#include "view/heap/heap_numbers.h"

void heap_memory_put_json(struct json *json, const char *key, const struct heap_memory_sum *sums,
			  size_t count, uint64_t from_ns)
{
	json_open_array(json, key);
	for (size_t i = 0; i < count; i++) {
		const struct heap_memory_sum *sum = &sums[i];

		json_open_object(json, NULL);
		json_u64(json, "time_ns", from_ns + sum->time_ns);
		heap_put_number(json, "resident_bytes", sum->resident_bytes);
		if (!sum->is_split) {
			json_string(json, "split", NULL);
			json_close(json);
			continue;
		}
		json_open_object(json, "split");
		heap_put_number(json, "tracked_bytes", sum->tracked_bytes);
		heap_put_number(json, "untracked_bytes", sum->untracked_bytes);
		heap_put_number(json, "stack_bytes", sum->stack_bytes);
		heap_put_number(json, "file_bytes", sum->file_bytes);
		heap_put_number(json, "wick_bytes", sum->own_bytes);
		heap_put_number(json, "heap_bytes", sum->heap_bytes);
		heap_put_number(json, "heap_size_bytes", sum->heap_size_bytes);
		json_double(json, "fragmentation", sum->fragmentation, 4);
		json_close(json);
		json_close(json);
	}
	json_close(json);
}

static void put_bytes(struct bytes *out, const char *before, double bytes, const char *after)
{
	bytes_printf(out, "%s%s%s", before, quantity_of((int64_t)bytes, "bytes").text, after);
}

static double parts(const struct heap_memory_sum *sum)
{
	return sum->tracked_bytes + sum->untracked_bytes + sum->stack_bytes + sum->file_bytes +
	       sum->own_bytes;
}

void heap_memory_put_text(const struct heap_memory_sum *sums, size_t count, struct bytes *out)
{
	const struct heap_memory_sum *most = NULL;

	for (size_t i = 0; i < count; i++)
		if (sums[i].is_split && (!most || parts(&sums[i]) > parts(most)))
			most = &sums[i];
	if (!most || parts(most) <= 0)
		return;
	put_bytes(out, "\nmemory     ", parts(most), " resident");
	bytes_printf(out, " after %s: ", quantity_of((int64_t)most->time_ns, "nanoseconds").text);
	put_bytes(out, "", most->tracked_bytes, " in live blocks, ");
	put_bytes(out, "", most->untracked_bytes, " untracked, ");
	put_bytes(out, "", most->stack_bytes, " stacks, ");
	put_bytes(out, "", most->file_bytes, " files, ");
	put_bytes(out, "", most->own_bytes, " of wick\n");
	put_bytes(out, "           the allocator holds ", most->heap_bytes, "");
	bytes_printf(out, ", %.0f %% of it not in live blocks (fragmentation)\n",
		     100 * most->fragmentation);
}
