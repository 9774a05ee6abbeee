/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_TOP_TERMINAL_H
#define WICK_CLI_COMMANDS_TOP_TERMINAL_H

/*
 * top_terminal: a terminal that a live view has for itself, by ncurses.
 *
 * Only what has changed is sent to it. It is given back as it was by top_terminal_close(),
 * and when a signal ends this program. What is written to it as standard error meanwhile is
 * held back until then.
 *
 * One at a time; its signals are somebody else's: see watch.h.
 */

#include <stdbool.h>
#include <stdint.h>

struct error;
struct top_screen;
struct top_terminal;

/* Whether there is one that can be taken, as far as is known without trying. */
int top_terminal_check(struct error *err);

/* Whether this program is the job in the foreground: others leave the terminal alone. */
bool top_terminal_is_ours(void);

/* Takes the terminal of standard input and output. */
int top_terminal_open(bool color, struct top_terminal **ret, struct error *err);
void top_terminal_close(struct top_terminal *terminal); /* NULL is fine */

/* Gives the terminal back for a while, and takes it again. */
void top_terminal_leave(struct top_terminal *terminal);
void top_terminal_return(struct top_terminal *terminal);

/* To be called when the size has changed. */
void top_terminal_resize(struct top_terminal *terminal);
void top_terminal_size(const struct top_terminal *terminal, uint32_t *ret_columns,
		       uint32_t *ret_rows);

/* The next key: a byte of a character or an enum top_key; 0: there is none. */
uint32_t top_terminal_key(struct top_terminal *terminal);
void top_terminal_draw(struct top_terminal *terminal, const struct top_screen *screen);

#endif
