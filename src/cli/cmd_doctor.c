/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/vec.h"
#include "cli/command.h"
#include "engine/engine.h"
#include "engine/perf/perf_probe.h"

#define SETCAP "sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog=ep $(command -v wick)"

/* record's highest rate and its default depth: below them a limit of the kernel is felt */
#define WANTED_RATE_HZ 10000
#define WANTED_STACK 512
#define WANTED_MLOCK_KB 516 /* the kernel's own default */

enum doctor_format { DOCTOR_FORMAT_TEXT, DOCTOR_FORMAT_JSON };

struct doctor_options {
	enum doctor_format format;
};

enum verdict { VERDICT_OK, VERDICT_LIMITED, VERDICT_MISSING };

struct finding {
	enum verdict verdict;
	char text[256];
	char remedy[320]; /* a command or setting; "" when there is nothing to do */
};

static void say(struct finding *finding, enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void advise(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct finding *finding, enum verdict verdict, const char *format, ...)
{
	va_list args;

	finding->verdict = verdict;
	va_start(args, format);
	(void)vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
}

static void advise(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(finding->remedy, sizeof(finding->remedy), format, args);
	va_end(args);
}

static void check_host(const struct perf_probe *probe, struct finding *finding)
{
	bool known = strcmp(probe->cpu, "x86_64") == 0 || strcmp(probe->cpu, "aarch64") == 0;

	say(finding, known ? VERDICT_OK : VERDICT_LIMITED, "Linux %s on %s", probe->release,
	    probe->cpu);
	if (!known)
		advise(finding, "stacks are followed by frame pointers only on this CPU: compile "
				"with -fno-omit-frame-pointer");
}

/* Why an event did not open, and what would let it; paranoid is the setting that allows it. */
static void explain(const struct perf_probe *probe, int code, int paranoid, struct finding *finding)
{
	bool denied = code == -EACCES || code == -EPERM;

	say(finding, VERDICT_MISSING, "%s", strerror(-code));
	if (code == -ENOSYS || code == -ENOENT)
		advise(finding,
		       "the kernel has no perf events: it needs CONFIG_PERF_EVENTS=y, and a "
		       "sandbox must allow perf_event_open");
	else if (denied && probe->paranoid > paranoid)
		advise(finding, "sudo sysctl kernel.perf_event_paranoid=%d, or: " SETCAP, paranoid);
	else if (denied)
		advise(finding, "a sandbox forbids perf_event_open; in a container: --cap-add "
				"PERFMON --security-opt seccomp=unconfined");
	else if (code == -EMFILE)
		advise(finding, "ulimit -n 65536");
}

static void check_user(const struct perf_probe *probe, struct finding *finding)
{
	say(finding, VERDICT_OK, "programs of your own can be sampled");
	if (probe->user < 0)
		explain(probe, probe->user, 2, finding);
}

static void check_kernel(const struct perf_probe *probe, struct finding *finding)
{
	say(finding, VERDICT_OK, "the kernel's part of their time can be sampled");
	if (probe->kernel < 0)
		explain(probe, probe->kernel, 1, finding);
}

static void check_machine(const struct perf_probe *probe, struct finding *finding)
{
	say(finding, VERDICT_OK, "all processes can be sampled (wick record -a)");
	if (probe->machine < 0)
		explain(probe, probe->machine, 0, finding);
}

static void check_hardware(const struct perf_probe *probe, struct finding *finding)
{
	bool absent = probe->hardware == -ENOENT || probe->hardware == -ENODEV ||
		      probe->hardware == -EOPNOTSUPP;

	say(finding, VERDICT_OK, "cycles, cache-misses and the like can be counted");
	if (probe->hardware < 0)
		explain(probe, probe->hardware, 2, finding);
	if (!absent)
		return;
	say(finding, VERDICT_LIMITED, "none: this is most likely a virtual machine");
	advise(finding, "cpu-clock works without them; to have them, give the guest a PMU (QEMU: "
			"-cpu host,pmu=on)");
}

static void check_paranoid(const struct perf_probe *probe, struct finding *finding)
{
	if (probe->paranoid == PERF_PROBE_UNKNOWN) {
		say(finding, VERDICT_MISSING, "kernel.perf_event_paranoid cannot be read");
		advise(finding, "the kernel needs CONFIG_PERF_EVENTS=y and /proc must be mounted");
		return;
	}
	say(finding, probe->machine == 0 ? VERDICT_OK : VERDICT_LIMITED,
	    "kernel.perf_event_paranoid is %" PRId64, probe->paranoid);
	if (probe->machine < 0 && probe->paranoid > 0)
		advise(finding, "sudo sysctl kernel.perf_event_paranoid=0");
}

/* A kernel setting that should be at least wanted. */
static void check_least(const char *name, int64_t value, int64_t wanted, const char *felt,
			struct finding *finding)
{
	if (value == PERF_PROBE_UNKNOWN) {
		say(finding, VERDICT_LIMITED, "%s cannot be read", name);
		return;
	}
	if (value >= wanted) {
		say(finding, VERDICT_OK, "%s is %" PRId64, name, value);
		return;
	}
	say(finding, VERDICT_LIMITED, "%s is %" PRId64 ": %s", name, value, felt);
	advise(finding, "sudo sysctl %s=%" PRId64, name, wanted);
}

static void check_rate(const struct perf_probe *probe, struct finding *finding)
{
	check_least("kernel.perf_event_max_sample_rate", probe->max_sample_rate_hz, WANTED_RATE_HZ,
		    "higher rates are refused", finding);
}

static void check_mlock(const struct perf_probe *probe, struct finding *finding)
{
	check_least("kernel.perf_event_mlock_kb", probe->mlock_kb, WANTED_MLOCK_KB,
		    "buffers are small, samples may be lost", finding);
}

static void check_stack(const struct perf_probe *probe, struct finding *finding)
{
	check_least("kernel.perf_event_max_stack", probe->max_stack, WANTED_STACK,
		    "the kernel's own call chains are cut there", finding);
}

static void check_symbols(const struct perf_probe *probe, struct finding *finding)
{
	if (probe->kernel_symbols) {
		say(finding, VERDICT_OK, "/proc/kallsyms is readable");
		return;
	}
	if (probe->kptr_restrict == PERF_PROBE_UNKNOWN)
		say(finding, VERDICT_LIMITED, "/proc/kallsyms shows no addresses");
	else
		say(finding, VERDICT_LIMITED,
		    "/proc/kallsyms shows no addresses (kernel.kptr_restrict is %" PRId64
		    ", kernel.perf_event_paranoid is %" PRId64 ")",
		    probe->kptr_restrict, probe->paranoid);
	if (probe->kptr_restrict > 0)
		advise(finding, "sudo sysctl kernel.kptr_restrict=0 "
				"kernel.perf_event_paranoid=1, or run as root");
	else
		advise(finding, "sudo sysctl kernel.perf_event_paranoid=1, or run as root");
}

static void check_btf(const struct perf_probe *probe, struct finding *finding)
{
	say(finding, VERDICT_OK, "/sys/kernel/btf/vmlinux is readable");
	if (probe->btf)
		return;
	say(finding, VERDICT_LIMITED, "/sys/kernel/btf/vmlinux is missing: no eBPF engine");
	advise(finding, "use a kernel with CONFIG_DEBUG_INFO_BTF=y, or --engine perf");
}

static void check_ebpf(const struct perf_probe *probe, struct finding *finding)
{
	const struct engine_ops *engine = engine_find("ebpf", NULL, NULL);
	struct error err = {0};

	(void)probe;
	say(finding, VERDICT_OK, "stacks can be walked in the kernel, and time off the CPUs seen");
	if (!engine || engine->probe(&err) == 0)
		return;
	say(finding, VERDICT_LIMITED, "%.200s", err.text);
	advise(finding, "%.300s", err.remedy);
}

static void check_ptrace(const struct perf_probe *probe, struct finding *finding)
{
	static const char *const meanings[] = {
		"processes of the same user",
		"children only, others as root",
		"as root only",
		"nobody",
	};

	if (probe->ptrace_scope == PERF_PROBE_UNKNOWN) {
		say(finding, VERDICT_OK, "Yama is not active: processes of the same user");
		return;
	}
	if (probe->ptrace_scope < 0 || probe->ptrace_scope >= (int64_t)ARRAY_SIZE(meanings)) {
		say(finding, VERDICT_LIMITED, "kernel.yama.ptrace_scope is %" PRId64,
		    probe->ptrace_scope);
		return;
	}
	say(finding, probe->ptrace_scope == 0 ? VERDICT_OK : VERDICT_LIMITED,
	    "kernel.yama.ptrace_scope is %" PRId64 ": %s", probe->ptrace_scope,
	    meanings[probe->ptrace_scope]);
	if (probe->ptrace_scope == 3)
		advise(finding, "boot without kernel.yama.ptrace_scope=3: it cannot be lowered");
	else if (probe->ptrace_scope > 0)
		advise(finding, "sudo sysctl kernel.yama.ptrace_scope=0, or: " SETCAP);
}

/* Nothing to find out: whether the runtime lists its code is for its user to say. */
static void check_jit(const struct perf_probe *probe, struct finding *finding)
{
	(void)probe;
	say(finding, VERDICT_OK, "named where its runtime lists it, which takes a flag");
	advise(finding, "node --perf-basic-prof; java -XX:+PreserveFramePointer "
			"-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit; python3 -X perf");
}

static const struct check {
	const char *name; /* in JSON */
	const char *title;
	void (*look)(const struct perf_probe *probe, struct finding *finding);
} checks[] = {
	{"host", "host", check_host},
	{"perf_user", "perf: own programs", check_user},
	{"perf_kernel", "perf: with kernel", check_kernel},
	{"perf_machine", "perf: whole machine", check_machine},
	{"hardware_counters", "hardware counters", check_hardware},
	{"perf_event_paranoid", "permission", check_paranoid},
	{"perf_event_max_sample_rate", "rate limit", check_rate},
	{"perf_event_mlock_kb", "buffer limit", check_mlock},
	{"perf_event_max_stack", "stack limit", check_stack},
	{"kernel_symbols", "kernel symbols", check_symbols},
	{"jit", "compiled code", check_jit},
	{"btf", "BTF", check_btf},
	{"ebpf", "eBPF", check_ebpf},
	{"ptrace", "ptrace", check_ptrace},
};

static void put_text(struct bytes *out, const struct check *check, const struct finding *finding,
		     bool color)
{
	static const char *const words[] = {"ok", "limited", "no"};
	static const char *const colors[] = {"\033[32m", "\033[33m", "\033[31m"};

	bytes_printf(out, "%s%-8s%s %-20s %s\n", color ? colors[finding->verdict] : "",
		     words[finding->verdict], color ? "\033[0m" : "", check->title, finding->text);
	if (finding->remedy[0])
		bytes_printf(out, "%-29s %s\n", "", finding->remedy);
}

static void put_json(struct json *json, const struct check *check, const struct finding *finding)
{
	static const char *const words[] = {"ok", "limited", "missing"};

	json_open_object(json, NULL);
	json_string(json, "name", check->name);
	json_string(json, "status", words[finding->verdict]);
	json_string(json, "text", finding->text);
	json_string(json, "remedy", finding->remedy[0] ? finding->remedy : NULL);
	json_close(json);
}

static void put_report(struct bytes *out, const struct perf_probe *probe, bool as_json, bool color)
{
	struct json json;
	size_t i;

	json_init(&json, out, true);
	if (as_json) {
		json_open_object(&json, NULL);
		json_bool(&json, "usable", probe->user == 0);
		json_string(&json, "kernel", probe->release);
		json_string(&json, "cpu", probe->cpu);
		json_open_array(&json, "checks");
	}
	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		struct finding finding = {0};

		checks[i].look(probe, &finding);
		if (as_json)
			put_json(&json, &checks[i], &finding);
		else
			put_text(out, &checks[i], &finding, color);
	}
	if (as_json) {
		json_close(&json);
		json_close(&json);
	} else {
		bytes_printf(out, probe->user == 0 ? "\nwick record works here.\n"
						   : "\nNo engine works here.\n");
	}
}

