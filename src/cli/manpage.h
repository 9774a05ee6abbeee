/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_MANPAGE_H
#define WICK_CLI_MANPAGE_H

/*
 * manpage: makes manual pages (roff) from the command and option tables. The pages have no date,
 * so the same tables always give the same page.
 */

struct bytes;
struct command;
struct error;

/* wick.1 */
void manpage_put_overview(struct bytes *out, const struct command *const *commands);

/* wick-NAME.1 */
int manpage_put_command(struct bytes *out, const struct command *command, struct error *err);

#endif
