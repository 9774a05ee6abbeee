/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "engine/engine_stats.h"
#include "unwind/walk.h"

struct engine {
	const struct engine_ops *ops;
	void *self;
};

static bool suits(const struct engine_ops *ops, const struct target *target, struct error *err)
{
	return !target || !ops->suits || ops->suits(target, err) == 0;
}

static const struct engine_ops *first_that_works(const struct target *target, struct error *err)
{
	struct error why = {0};

	for (size_t i = 0; engine_table[i]; i++) {
		const struct engine_ops *ops = engine_table[i];

		if (suits(ops, target, &why) && ops->probe(&why) == 0) {
			log_info("engine %s chosen", ops->name);
			return ops;
		}
		log_info("engine %s skipped: %s", ops->name, why.text);
	}
	if (err)
		*err = why;
	return NULL;
}

const struct engine_ops *engine_find(const char *name, const struct target *target,
				     struct error *err)
{
	size_t i;

	if (strcmp(name, "auto") == 0)
		return first_that_works(target, err);
	for (i = 0; engine_table[i]; i++)
		if (strcmp(engine_table[i]->name, name) == 0)
			return engine_table[i];
	(void)error_set(err, -EINVAL, "unknown engine %s", name);
	error_remedy(err, "see: wick list engines");
	return NULL;
}

int engine_check_time(const struct engine_ops *ops, const struct engine_config *config,
		      const char *event, struct error *err)
{
	if (config->mode == ENGINE_MODE_OFFCPU) {
		(void)error_set(err, -EINVAL, "the %s engine cannot sample only off-CPU time",
				ops->name);
		error_remedy(err, "use --mode wall and wick report --by state");
		return -EINVAL;
	}
	if (strcmp(config->event, "cpu-clock") != 0 && strcmp(config->event, event) != 0)
		return error_advise(err,
				    error_set(err, -EINVAL,
					      "the %s engine cannot sample %s, only time",
					      ops->name, config->event),
				    "leave out -e, or use --engine perf");
	if (config->period > 0)
		return error_advise(
			err,
			error_set(err, -EINVAL,
				  "the %s engine samples at a rate and does not support -c",
				  ops->name),
			"give -F HZ instead, or use --engine perf");
	return 0;
}

/* Who holds the lock is read with the calls of an interpreter. */
static int check_holders(const struct engine_ops *ops, const struct engine_config *config,
			 struct error *err)
{
	if (!config || !config->holders_only || ops->reads_calls)
		return 0;
	return error_advise(err,
			    error_set(err, -EINVAL,
				      "the %s engine does not know who holds Python's global lock",
				      ops->name),
			    "leave out --gil, or use --engine ebpf, perf, signal or ptrace");
}

/* Off-CPU time without the requested wakers would be a different recording. */
static int check_wakers(const struct engine_ops *ops, const struct engine_config *config,
			struct error *err)
{
	if (!config || !config->wakers || config->mode == ENGINE_MODE_CPU || ops->records_wakers)
		return 0;
	return error_advise(err,
			    error_set(err, -EINVAL,
				      "the %s engine does not see which thread wakes another",
				      ops->name),
			    "leave out --waker, or use --engine ebpf");
}

static int open_one(const struct engine_ops *ops, const struct engine_config *config,
		    const struct target *target, struct sink *sink, struct engine **ret,
		    struct error *err)
{
	SCOPED(mem) struct engine *engine = calloc(1, sizeof(*engine));
	int r;

	if (!engine)
		return error_set(err, -ENOMEM, "out of memory");
	engine->ops = ops;
	r = check_wakers(ops, config, err);
	if (r == 0)
		r = check_holders(ops, config, err);
	if (r == 0)
		r = ops->open(config, target, sink, &engine->self, err);
	if (r < 0) {
		log_info("engine %s did not open: %s", ops->name, err ? err->text : "");
		return r;
	}
	log_debug("engine %s is open", ops->name);
	*ret = scope_take(&engine);
	return 0;
}

/* Whether another engine may work after this failure: not if the request itself is invalid. */
static bool may_help(int code)
{
	return code != -EINVAL && code != -ESRCH && code != -ENOMEM;
}

/*
 * The engine's probe passed, but opening failed for this target. Engines further down the list can
 * take over, if they do not need to start the process in their own way.
 */
