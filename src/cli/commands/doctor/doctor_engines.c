/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/doctor/doctor_engines.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/commands/doctor/doctor_finding.h"
#include "elf/elf.h"
#include "engine/engine.h"
#include "engine/signal/preload_path.h"
#include "proc/own_program.h"

#define BRIEFLY "0.04" /* seconds on a CPU: some forty samples */
#define LASTING "9"    /* at most; then the trial is ended */

#define CUT_SHARE 10 /* one stack in this many may be incomplete */
#define LIMIT_NS (5 * NS_PER_SEC)

#define CALL(name) (1u << CONFINED_##name)

const struct doctor_engine doctor_engines[DOCTOR_ENGINES] = {
	{"engine_ebpf", "engine ebpf", "ebpf", .calls = CALL(BPF) | CALL(PERF_EVENT_OPEN)},
	{"engine_perf", "engine perf", "perf", .calls = CALL(PERF_EVENT_OPEN)},
	{"engine_signal", "engine signal", "signal", .calls = CALL(TIMER_CREATE)},
	{"engine_ptrace", "engine ptrace", "ptrace",
	 .calls = CALL(PTRACE) | CALL(PROCESS_VM_READV)},
	{"record", "wick record", NULL},
	{"waker", "record --waker", "ebpf", .wakers = true,
	 .calls = CALL(BPF) | CALL(PERF_EVENT_OPEN)},
	{"heap", "heap", "signal", .heap = true},
	{"heap_attach", "heap -p", "uprobe", .heap = true, .attach = true,
	 .calls = CALL(BPF) | CALL(PERF_EVENT_OPEN)},
};

/*
 * A binary with capabilities runs with raised rights, so that no library can be preloaded into it.
 * Then we run its loader, which has no capabilities, and let that run the binary.
 */
static bool needs_loader(const char *self, char *ret_loader, size_t size)
{
	struct elf_file *elf = NULL;

	ret_loader[0] = '\0';
	if (geteuid() == 0 || getxattr(self, "security.capability", NULL, 0) <= 0 ||
	    elf_open(self, &elf, NULL) < 0)
		return false;
	preload_interpreter(elf, ret_loader, size);
	elf_close(elf);
	return ret_loader[0] != '\0';
}

static const struct engine_ops *engine_of(const struct doctor_engine *engine)
{
	return engine->engine ? engine_find(engine->engine, NULL, NULL) : NULL;
}

static bool is_engine(const struct doctor_engine *engine, const char *name)
{
	return engine->engine && strcmp(engine->engine, name) == 0;
}

void doctor_trials_start(struct doctor_trials *trials)
{
	char loader[PATH_MAX];
	char self[PATH_MAX];
	char command[] = "trial";
	char briefly[] = BRIEFLY;
	char lasting[] = LASTING;
	char naps[] = "naps";
	char *argv[] = {loader, self, command, briefly, NULL, NULL};
	bool by_loader;

	if (!own_program_path(self, sizeof(self)))
		(void)snprintf(self, sizeof(self), "/proc/self/exe");
	by_loader = needs_loader(self, loader, sizeof(loader));
	for (unsigned int i = 0; i < DOCTOR_ENGINES; i++) {
		const struct doctor_engine *engine = &doctor_engines[i];

		argv[3] = engine->attach ? lasting : briefly;
		argv[4] = engine->wakers ? naps : NULL;
		trial_start(&trials->trials[i],
			    &(struct trial_plan){.engine = engine_of(engine),
						 .heap = engine->heap,
						 .attach = engine->attach,
						 .wakers = engine->wakers,
						 .program = by_loader ? argv : argv + 1,
						 .limit_ns = LIMIT_NS});
	}
}

