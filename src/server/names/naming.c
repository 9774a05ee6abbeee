/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/names/naming.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/vec.h"
#include "model/entity.h"
#include "server/names/address_names.h"
#include "server/names/debuginfod_client.h"
#include "server/names/symbol_folder.h"
#include "server/names/unnamed_modules.h"
#include "store/store.h"

#define NICE 10 /* names can wait for everything else */
/* A pass looks at all addresses without a name: not more often than this. */
#define PAUSE_NS NS_PER_SEC
#define LOOK_AGAIN_NS (60 * NS_PER_SEC)
#define FETCH_AGAIN_S 3600u
/* Then addresses that came meanwhile are named, and the rest is fetched in the next pass. */
#define FETCH_PASS_NS (10 * NS_PER_SEC)
#define ASK_DOUBLINGS_MAX 8u

struct naming {
	struct naming_config config;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* With the lock: */
	struct unnamed_modules modules;
	struct naming_stats stats;
	bool is_woken;
	bool is_stopping;
};

/* A store_unnamed_fn. */
static bool note_module(void *self, const struct store_unnamed_module *unnamed)
{
	struct naming *naming = self;

	naming->stats.unnamed += unnamed->addresses;
	unnamed_modules_note(&naming->modules, unnamed);
	return true;
}

static void count_lacking(struct naming *naming)
{
	naming->stats.lacking = 0;
	for (size_t i = 0; i < naming->modules.items.count; i++)
		naming->stats.lacking += naming->modules.items.items[i].state == NAMING_LACKS &&
					 naming->modules.items.items[i].addresses > 0;
}

static void tell(struct naming *naming, const struct error *err)
{
	(void)pthread_mutex_lock(&naming->lock);
	naming->stats.failures++;
	(void)pthread_mutex_unlock(&naming->lock);
	if (naming->config.failed)
		naming->config.failed(naming->config.self, err);
}

/* Learns which modules have addresses without a name. */
static void survey(struct naming *naming)
{
	struct error err = {0};
	int r;

	(void)pthread_mutex_lock(&naming->lock);
	naming->stats.unnamed = 0;
	unnamed_modules_begin(&naming->modules);
	r = store_unnamed_modules(naming->config.store, note_module, naming, &err);
	unnamed_modules_end(&naming->modules);
	count_lacking(naming);
	(void)pthread_mutex_unlock(&naming->lock);
	if (r < 0)
		tell(naming, &err);
}

static bool is_stopping(struct naming *naming)
{
	bool stops;

	(void)pthread_mutex_lock(&naming->lock);
	stops = naming->is_stopping;
	(void)pthread_mutex_unlock(&naming->lock);
	return stops;
}

/* Seconds of a clock that nobody sets. */
static uint64_t monotonic_s(void)
{
	return clock_monotonic_ns() / NS_PER_SEC;
}

/* Copies a module that is due. Returns false past the last one. */
static bool copy_due(struct naming *naming, size_t i, bool *ret_due, struct unnamed_module *ret)
{
	bool is_there;

	(void)pthread_mutex_lock(&naming->lock);
	is_there = i < naming->modules.items.count && !naming->is_stopping;
	if (is_there) {
		*ret = naming->modules.items.items[i];
		*ret_due =
			unnamed_module_begin_search(&naming->modules.items.items[i], monotonic_s());
	}
	(void)pthread_mutex_unlock(&naming->lock);
	return is_there;
}

