/* SPDX-License-Identifier: BSD-2-Clause */
/* Replaces top_terminal.c if wick is built without ncurses. */
#include "cli/commands/parts/top_terminal.h"

#include <errno.h>

#include "base/error.h"

int top_terminal_check(struct error *err)
{
	(void)error_set(err, -EOPNOTSUPP,
			"cannot show a live view: this wick was built without ncurses");
	error_remedy(err, "print tables with --count N, or build wick where libncurses-dev is "
			  "installed");
	return -EOPNOTSUPP;
}

int top_terminal_open(bool color, struct top_terminal **ret, struct error *err)
{
	return top_terminal_check(err);
}

bool top_terminal_is_ours(void)
{
	return false;
}

void top_terminal_close(struct top_terminal *terminal)
{
}

void top_terminal_leave(struct top_terminal *terminal)
{
}

void top_terminal_return(struct top_terminal *terminal)
{
}

void top_terminal_resize(struct top_terminal *terminal)
{
}

void top_terminal_size(const struct top_terminal *terminal, uint32_t *ret_columns,
		       uint32_t *ret_rows)
{
	*ret_columns = *ret_rows = 0;
}

uint32_t top_terminal_key(struct top_terminal *terminal)
{
	return 0;
}

void top_terminal_draw(struct top_terminal *terminal, const struct top_screen *screen)
{
}