static void explain_failure(const struct doctor_engine *engine, const struct trial_result *result,
			    const struct doctor_facts *facts, struct finding *ret)
{
	char refused[128];
	bool denied = result->code == -EPERM || result->code == -EACCES;

	doctor_list_refused(facts, engine->calls | CALL(PIDFD_OPEN), refused, sizeof(refused));
	finding_say(ret, VERDICT_NO, "%.300s", result->err.text);
	finding_advise(ret, "%.390s", result->err.remedy);
	if (refused[0]) {
		finding_say(ret, VERDICT_NO, "%s: a seccomp filter blocks %s",
			    result->killed_by ? "killed" : strerror(-result->code), refused);
		finding_advise_sandbox(ret, facts);
	} else if (result->killed_by == SIGSYS ||
		   (result->code == -EPERM && facts->own.is_root &&
		    !confinement_may(&facts->own, CONFINEMENT_SYS_ADMIN))) {
		finding_advise_sandbox(ret, facts);
	} else if (result->code == -EAGAIN) {
		finding_advise_limit(ret, RLIMIT_NPROC);
	} else if (result->code == -EMFILE) {
		finding_advise_limit(ret, RLIMIT_NOFILE);
	} else if (is_engine(engine, "perf") && facts->perf.user < 0) {
		finding_explain_perf(ret, facts, facts->perf.user, 2);
	} else if (is_engine(engine, "ptrace") && denied && facts->perf.ptrace_scope == 2) {
		finding_advise(ret, "sudo sysctl kernel.yama.ptrace_scope=1");
		finding_advise_grant(ret);
	} else if (engine->attach && (result->code == -ENOENT || result->code == -EOPNOTSUPP)) {
		finding_advise(ret, "start the program with wick heap -- PROGRAM, or boot a kernel "
				    "with CONFIG_DEBUG_INFO_BTF=y");
	} else if (!ret->remedy[0]) {
		finding_advise(ret, "for details: WICK_LOG=debug wick doctor");
	}
}

/* Puts the name of the engine before the result, if wick chose the engine. */
static void name_chosen_engine(const struct trial_result *result, struct finding *ret)
{
	char text[sizeof(ret->text)];

	memcpy(text, ret->text, sizeof(text));
	finding_say(ret, ret->verdict, "with engine %s: %.290s", result->engine, text);
}

/* Stacks may be incomplete if a sample hit the program while it was starting. */
static void judge_stacks(const struct trial_result *result, const char *things, struct finding *ret)
{
	uint64_t cut = result->stacks - result->whole_stacks;
	bool many = result->late_cut * CUT_SHARE > result->stacks / 2;

	if (cut == 0) {
		finding_say(ret, VERDICT_OK,
			    "%" PRIu64 " %s of a test program, all stacks complete", result->stacks,
			    things);
		return;
	}
	finding_say(ret, many ? VERDICT_LIMITED : VERDICT_OK,
		    "%" PRIu64 " %s of a test program, %" PRIu64
		    " of their stacks do not lead to its start",
		    result->stacks, things, cut);
	if (many)
		finding_advise(ret, "to see which tables are missing: WICK_LOG=debug wick doctor");
}

static void judge_wakers(const struct trial_result *result, struct finding *ret)
{
	if (result->woken_stacks == 0) {
		finding_say(ret, VERDICT_NO, "no sleep of a test program has a waker");
		finding_advise(ret,
			       "for details: WICK_LOG=debug wick doctor; or do not use --waker");
		return;
	}
	finding_say(ret, result->notice[0] ? VERDICT_LIMITED : VERDICT_OK,
		    "%" PRIu64 " sleeps of a test program with their wakers%s%.190s",
		    result->woken_stacks, result->notice[0] ? "; " : "", result->notice);
	if (result->notice[0])
		finding_advise(ret, "boot a kernel with CONFIG_KALLSYMS_ALL=y");
}

void doctor_engine_judge(const struct doctor_engine *engine, const struct trial_result *result,
			 const struct doctor_facts *facts, struct finding *ret)
{
	const char *things = engine->heap ? "blocks" : "samples";

	*ret = (struct finding){0};
	if (result->code < 0) {
		explain_failure(engine, result, facts, ret);
	} else if (result->stacks == 0) {
		finding_say(ret, VERDICT_NO, "a test program gave no %s%s%.240s", things,
			    result->why_none[0] ? ": " : "", result->why_none);
		finding_advise(ret,
			       "for details: WICK_LOG=debug wick doctor; or use another engine");
	} else if (engine->wakers) {
		judge_wakers(result, ret);
	} else {
		judge_stacks(result, things, ret);
	}
	if (!engine->engine && result->engine[0])
		name_chosen_engine(result, ret);
}

const char *doctor_trials_judge(struct doctor_trials *trials, unsigned int which,
				const struct doctor_facts *facts, struct finding *ret)
{
	const struct doctor_engine *engine = &doctor_engines[which];
	struct trial_result result;
	const struct engine_ops *taken;

	trial_finish(&trials->trials[which], &result);
	doctor_engine_judge(engine, &result, facts, ret);
	if (ret->verdict == VERDICT_NO)
		return NULL;
	taken = engine_find(result.engine, NULL, NULL);
	return taken ? taken->name : NULL;
}
