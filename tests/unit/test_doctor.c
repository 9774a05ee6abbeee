/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/commands/doctor/doctor_engines.h"
#include "cli/commands/doctor/doctor_limits.h"
#include "cli/commands/doctor/doctor_symbols.h"

/* A machine where all is allowed. */
static struct doctor_facts open_machine(void)
{
	return (struct doctor_facts){
		.perf = {.paranoid = -1,
			 .max_sample_rate_hz = 100000,
			 .mlock_kb = 516,
			 .max_stack = 1024,
			 .kernel_symbols = true,
			 .ptrace_scope = PERF_PROBE_UNKNOWN,
			 .btf = true},
		.own = {.capabilities = ~0ull,
			.locked_bytes = UINT64_MAX,
			.open_files = 65536,
			.shared_memory = true,
			.shared_bytes = 1u << 30},
	};
}

static struct finding look_at(const char *name, const struct doctor_facts *facts)
{
	const struct doctor_check *check =
		strcmp(name, doctor_mounts[0].name) == 0 ? doctor_mounts : doctor_limits;
	struct finding finding = {0};

	while (check->name && strcmp(check->name, name) != 0)
		check++;
	assert_non_null(check->name);
	check->look(facts, &finding);
	return finding;
}

static struct finding judge(const char *name, const struct trial_result *result,
			    const struct doctor_facts *facts)
{
	struct finding finding = {0};
	unsigned int i = 0;

	while (i < DOCTOR_ENGINES && strcmp(doctor_engines[i].name, name) != 0)
		i++;
	assert_true(i < DOCTOR_ENGINES);
	doctor_engine_judge(&doctor_engines[i], result, facts, &finding);
	return finding;
}

static void where_all_is_allowed_nothing_is_advised(void **state)
{
	struct doctor_facts facts = open_machine();

	for (const struct doctor_check *check = doctor_limits; check->name; check++) {
		struct finding finding = look_at(check->name, &facts);

		assert_int_equal(finding.verdict, VERDICT_OK);
		assert_string_equal(finding.remedy, "");
	}
}