static int run(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct doctor_options *options = values;
	struct perf_probe probe;
	struct bytes text = {0};
	int status;

	perf_probe(&probe);
	put_report(&text, &probe, options->format == DOCTOR_FORMAT_JSON, context->color_out);
	status = command_print(context, &text);
	bytes_fini(&text);
	if (status != COMMAND_DONE)
		return status;
	return probe.user == 0 ? COMMAND_DONE : COMMAND_FAILED;
}

static const struct option_spec table[] = {
	{"format", 0, OPTION_ENUM(struct doctor_options, format, "text", "json"),
	 .help = "how to print"},
	OPTION_END,
};

const struct command command_doctor = {
	.name = "doctor",
	.summary = "say what works on this machine, and how to repair what does not",
	.synopsis = "[OPTIONS]",
	.description =
		(const char *const[]){
			"Tries what the engines need and reads the limits of the kernel. Each line "
			"says ok, limited or no; what is not ok is followed by the command or "
			"setting "
			"that would change it. Nothing is changed.",
			"The exit status is 0 when at least one engine works, else 1.",
			NULL,
		},
	.examples =
		(const struct command_example[]){
			{"wick doctor", "before the first recording on a machine"},
			{"wick doctor --format json", "the same for a script"},
			{NULL, NULL},
		},
	.options = table,
	.options_size = sizeof(struct doctor_options),
	.defaults = &(const struct doctor_options){0},
	.run = run,
};
