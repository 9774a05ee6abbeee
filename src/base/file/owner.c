/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/owner.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/number.h"

bool owner_find_caller(uint64_t *ret_uid, uint64_t *ret_gid)
{
	const char *uid_text = getenv("SUDO_UID");
	const char *gid_text = getenv("SUDO_GID");

	return geteuid() == 0 && uid_text && gid_text && number_parse_u64(uid_text, ret_uid) == 0 &&
	       number_parse_u64(gid_text, ret_gid) == 0;
}

uid_t owner_uid(void)
{
	uint64_t uid;
	uint64_t gid;

	return owner_find_caller(&uid, &gid) ? (uid_t)uid : geteuid();
}

bool owner_is_ours(uid_t uid)
{
	return uid == geteuid() || uid == owner_uid();
}

bool owner_is_our_group(gid_t gid)
{
	uint64_t caller_uid;
	uint64_t caller_gid;

	return gid == 0 || gid == getegid() ||
	       (owner_find_caller(&caller_uid, &caller_gid) && gid == caller_gid);
}
