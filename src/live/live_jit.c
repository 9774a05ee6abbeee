/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/live_jit.h"

#include "base/clock.h"
#include "load/names/jit_functions.h"
#include "model/dictionary.h"
#include "symbol/jit/jit_symbols.h"

#define LEAST_NS (2 * NS_PER_SEC) /* between two reads */
#define SHARE 100                 /* the pause is this many times as long as a read */

struct found {
	struct jit_symbols *symbols;
	size_t count;
};

void live_jit_fini(struct live_jit *jit)
{
	jit_symbols_free(jit->symbols);
	jit->symbols = NULL;
}

bool live_jit_is_compiled(const struct dictionary *dictionary, uint32_t frame)
{
	const struct frame *item = &dictionary->frames.items[frame];

	return item->kind == FRAME_NATIVE && item->a < dictionary->modules.count &&
	       dictionary->modules.items[item->a].kind == MODULE_ANONYMOUS;
}

void live_jit_forget(struct live_jit *jit)
{
	jit->searched = 0;
}

/* An agent asks many times a second: frames that were looked at are not looked at again. */
static bool has_compiled(struct live_jit *jit, const struct dictionary *dictionary)
{
	while (jit->searched < dictionary->frames.count &&
	       !live_jit_is_compiled(dictionary, (uint32_t)jit->searched))
		jit->searched++;
	return jit->searched < dictionary->frames.count;
}

static int keep(void *self, uint32_t process, const struct jit_symbol *symbol)
{
	struct found *found = self;
	int r = jit_symbols_add(found->symbols, process, symbol);

	found->count += r == 0;
	return r;
}

bool live_jit_look(struct live_jit *jit, const struct dictionary *dictionary, uint64_t now_ns)
{
	struct found found = {0};
	uint64_t begin_ns = clock_monotonic_ns();
	uint64_t wait_ns;

	if (now_ns < jit->next_ns || !has_compiled(jit, dictionary))
		return false;
	found.symbols = jit_symbols_new();
	if (!found.symbols)
		return false; /* if out of memory, addresses are shown */
	jit_functions_find(&(struct jit_functions_search){
		.dictionary = dictionary, .found = keep, .self = &found});
	jit_symbols_finish(found.symbols);
	wait_ns = SHARE * (clock_monotonic_ns() - begin_ns);
	jit->next_ns = now_ns + (wait_ns > LEAST_NS ? wait_ns : LEAST_NS);
	/*
	 * If the number of names for the same frames is unchanged, as nearly always, there is
	 * nothing new.
	 */
	if (found.count == jit->named && dictionary->frames.count == jit->frames) {
		jit_symbols_free(found.symbols);
		return false;
	}
	jit_symbols_free(jit->symbols);
	jit->symbols = found.symbols;
	jit->named = found.count;
	jit->frames = dictionary->frames.count;
	return true;
}
