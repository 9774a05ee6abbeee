/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/push_policy.h"

#include <stddef.h>

#include "base/vec.h"

#define FIRST_MS 1000u
#define LONGEST_MS 60000u
#define LONGEST_ASKED_S 600u

enum push_verdict push_verdict_of(int status)
{
	static const int later[] = {401, 403, 404, 405, 408, 425, 429};

	if (status >= 200 && status < 300)
		return PUSH_STORED;
	for (size_t i = 0; i < ARRAY_SIZE(later); i++)
		if (status == later[i])
			return PUSH_LATER;
	return status >= 400 && status < 500 ? PUSH_REFUSED : PUSH_LATER;
}

uint64_t push_wait_ms(uint32_t failures, uint64_t retry_after_s, uint32_t random)
{
	uint64_t wait_ms = FIRST_MS;

	if (retry_after_s > 0)
		return (retry_after_s < LONGEST_ASKED_S ? retry_after_s : LONGEST_ASKED_S) * 1000 +
		       random % 1000;
	while (failures-- > 1 && wait_ms < LONGEST_MS)
		wait_ms *= 2;
	if (wait_ms > LONGEST_MS)
		wait_ms = LONGEST_MS;
	return wait_ms / 2 + random % (wait_ms / 2 + 1);
}
