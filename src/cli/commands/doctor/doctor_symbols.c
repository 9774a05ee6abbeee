/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/doctor/doctor_symbols.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/vec.h"
#include "cli/help.h"
#include "elf/elf.h"
#include "engine/signal/preload_path.h"
#include "model/entity.h"
#include "symbol/debug_file.h"

#define OS_RELEASE_BYTES 4096

static void check_kernel_symbols(const struct doctor_facts *facts, struct finding *finding)
{
	if (facts->perf.kernel_symbols) {
		finding_say(finding, VERDICT_OK,
			    "/proc/kallsyms is readable (kernel.kptr_restrict is %" PRId64 ")",
			    facts->perf.kptr_restrict);
		return;
	}
	if (facts->perf.kptr_restrict == PERF_PROBE_UNKNOWN)
		finding_say(finding, VERDICT_LIMITED, "/proc/kallsyms shows no addresses");
	else
		finding_say(finding, VERDICT_LIMITED,
			    "/proc/kallsyms shows no addresses (kernel.kptr_restrict is %" PRId64
			    ", kernel.perf_event_paranoid is %" PRId64 ")",
			    facts->perf.kptr_restrict, facts->perf.paranoid);
	if (facts->perf.kptr_restrict > 0)
		finding_advise(finding, "sudo sysctl kernel.kptr_restrict=0 "
					"kernel.perf_event_paranoid=1, or run as root");
	else
		finding_advise(finding, "sudo sysctl kernel.perf_event_paranoid=1, or run as root");
}

/* There is nothing to check: the user decides whether a runtime writes the names of its code. */
static void check_jit(const struct doctor_facts *facts, struct finding *finding)
{
	(void)facts;
	finding_say(finding, VERDICT_OK,
		    "has names if its runtime writes them to a file, which needs a flag");
	finding_advise(finding, "node --perf-basic-prof; java -XX:+PreserveFramePointer "
				"-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit");
}

/* Whether a line ID=… or ID_LIKE=… of /etc/os-release contains a word. */
static bool names_system(const char *os_release, const char *name)
{
	for (const char *line = os_release; *line;
	     line += strcspn(line, "\n"), line += *line != 0) {
		size_t length = strcspn(line, "\n");
		size_t size = strlen(name);

		if (strncmp(line, "ID=", 3) != 0 && strncmp(line, "ID_LIKE=", 8) != 0)
			continue;
		for (size_t i = 3; i + size <= length; i++)
			if (strchr("=\" '", line[i - 1]) && strncmp(line + i, name, size) == 0 &&
			    strchr("\" '\n", line[i + size]))
				return true;
	}
	return false;
}

void doctor_symbol_remedy(const char *os_release, char *ret, size_t size)
{
	static const struct {
		const char *system;
		const char *command;
	} systems[] = {
		{"debian", "sudo apt install libc6-dbg"},
		{"ubuntu", "sudo apt install libc6-dbg"},
		{"fedora", "sudo dnf debuginfo-install glibc"},
		{"rhel", "sudo dnf debuginfo-install glibc"},
		{"suse", "sudo zypper --plus-content debug install glibc-debuginfo"},
		{"opensuse", "sudo zypper --plus-content debug install glibc-debuginfo"},
		{"alpine", "sudo apk add musl-dbg"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(systems); i++)
		if (names_system(os_release, systems[i].system)) {
			(void)snprintf(ret, size, "%s", systems[i].command);
			return;
		}
	(void)snprintf(ret, size,
		       "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org, then use "
		       "--debuginfod with wick report and others");
}

/* Whether the debug information of a file is available, in the file or separately. */
static bool has_lines(const char *path)
{
	const struct symbol_search search = {0};
	struct module module = {.path = path};
	struct elf_file *own = NULL;
	struct debug_file found = {0};
	bool lines;

	if (elf_open(path, &own, NULL) < 0)
		return false;
	module.build_id = *elf_build_id(own);
	lines = debug_file_has_lines(own);
	if (!lines && debug_file_find(&module, own, path, &search, &found) == 0)
		lines = debug_file_has_lines(found.elf);
	elf_close(found.elf);
	elf_close(own);
	free(found.path);
	return lines;
}

static void check_libc(const struct doctor_facts *facts, struct finding *finding)
{
	SCOPED(file) FILE *file = fopen("/etc/os-release", "re");
	char os_release[OS_RELEASE_BYTES + 1];
	char remedy[200];
	Dl_info info;

	(void)facts;
	/* The C library is found by fopen(), which preloaded tools do not replace. */
	if (!dladdr((void *)(uintptr_t)fopen, &info) || !info.dli_fname) {
		finding_say(finding, VERDICT_LIMITED, "the C library's file is not known");
		return;
	}
	if (has_lines(info.dli_fname)) {
		finding_say(finding, VERDICT_OK, "those of %.200s are installed", info.dli_fname);
		return;
	}
	finding_say(finding, VERDICT_LIMITED,
		    "none for %.200s: its functions have no lines and few names", info.dli_fname);
	os_release[file ? fread(os_release, 1, OS_RELEASE_BYTES, file) : 0] = '\0';
	doctor_symbol_remedy(os_release, remedy, sizeof(remedy));
	finding_advise(finding, "%s", remedy);
}

static void check_debuginfod(const struct doctor_facts *facts, struct finding *finding)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	bool is_set = servers && servers[0];
	char path[512];
	bool has_program = preload_find_program("debuginfod-find", path, sizeof(path));

	(void)facts;
	if (is_set && has_program)
		finding_say(finding, VERDICT_OK, "used with --debuginfod: %.200s", servers);
	else
		finding_say(finding, VERDICT_OK, "not used: %s",
			    has_program ? "DEBUGINFOD_URLS is not set"
					: "the program debuginfod-find is not installed");
	if (!has_program)
		finding_advise(finding, "for debug symbols from a server: sudo apt install "
					"debuginfod, or the package elfutils-debuginfod-client");
}

static void check_parts(const struct doctor_facts *facts, struct finding *finding)
{
	char missing[200] = "";
	char needs[200] = "";
	size_t used = 0;
	size_t length = 0;

	(void)facts;
	for (const struct help_part *part = help_parts; part->name; part++) {
		if (part->built)
			continue;
		used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%s (%s)",
					 used > 0 ? ", " : "", part->name, part->gives);
		length += (size_t)snprintf(needs + length, sizeof(needs) - length, " %s",
					   part->needs);
	}
	if (!missing[0]) {
		finding_say(finding, VERDICT_OK, "all are built in: see wick --version");
		return;
	}
	finding_say(finding, VERDICT_LIMITED, "not built in: %s", missing);
	finding_advise(finding, "rebuild wick after: sudo apt install%s", needs);
}

const struct doctor_check doctor_symbols[] = {
	{"kernel_symbols", "kernel symbols", check_kernel_symbols},
	{"libc_symbols", "debug symbols", check_libc},
	{"debuginfod", "debuginfod", check_debuginfod},
	{"jit", "JIT-compiled code", check_jit},
	{"parts", "optional parts", check_parts},
	{NULL, NULL, NULL},
};
