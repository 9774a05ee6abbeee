/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store_state.h"

int store_maintain(struct store *store, uint64_t now_s, struct error *err)
{
	(void)store; (void)now_s; (void)err;
	return 0;
}