/* Looks up the addresses of one module. */
static void name_module(struct naming *naming, size_t i, const struct unnamed_module *module)
{
	struct address_names_question question = {
		.store = naming->config.store,
		.build_id = &module->build_id,
		.from_id = module->next_id,
		.folders = naming->config.debug_folders,
		.folder_count = naming->config.debug_folder_count,
		.last_folder = naming->config.folder->path,
	};
	struct address_names_result result = {0};
	struct error err = {0};
	int r = address_names_find(&question, &result, &err);
	struct unnamed_module *known;

	(void)pthread_mutex_lock(&naming->lock);
	known = &naming->modules.items.items[i];
	unnamed_module_end_search(known, module, result.has_symbols, r < 0, monotonic_s());
	naming->stats.looked_up += result.looked_up;
	naming->stats.named += result.named;
	count_lacking(naming);
	(void)pthread_mutex_unlock(&naming->lock);
	if (r == -ESTALE) /* the next pass does it */
		log_debug("%s: %s", module->hex, err.text);
	else if (r < 0)
		tell(naming, &err);
	else
		log_debug("%s (%s): %llu of %llu addresses have names", module->hex, module->path,
			  (unsigned long long)result.named, (unsigned long long)result.looked_up);
}

/* Whether to ask debuginfod for a module; sets when it is asked next. */
static bool fetches(struct naming *naming, size_t i, struct unnamed_module *ret)
{
	uint64_t now_s = clock_realtime_ns() / NS_PER_SEC;
	struct unnamed_module *known;
	bool wants;

	(void)pthread_mutex_lock(&naming->lock);
	known = &naming->modules.items.items[i];
	wants = naming->config.debuginfod && known->state == NAMING_LACKS && known->addresses > 0 &&
		known->fetch_s <= now_s && !naming->is_stopping;
	if (wants)
		known->fetch_s = now_s + FETCH_AGAIN_S;
	*ret = *known;
	(void)pthread_mutex_unlock(&naming->lock);
	return wants;
}

/* No server was asked that may have it. */
static void fetch_later(struct naming *naming, size_t i)
{
	(void)pthread_mutex_lock(&naming->lock);
	naming->modules.items.items[i].fetch_s =
		clock_realtime_ns() / NS_PER_SEC + DEBUGINFOD_REST_S;
	(void)pthread_mutex_unlock(&naming->lock);
}

static void fetch_module(struct naming *naming, size_t i)
{
	struct unnamed_module module;
	struct error err = {0};
	int r;

	if (!fetches(naming, i, &module))
		return;
	r = debuginfod_client_fetch(naming->config.debuginfod, &module.build_id,
				    naming->config.folder, &err);
	if (r == 0)
		name_module(naming, i, &module);
	else if (r == -EAGAIN)
		fetch_later(naming, i);
	else if (r != -ENOENT && r != -ECANCELED)
		tell(naming, &err);
}

/* One after another, for some time. */
static void fetch_modules(struct naming *naming)
{
	uint64_t until_ns = clock_monotonic_ns() + FETCH_PASS_NS;
	size_t i;

	for (i = 0; i < naming->modules.items.count && !is_stopping(naming); i++) {
		if (clock_monotonic_ns() >= until_ns) {
			naming_wake(naming);
			return;
		}
		fetch_module(naming, i);
	}
}

static void run_pass(struct naming *naming)
{
	struct unnamed_module module;
	bool is_due;

	survey(naming);
	for (size_t i = 0; copy_due(naming, i, &is_due, &module); i++)
		if (is_due)
			name_module(naming, i, &module);
	fetch_modules(naming);
}

/* Waits until woken, or for some time. */
static void wait_until(struct naming *naming, uint64_t wait_ns, bool wakes)
{
	uint64_t until_ns = clock_monotonic_ns() + wait_ns;
	struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_SEC),
				 .tv_nsec = (long)(until_ns % NS_PER_SEC)};
	int r = 0;

	(void)pthread_mutex_lock(&naming->lock);
	while (!naming->is_stopping && !(wakes && naming->is_woken) && r == 0)
		r = pthread_cond_timedwait(&naming->changed, &naming->lock, &until);
	if (wakes)
		naming->is_woken = false;
	(void)pthread_mutex_unlock(&naming->lock);
}

static void *run(void *self)
{
	struct naming *naming = self;

	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); /* else it is as urgent */
	while (!is_stopping(naming)) {
		run_pass(naming);
		wait_until(naming, PAUSE_NS, false);
		wait_until(naming, LOOK_AGAIN_NS, true);
	}
	return NULL;
}

