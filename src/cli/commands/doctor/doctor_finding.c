/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/doctor/doctor_finding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/limit_remedy.h"
#include "proc/own_program.h"

void finding_say(struct finding *finding, enum verdict verdict, const char *format, ...)
{
	va_list args;

	finding->verdict = verdict;
	va_start(args, format);
	(void)vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
}

void finding_advise(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(finding->remedy, sizeof(finding->remedy), format, args);
	va_end(args);
}

static void add(struct finding *finding, const char *text)
{
	size_t used = strlen(finding->remedy);

	(void)snprintf(finding->remedy + used, sizeof(finding->remedy) - used, "%s%s",
		       used > 0 ? ", or: " : "", text);
}

void finding_advise_grant(struct finding *finding)
{
	char command[sizeof(finding->remedy) - 100];

	add(finding, own_program_grant(OWN_PROGRAM_ALL, command, sizeof(command)));
}

void finding_advise_limit(struct finding *finding, int resource)
{
	finding->remedy[0] = '\0';
	if (resource == RLIMIT_NPROC) {
		if (!limit_remedy(resource, RLIM_INFINITY, finding->remedy,
				  sizeof(finding->remedy)))
			finding_advise(finding,
				       "end other programs; in a systemd unit: "
				       "TasksMax=infinity; in a container: --pids-limit -1");
	} else if (!limit_remedy(resource, LIMIT_MANY_FILES, finding->remedy,
				 sizeof(finding->remedy))) {
		finding_advise(finding, "sudo sysctl fs.file-max=1048576");
	}
}

void doctor_list_refused(const struct doctor_facts *facts, unsigned int mask, char *ret,
			 size_t size)
{
	size_t length = 0;

	ret[0] = '\0';
	for (unsigned int i = 0; i < CONFINED_CALLS && length < size; i++)
		if (facts->own.refused[i] && (mask >> i & 1))
			length += (size_t)snprintf(ret + length, size - length, "%s%s",
						   length > 0 ? ", " : "", confined_call_names[i]);
}

void finding_advise_sandbox(struct finding *finding, const struct doctor_facts *facts)
{
	const char *container = facts->own.container;

	if (strcmp(container, "kubernetes") == 0)
		finding_advise(finding, "in the pod's container: securityContext: {capabilities: "
					"{add: [PERFMON, BPF, SYS_PTRACE, SYSLOG]}, "
					"seccompProfile: {type: Unconfined}}");
	else
		finding_advise(finding,
			       "%s%s run --cap-add PERFMON --cap-add BPF --cap-add SYS_PTRACE "
			       "--cap-add SYSLOG --security-opt seccomp=unconfined …",
			       container[0] ? "" : "in a container: ",
			       strcmp(container, "podman") == 0 ? "podman" : "docker");
	if (!container[0])
		(void)snprintf(finding->remedy + strlen(finding->remedy),
			       sizeof(finding->remedy) - strlen(finding->remedy),
			       "; in a systemd unit: SystemCallFilter=@debug perf_event_open bpf");
}

void finding_advise_rights(struct finding *finding, const struct doctor_facts *facts)
{
	if (facts->own.is_root) {
		finding_advise_sandbox(finding, facts);
		return;
	}
	finding_advise(finding, "run as root");
	finding_advise_grant(finding);
}

void finding_explain_perf(struct finding *finding, const struct doctor_facts *facts, int code,
			  int paranoid)
{
	bool denied = code == -EACCES || code == -EPERM;
	bool refused = facts->own.refused[CONFINED_PERF_EVENT_OPEN];

	finding_say(finding, VERDICT_NO, "%s%s", strerror(-code),
		    refused ? ": a seccomp filter blocks perf_event_open" : "");
	if (refused || (denied && (facts->own.is_root || facts->perf.paranoid <= paranoid))) {
		finding_advise_sandbox(finding, facts);
	} else if (code == -ENOSYS || code == -ENOENT) {
		finding_advise(finding, "boot a kernel with perf events: CONFIG_PERF_EVENTS=y");
	} else if (denied) {
		finding_advise(finding, "sudo sysctl kernel.perf_event_paranoid=%d", paranoid);
		finding_advise_grant(finding);
	} else if (code == -EMFILE) {
		finding_advise_limit(finding, RLIMIT_NOFILE);
	} else {
		finding_advise(finding, "use --engine signal or ptrace");
	}
}
