/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/limit_remedy.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NUMBER_BYTES 24

/* The names of each limit, and the unit that ulimit counts in. */
static const struct name {
	int resource;
	char option; /* of ulimit */
	unsigned int unit_bytes;
	const char *word;     /* of prlimit, limits.conf and containers */
	const char *property; /* of a systemd unit */
} names[] = {
	{RLIMIT_NOFILE, 'n', 1, "nofile", "LimitNOFILE"},
	{RLIMIT_NPROC, 'u', 1, "nproc", "LimitNPROC"},
	{RLIMIT_AS, 'v', 1024, "as", "LimitAS"},
	{RLIMIT_DATA, 'd', 1024, "data", "LimitDATA"},
	{RLIMIT_FSIZE, 'f', 1024, "fsize", "LimitFSIZE"},
};

static const struct name *find_name(int resource)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].resource == resource)
			return &names[i];
	return NULL;
}

static const char *put_amount(char *ret, rlim_t amount, unsigned int unit, const char *unlimited)
{
	if (amount == RLIM_INFINITY)
		return unlimited;
	(void)snprintf(ret, NUMBER_BYTES, "%llu", (unsigned long long)amount / unit);
	return ret;
}

bool limit_remedy_for(int resource, const struct rlimit *limit, bool is_root, rlim_t wanted,
		      char *ret, size_t size)
{
	const struct name *name = find_name(resource);
	bool by_anybody = limit->rlim_cur < limit->rlim_max;
	char number[NUMBER_BYTES];
	const char *amount;

	ret[0] = '\0';
	if (!name || limit->rlim_cur == RLIM_INFINITY)
		return false;
	while (wanted <= limit->rlim_cur) /* no overflow: doubles nothing above it */
		wanted = wanted > RLIM_INFINITY / 2 ? RLIM_INFINITY : wanted * 2;
	if (by_anybody && !is_root && wanted > limit->rlim_max)
		wanted = limit->rlim_max;
	if (by_anybody || is_root) {
		amount = put_amount(number, wanted, name->unit_bytes, "unlimited");
		(void)snprintf(ret, size, "ulimit -%c %s", name->option, amount);
		if (!by_anybody && strlen(ret) < size) /* a container's root may not */
			(void)snprintf(ret + strlen(ret), size - strlen(ret),
				       "; in a container: --ulimit %s=%s", name->word,
				       put_amount(number, wanted, 1, "-1"));
		return true;
	}
	amount = put_amount(number, wanted, 1, "unlimited");
	(void)snprintf(ret, size,
		       "sudo prlimit --pid $$ --%s=%s; for good: \"* hard %s %s\" in "
		       "/etc/security/limits.conf; in a systemd unit: %s=%s",
		       name->word, amount, name->word, amount, name->property,
		       put_amount(number, wanted, 1, "infinity"));
	return true;
}

bool limit_remedy(int resource, rlim_t wanted, char *ret, size_t size)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	(void)getrlimit((__rlimit_resource_t)resource, &limit); /* cannot fail */
	return limit_remedy_for(resource, &limit, geteuid() == 0, wanted, ret, size);
}
