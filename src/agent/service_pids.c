/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/service_pids.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/process_facts.h"
#include "agent/service_rules.h"
#include "base/number.h"
#include "base/scope.h"

int service_pids_comm(pid_t pid, struct process_facts *facts)
{
	char path[64];
	char text[64];
	SCOPED(fd) int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid); /* it fits */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (n <= 0)
		return -ESRCH;
	text[n] = '\0';
	process_fact_copy(facts->comm, sizeof(facts->comm), text, strcspn(text, "\n"));
	return 0;
}

int service_pids_name(const struct service_rules *rules, pid_t pid, char *ret, size_t size)
{
	struct process_facts facts = {0};
	int r = process_facts_read(pid, &facts);

	if (r == 0)
		r = service_pids_comm(pid, &facts);
	if (r == 0)
		service_rules_name(rules, &facts, ret, size);
	return r;
}

/* Threads of the kernel run no program. */
static bool has_program(pid_t pid)
{
	char path[64];
	char target[PATH_MAX];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid); /* it fits */
	return readlink(path, target, sizeof(target)) > 0;
}

size_t service_pids_find(const struct service_rules *rules, const char *service, pid_t *ret,
			 size_t most)
{
	DIR *folder = opendir("/proc");
	const struct dirent *item;
	size_t count = 0;

	while (folder && (item = readdir(folder))) {
		char name[PROCESS_FACT_MAX];
		uint64_t pid;

		if (number_parse_u64(item->d_name, &pid) < 0 || pid > INT_MAX ||
		    (pid_t)pid == getpid() || !has_program((pid_t)pid) ||
		    service_pids_name(rules, (pid_t)pid, name, sizeof(name)) < 0 ||
		    strcmp(name, service) != 0)
			continue;
		if (count < most)
			ret[count] = (pid_t)pid;
		count++;
	}
	if (folder)
		(void)closedir(folder); /* only read from */
	return count;
}
