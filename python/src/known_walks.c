/* SPDX-License-Identifier: BSD-2-Clause */
#include "known_walks.h"

#include <stdatomic.h>
#include <string.h>

#include "arch/return_place.h"

#define SETS 1024u
#define WAYS 2u
#define FRAME_BYTES_MAX 65536u
/* Signatures of return addresses (pointer authentication) are above. */
#define ADDRESS_MASK ((1ull << 48) - 1)

struct walk {
	_Atomic uint32_t version; /* odd while it is written */
	uint32_t count;           /* return addresses */
	uint64_t sp;
	uint64_t hint;
	uint64_t generation;
	uint32_t offsets[KNOWN_WALK_FRAMES]; /* from sp to where return addresses are */
	uint64_t words[KNOWN_WALK_FRAMES];   /* what they hold */
};

static struct walk walks[SETS][WAYS];
static _Atomic uint64_t generation = 1;
static _Atomic uint32_t next_way;

void known_walks_forget(void)
{
	atomic_fetch_add(&generation, 1);
}

static struct walk *set_of(uint64_t sp, uint64_t hint)
{
	return walks[((sp >> 4) * 0x9e3779b97f4a7c15ull ^ hint * 0xd6e8feb86659fd93ull) >> 54];
}

_Static_assert(SETS == 1u << (64 - 54), "the shift above");

static bool matches(const struct walk *walk, uint64_t sp, uint64_t hint)
{
	return walk->sp == sp && walk->hint == hint && walk->count <= KNOWN_WALK_FRAMES &&
	       walk->generation == atomic_load_explicit(&generation, memory_order_relaxed);
}

/* Copies a walk that nobody writes meanwhile. */
static bool copy(const struct walk *walk, uint64_t sp, uint64_t hint, struct walk *ret)
{
	uint32_t version = atomic_load_explicit(&walk->version, memory_order_acquire);

	if ((version & 1) != 0 || !matches(walk, sp, hint))
		return false;
	ret->count = walk->count;
	if (ret->count > KNOWN_WALK_FRAMES)
		return false;
	memcpy(ret->offsets, walk->offsets, ret->count * sizeof(walk->offsets[0]));
	memcpy(ret->words, walk->words, ret->count * sizeof(walk->words[0]));
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&walk->version, memory_order_relaxed) == version;
}

bool known_walks_find(uint64_t sp, uint64_t hint, uint64_t *ret_addresses, uint32_t *ret_count)
{
	const struct walk *set = set_of(sp, hint);
	struct walk walk;

	for (uint32_t way = 0; way < WAYS; way++) {
		uint32_t i = 0;

		if (!copy(&set[way], sp, hint, &walk))
			continue;
		while (i < walk.count &&
		       *(const uint64_t *)(uintptr_t)(sp + walk.offsets[i]) == walk.words[i]) {
			ret_addresses[i] = walk.words[i] & ADDRESS_MASK;
			i++;
		}
		if (i < walk.count)
			continue;
		*ret_count = i;
		return true;
	}
	return false;
}

static bool holds(uint64_t place, uint64_t address)
{
	return (*(const uint64_t *)(uintptr_t)place & ADDRESS_MASK) == address;
}

/*
 * The place in a frame that holds a return address: the usual one, or the only one. 0: there is
 * none, or several.
 */
static uint64_t place_of(uint64_t low, uint64_t high, uint64_t address)
{
	uint64_t found = 0;

	if (high < low + 2 * sizeof(address) || high - low > FRAME_BYTES_MAX ||
	    low % sizeof(address) != 0)
		return 0;
	if (holds(return_place(low, high), address))
		return return_place(low, high);
	for (uint64_t place = low; place < high; place += sizeof(address)) {
		if (!holds(place, address))
			continue;
		if (found != 0)
			return 0;
		found = place;
	}
	return found;
}

void known_walks_add(uint64_t sp, uint64_t hint, const struct known_frame *frames, uint32_t count)
{
	struct walk *set = set_of(sp, hint);
	struct walk *walk = &set[atomic_fetch_add(&next_way, 1) % WAYS];
	uint32_t version = atomic_load_explicit(&walk->version, memory_order_relaxed);
	struct walk made;

	if (count < 2 || count - 1 > KNOWN_WALK_FRAMES)
		return;
	for (uint32_t i = 0; i + 1 < count; i++) {
		uint64_t place = place_of(frames[i].sp, frames[i + 1].sp, frames[i + 1].address);

		if (place < sp)
			return;
		made.offsets[i] = (uint32_t)(place - sp);
		made.words[i] = *(const uint64_t *)(uintptr_t)place;
	}
	if ((version & 1) != 0 ||
	    !atomic_compare_exchange_strong(&walk->version, &version, version + 1))
		return;
	walk->count = count - 1;
	walk->sp = sp;
	walk->hint = hint;
	walk->generation = atomic_load(&generation);
	memcpy(walk->offsets, made.offsets, walk->count * sizeof(made.offsets[0]));
	memcpy(walk->words, made.words, walk->count * sizeof(made.words[0]));
	atomic_store_explicit(&walk->version, version + 2, memory_order_release);
}