static int open_lesser(const struct engine_ops *ops, const struct engine_config *config,
		       const struct target *target, struct sink *sink, const struct error *why,
		       struct engine **ret)
{
	struct engine_config lesser = *config;
	char reason[sizeof(why->text) + sizeof(why->remedy) + 2];
	size_t i = 0;

	(void)snprintf(reason, sizeof(reason), "%s%s%s", why->text, why->remedy[0] ? "; " : "",
		       why->remedy);
	lesser.why_lesser = reason;
	while (engine_table[i] && engine_table[i] != ops)
		i++;
	for (i = engine_table[i] ? i + 1 : 0; engine_table[i]; i++) {
		const struct engine_ops *other = engine_table[i];

		if (!other->environment && suits(other, target, NULL) && other->probe(NULL) == 0 &&
		    open_one(other, &lesser, target, sink, ret, NULL) == 0)
			return 0;
	}
	return why->code;
}

int engine_open(const struct engine_ops *ops, const struct engine_config *config,
		const struct target *target, struct sink *sink, struct engine **ret,
		struct error *err)
{
	struct error why = {0};
	int r = open_one(ops, config, target, sink, ret, &why);

	if (r < 0 && config && config->may_fall_back && may_help(r))
		r = open_lesser(ops, config, target, sink, &why, ret);
	if (r < 0 && err)
		*err = why;
	return r;
}

const char *engine_name(const struct engine *engine)
{
	return engine->ops->name;
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	engine->ops->close(engine->self);
	free(engine);
}

void engine_tidy(const struct engine_ops *ops)
{
	if (ops->tidy)
		ops->tidy();
}

int engine_start(struct engine *engine, struct error *err)
{
	return engine->ops->start(engine->self, err);
}

char *const *engine_environment(struct engine *engine)
{
	return engine->ops->environment ? engine->ops->environment(engine->self) : NULL;
}

void engine_launched(struct engine *engine, pid_t pid)
{
	if (engine->ops->launched)
		engine->ops->launched(engine->self, pid);
}

bool engine_has_members(struct engine *engine)
{
	return engine->ops->has_members && engine->ops->has_members(engine->self);
}

bool engine_next_process(struct engine *engine, size_t *at, struct engine_process *ret)
{
	return engine->ops->next_process && engine->ops->next_process(engine->self, at, ret);
}

void engine_scanned(struct engine *engine, pid_t pid)
{
	if (engine->ops->scanned)
		engine->ops->scanned(engine->self, pid);
}

int engine_fd(struct engine *engine)
{
	return engine->ops->fd(engine->self);
}

int engine_drain(struct engine *engine, struct error *err)
{
	return engine->ops->drain(engine->self, err);
}

void engine_settle(struct engine *engine)
{
	struct timespec left = {.tv_nsec = (long)engine->ops->settle_ns};

	while (left.tv_nsec > 0 && nanosleep(&left, &left) < 0)
		if (errno != EINTR)
			return;
}

int engine_stop(struct engine *engine, struct error *err)
{
	return engine->ops->stop(engine->self, err);
}

int engine_set_rate(struct engine *engine, uint32_t frequency_hz, struct error *err)
{
	return engine->ops->set_rate(engine->self, frequency_hz, err);
}

int engine_suspend(struct engine *engine, struct error *err)
{
	return engine->ops->suspend ? engine->ops->suspend(engine->self, err) : 0;
}

int engine_resume(struct engine *engine, struct error *err)
{
	return engine->ops->resume ? engine->ops->resume(engine->self, err) : 0;
}

void engine_progress(struct engine *engine, struct engine_stats *ret)
{
	*ret = (struct engine_stats){0};
	engine->ops->stats(engine->self, false, ret);
}

void engine_stats(struct engine *engine, struct engine_stats *ret)
{
	*ret = (struct engine_stats){0};
	engine->ops->stats(engine->self, true, ret);
	/* What was left out on purpose is not missing. */
	ret->samples.expected -= ret->python.others < ret->samples.expected ? ret->python.others
									    : ret->samples.expected;
}

const char *engine_notice(struct engine *engine)
{
	return engine->ops->notice(engine->self);
}

/* UNWIND_GOING is not an end: the first end is the one after it. */
_Static_assert(UNWIND_ENDS - 1 == ENGINE_ENDS && UNWIND_ROOT == 1,
	       "ends are counted from the root");

const char *engine_end_name(size_t i)
{
	return unwind_end_name((enum unwind_end)(i + 1));
}
