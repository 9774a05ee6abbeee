/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_TOP_TERMINAL_H
#define WICK_CLI_COMMANDS_PARTS_TOP_TERMINAL_H

/*
 * top_terminal: the terminal of a live view, through ncurses.
 *
 * Only changes are sent to the terminal. top_terminal_close() restores it, and so does a signal
 * that ends this program. Messages to standard error are held back until then.
 *
 * Only one can be open at a time. Signals are handled elsewhere: see live/live_session.h.
 */

#include <stdbool.h>
#include <stdint.h>

struct error;
struct top_screen;
struct top_terminal;

/* Checks that there is a usable terminal, as far as that is known without opening it. */
int top_terminal_check(struct error *err);

/* Whether this program is the foreground job: background jobs must not use the terminal. */
bool top_terminal_is_ours(void);

/* Opens the terminal of standard input and output. */
int top_terminal_open(bool color, struct top_terminal **ret, struct error *err);
void top_terminal_close(struct top_terminal *terminal); /* NULL is fine */

/* Restores the terminal for a while, and takes it again. */
void top_terminal_leave(struct top_terminal *terminal);
void top_terminal_return(struct top_terminal *terminal);

/* Call this when the size has changed. */
void top_terminal_resize(struct top_terminal *terminal);
void top_terminal_size(const struct top_terminal *terminal, uint32_t *ret_columns,
		       uint32_t *ret_rows);

/* The next key: a byte of a character, or an enum top_key; 0 if no key was pressed. */
uint32_t top_terminal_key(struct top_terminal *terminal);
void top_terminal_draw(struct top_terminal *terminal, const struct top_screen *screen);

#endif