/* Signals are for the thread that waits for them. */
static int start_thread(struct naming *naming, struct error *err)
{
	sigset_t all;
	sigset_t before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* cannot fail */
	r = -pthread_create(&naming->thread, NULL, run, naming);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* cannot fail */
	return r < 0 ? error_errno(err, r,
				   "cannot start a thread that names the addresses of the store")
		     : 0;
}

static void release(struct naming *naming)
{
	unnamed_modules_fini(&naming->modules);
	(void)pthread_cond_destroy(&naming->changed); /* nobody waits */
	(void)pthread_mutex_destroy(&naming->lock);
	free(naming);
}

int naming_start(const struct naming_config *config, struct naming **ret, struct error *err)
{
	struct naming *naming = calloc(1, sizeof(*naming));
	pthread_condattr_t attributes;
	int r;

	if (!naming)
		return error_set(err, -ENOMEM, "out of memory");
	naming->config = *config;
	/* None of these fails on Linux. */
	(void)pthread_mutex_init(&naming->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&naming->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	r = start_thread(naming, err);
	if (r < 0)
		release(naming);
	else
		*ret = naming;
	return r;
}

void naming_stop(struct naming *naming)
{
	if (!naming)
		return;
	(void)pthread_mutex_lock(&naming->lock);
	naming->is_stopping = true;
	(void)pthread_cond_broadcast(&naming->changed);
	(void)pthread_mutex_unlock(&naming->lock);
	debuginfod_client_cancel(naming->config.debuginfod);
	(void)pthread_join(naming->thread, NULL); /* it exists */
	release(naming);
}

void naming_wake(struct naming *naming)
{
	(void)pthread_mutex_lock(&naming->lock);
	naming->is_woken = true;
	(void)pthread_cond_broadcast(&naming->changed);
	(void)pthread_mutex_unlock(&naming->lock);
}

void naming_renew(struct naming *naming, const struct build_id *id)
{
	struct unnamed_module *known;

	(void)pthread_mutex_lock(&naming->lock);
	known = unnamed_modules_find(&naming->modules, id);
	if (known)
		unnamed_module_renew(known);
	(void)pthread_mutex_unlock(&naming->lock);
	naming_wake(naming);
}

size_t naming_wanted(struct naming *naming, const struct build_id *ids, size_t n, uint64_t now_s,
		     uint32_t *ret)
{
	size_t count = 0;

	(void)pthread_mutex_lock(&naming->lock);
	for (size_t i = 0; i < n && count < NAMING_WANTED_MAX && naming->stats.lacking > 0; i++) {
		struct unnamed_module *known = unnamed_modules_find(&naming->modules, &ids[i]);
		unsigned int doublings;

		if (!known || known->state != NAMING_LACKS || known->addresses == 0 ||
		    known->ask_s > now_s)
			continue;
		doublings = known->asked < ASK_DOUBLINGS_MAX ? known->asked : ASK_DOUBLINGS_MAX;
		known->ask_s = now_s + ((uint64_t)NAMING_ASK_AGAIN_S << doublings);
		known->asked++;
		ret[count++] = (uint32_t)i;
	}
	(void)pthread_mutex_unlock(&naming->lock);
	return count;
}

void naming_list(struct naming *naming, void (*each)(void *, const struct naming_module *),
		 void *self)
{
	(void)pthread_mutex_lock(&naming->lock);
	for (size_t i = 0; i < naming->modules.items.count; i++) {
		const struct unnamed_module *known = &naming->modules.items.items[i];
		struct naming_module module = {known->hex, known->path, known->addresses,
					       known->state};

		if (module.addresses > 0)
			each(self, &module);
	}
	(void)pthread_mutex_unlock(&naming->lock);
}

struct naming_stats naming_stats(struct naming *naming)
{
	struct naming_stats stats;

	(void)pthread_mutex_lock(&naming->lock);
	stats = naming->stats;
	(void)pthread_mutex_unlock(&naming->lock);
	return stats;
}