static void each_limit_is_named_with_its_value_and_its_remedy(void **state)
{
	static const struct {
		const char *check;
		struct doctor_facts facts;
		const char *text, *remedy;
	} cases[] = {
		{"perf_event_paranoid",
		 {.perf = {.paranoid = 3, .machine = -EACCES}},
		 "perf_event_paranoid is 3",
		 "sysctl kernel.perf_event_paranoid=0"},
		{"perf_event_mlock_kb", {.perf = {.mlock_kb = 64}}, "is 64", "mlock_kb=516"},
		{"perf_event_max_stack", {.perf = {.max_stack = 127}}, "is 127", "max_stack=512"},
		{"ptrace", {.perf = {.ptrace_scope = 2}}, "is 2: only root", "ptrace_scope=0"},
		{"btf", {.perf = {.btf = false}}, "vmlinux", "CONFIG_DEBUG_INFO_BTF"},
		{"btf", {.own = {.lacks_sys = true}}, "/sys is not", "mount -t sysfs sysfs /sys"},
		{"mounts", {.own = {.lacks_proc = true}}, "/proc is not", "mount -t proc proc"},
		{"memlock", {.own = {.locked_bytes = 0}}, "RLIMIT_MEMLOCK is 0", "ulimit -l 8192"},
		{"open_files",
		 {.own = {.open_files = 100}},
		 "is 100",
		 "prlimit --pid $$ --nofile=65536"},
		{"shared_memory", {.own = {0}}, "/dev/shm is not writable", "mount -t tmpfs"},
		{"shared_memory",
		 {.own = {.shared_memory = true, .shared_bytes = 4096}},
		 "0.0 MB",
		 "--shm-size"},
		{"lockdown",
		 {.own = {.lockdown = "confidentiality"}},
		 "conf",
		 "lockdown=integrity"},
		{"capabilities",
		 {.own = {.capabilities = 1ull << CONFINEMENT_BPF}},
		 "missing: cap_perfmon, cap_sys_ptrace, cap_syslog",
		 "sudo chmod 0750 \"$f\" && sudo setcap cap_bpf,"},
		{"seccomp",
		 {.own = {.seccomp = 2,
			  .refused = {[CONFINED_BPF] = true, [CONFINED_PTRACE] = true},
			  .container = "kubernetes"}},
		 "blocks bpf, ptrace",
		 "seccompProfile: {type: Unconfined}"},
		{"perf_user",
		 {.perf = {.user = -EACCES, .paranoid = 3}},
		 "Permission denied",
		 "sysctl kernel.perf_event_paranoid=2"},
		{"capabilities",
		 {.own = {.is_root = true, .container = "docker"}},
		 "missing: cap_bpf, cap_perfmon, cap_sys_ptrace, cap_syslog",
		 "docker run --cap-add PERFMON"},
		{"perf_user",
		 {.perf = {.user = -EPERM, .paranoid = 1}, .own = {.container = "podman"}},
		 "not permitted",
		 "podman run --cap-add PERFMON"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct finding finding = look_at(cases[i].check, &cases[i].facts);

		assert_int_not_equal(finding.verdict, VERDICT_OK);
		assert_non_null(strstr(finding.text, cases[i].text));
		assert_non_null(strstr(finding.remedy, cases[i].remedy));
	}
}

static void an_engine_is_judged_by_what_came_of_it(void **state)
{
	struct doctor_facts facts = open_machine();
	struct finding finding;

	finding = judge("engine_perf", &(struct trial_result){.stacks = 9, .whole_stacks = 9},
			&facts);
	assert_int_equal(finding.verdict, VERDICT_OK);
	assert_string_equal(finding.text, "9 samples of a test program, all stacks complete");
	assert_string_equal(finding.remedy, "");
	finding =
		judge("heap", &(struct trial_result){.stacks = 9, .whole_stacks = 7, .late_cut = 1},
		      &facts);
	assert_int_equal(finding.verdict, VERDICT_LIMITED);
	assert_non_null(strstr(finding.text, "9 blocks of a test program, 2 of their stacks"));
	assert_true(finding.remedy[0] != '\0');
	/* Where all of them are at the start. */
	finding = judge("heap", &(struct trial_result){.stacks = 9, .whole_stacks = 6}, &facts);
	assert_int_equal(finding.verdict, VERDICT_OK);
	assert_non_null(strstr(finding.text, "3 of their stacks"));
	finding = judge("heap", &(struct trial_result){.stacks = 39, .whole_stacks = 38}, &facts);
	assert_int_equal(finding.verdict, VERDICT_OK);
	assert_non_null(strstr(finding.text, "1 of their stacks"));
	finding = judge("engine_signal", &(struct trial_result){.why_none = "nobody came"}, &facts);
	assert_int_equal(finding.verdict, VERDICT_NO);
	assert_string_equal(finding.text, "a test program gave no samples: nobody came");
}

static void wakers_are_judged_by_the_sleeps_that_have_one(void **state)
{
	struct doctor_facts facts = open_machine();
	struct trial_result result = {.stacks = 18, .whole_stacks = 9, .woken_stacks = 9};
	struct finding finding = judge("waker", &result, &facts);

	assert_int_equal(finding.verdict, VERDICT_OK);
	assert_string_equal(finding.text, "9 sleeps of a test program with their wakers");
	(void)snprintf(result.notice, sizeof(result.notice), "less exact");
	finding = judge("waker", &result, &facts);
	assert_int_equal(finding.verdict, VERDICT_LIMITED);
	assert_non_null(strstr(finding.text, "less exact"));
	assert_non_null(strstr(finding.remedy, "CONFIG_KALLSYMS_ALL"));
	result.woken_stacks = 0;
	finding = judge("waker", &result, &facts);
	assert_int_equal(finding.verdict, VERDICT_NO);
	assert_true(finding.remedy[0] != '\0');
}

static void an_engine_that_fails_has_its_reason_and_a_remedy(void **state)
{
	struct doctor_facts facts = open_machine();
	struct trial_result result = {.code = -EPERM, .err = {-EPERM, "it may not", "let it"}};
	struct finding finding = judge("engine_ptrace", &result, &facts);

	assert_int_equal(finding.verdict, VERDICT_NO);
	assert_string_equal(finding.text, "it may not");
	assert_string_equal(finding.remedy, "let it");
	facts.perf.ptrace_scope = 2;
	finding = judge("engine_ptrace", &result, &facts);
	assert_non_null(strstr(finding.remedy, "sysctl kernel.yama.ptrace_scope=1"));
	facts.own.refused[CONFINED_PTRACE] = true;
	(void)snprintf(facts.own.container, sizeof(facts.own.container), "docker");
	finding = judge("engine_ptrace", &result, &facts);
	assert_non_null(strstr(finding.text, "a seccomp filter blocks ptrace"));
	assert_memory_equal(finding.remedy, "docker run", 10);
	result.code = -EMFILE;
	finding = judge("heap", &result, &facts);
	assert_non_null(strstr(finding.remedy, "65536"));
	result = (struct trial_result){.code = -ETIMEDOUT};
	finding = judge("heap", &result, &facts);
	assert_true(finding.remedy[0] != '\0');
}

static void what_wick_record_takes_by_itself_is_told(void **state)
{
	struct doctor_facts facts = open_machine();
	struct trial_result result = {.stacks = 9, .whole_stacks = 9, .engine = "signal"};
	struct finding finding = judge("record", &result, &facts);

	assert_int_equal(finding.verdict, VERDICT_OK);
	assert_string_equal(finding.text,
			    "with engine signal: 9 samples of a test program, all stacks complete");
	result = (struct trial_result){
		.code = -EPERM, .err = {-EPERM, "a filter kills it", ""}, .killed_by = SIGSYS};
	finding = judge("record", &result, &facts);
	assert_int_equal(finding.verdict, VERDICT_NO);
	assert_string_equal(finding.text, "a filter kills it");
	assert_non_null(strstr(finding.remedy, "seccomp=unconfined"));
	facts.own.refused[CONFINED_PIDFD_OPEN] = true;
	finding = judge("record", &result, &facts);
	assert_string_equal(finding.text, "killed: a seccomp filter blocks pidfd_open");
}

static void debug_symbols_are_installed_as_the_system_does_it(void **state)
{
	static const struct {
		const char *os_release, *remedy;
	} cases[] = {
		{"NAME=x\nID=debian\n", "sudo apt install libc6-dbg"},
		{"ID=mint\nID_LIKE=\"ubuntu debian\"\n", "sudo apt install libc6-dbg"},
		{"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n",
		 "sudo dnf debuginfo-install glibc"},
		{"ID=fedora", "sudo dnf debuginfo-install glibc"},
		{"ID=arch\n", "export DEBUGINFOD_URLS="},
		{"ID=notdebian\nVARIANT_ID=debian\n", "export DEBUGINFOD_URLS="},
		{"", "export DEBUGINFOD_URLS="},
		{"ID=", "export DEBUGINFOD_URLS="},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char remedy[200];

		doctor_symbol_remedy(cases[i].os_release, remedy, sizeof(remedy));
		assert_memory_equal(remedy, cases[i].remedy, strlen(cases[i].remedy));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_all_is_allowed_nothing_is_advised),
		cmocka_unit_test(each_limit_is_named_with_its_value_and_its_remedy),
		cmocka_unit_test(an_engine_is_judged_by_what_came_of_it),
		cmocka_unit_test(wakers_are_judged_by_the_sleeps_that_have_one),
		cmocka_unit_test(an_engine_that_fails_has_its_reason_and_a_remedy),
		cmocka_unit_test(what_wick_record_takes_by_itself_is_told),
		cmocka_unit_test(debug_symbols_are_installed_as_the_system_does_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
