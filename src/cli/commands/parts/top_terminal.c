/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/top_terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <ncurses.h>

#include "base/error.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/held_messages.h"
#include "view/top/top_screen.h"
#include "view/top/top_state.h"

#define ESCAPE_MS 25 /* then an escape is the key itself, not the start of a sequence */
#define ASCII_ESCAPE 27

struct top_terminal {
	SCREEN *screen;
	attr_t styles[TOP_STYLES];
	bool utf8;
};

/*
 * Restores the terminal when a signal ends this program. It is static because a signal handler
 * cannot reach anything else; there is only one terminal.
 */
static struct {
	struct termios modes;
	char reset[256]; /* leaves the second screen, shows the cursor */
	size_t reset_bytes;
	struct held_messages held;
} crash;

/* Signals that do not end a program, and the one that cannot be caught. */
static const int harmless_signals[] = {SIGCHLD, SIGCONT, SIGURG,  SIGWINCH, SIGSTOP,
				       SIGTSTP, SIGTTIN, SIGTTOU, SIGKILL};

static bool is_harmless(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(harmless_signals); i++)
		if (harmless_signals[i] == number)
			return true;
	return false;
}

static void on_crash(int number)
{
	/* A failure is ignored. */
	if (write(STDOUT_FILENO, crash.reset, crash.reset_bytes) < 0)
		errno = 0;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &crash.modes);
	held_messages_end(&crash.held);
	(void)raise(number); /* now with the default action, when this handler returns */
}

static void add_reset(const char *capability)
{
	const char *text = tigetstr(capability);
	size_t n;

	if (!text || text == (const char *)-1)
		return;
	n = strlen(text);
	if (n > sizeof(crash.reset) - crash.reset_bytes)
		return;
	memcpy(crash.reset + crash.reset_bytes, text, n);
	crash.reset_bytes += n;
}

static void expect_crashes(void)
{
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
	struct sigaction old;

	crash.reset_bytes = 0;
	add_reset("sgr0");
	add_reset("cnorm");
	add_reset("rmkx");
	add_reset("rmcup");
	for (int i = 1; i <= SIGRTMAX; i++)
		/* Signals that are ignored, or have another handler, do not end the program. */
		if (!is_harmless(i) && sigaction(i, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			(void)sigaction(i, &action, NULL); /* cannot fail */
}

static void expect_no_crashes(void)
{
	struct sigaction action;

	for (int i = 1; i <= SIGRTMAX; i++)
		if (sigaction(i, NULL, &action) == 0 && action.sa_handler == on_crash)
			(void)signal(i, SIG_DFL);
}

/* From here on, messages must not appear on the screen, and a signal must restore it. */
static void take(void)
{
	held_messages_begin(&crash.held);
	expect_crashes();
}

/* If there is no alternate screen, start on an empty line. */
static void give_back(void)
{
	if (!isendwin()) {
		(void)move(getmaxy(stdscr) - 1, 0);
		(void)clrtoeol();
		(void)refresh();
		(void)endwin();
	}
	expect_no_crashes();
	held_messages_end(&crash.held);
}

static void set_styles(struct top_terminal *terminal, bool color)
{
	static const struct {
		short text;
		short ground;
	} colors[TOP_STYLES] = {
		[TOP_MATCH] = {COLOR_WHITE, COLOR_MAGENTA},
		[TOP_BOX_PROGRAM] = {COLOR_BLACK, COLOR_YELLOW},
		[TOP_BOX_LIBRARY] = {COLOR_BLACK, COLOR_GREEN},
		[TOP_BOX_KERNEL] = {COLOR_BLACK, COLOR_CYAN},
		[TOP_BOX_OTHER] = {COLOR_BLACK, COLOR_WHITE},
	};
	static const attr_t plain[TOP_STYLES] = {
		[TOP_DIM] = A_DIM,
		[TOP_STRONG] = A_BOLD,
		[TOP_BAR] = A_REVERSE,
		[TOP_SELECTED] = A_REVERSE | A_BOLD,
		[TOP_MATCH] = A_REVERSE,
		[TOP_WARNING] = A_BOLD,
		[TOP_BOX_PROGRAM] = A_UNDERLINE,
		[TOP_BOX_LIBRARY] = A_UNDERLINE,
		[TOP_BOX_KERNEL] = A_UNDERLINE,
		[TOP_BOX_OTHER] = A_UNDERLINE,
	};

	memcpy(terminal->styles, plain, sizeof(plain));
	if (!color || !has_colors())
		return;
	(void)start_color();
	(void)use_default_colors();
	for (int i = 0; i < TOP_STYLES; i++)
		if (colors[i].text != colors[i].ground &&
		    init_pair((short)(i + 1), colors[i].text, colors[i].ground) == OK)
			terminal->styles[i] = (attr_t)COLOR_PAIR(i + 1);
}

/* Signals are handled elsewhere: undo what ncurses does with them. */
static SCREEN *open_screen(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
	struct sigaction before[ARRAY_SIZE(numbers)];
	SCREEN *screen;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		(void)sigaction(numbers[i], NULL, &before[i]); /* cannot fail */
	screen = newterm(NULL, stdout, stdin);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		(void)sigaction(numbers[i], &before[i], NULL);
	return screen;
}

static int refuse(const char *type, struct error *err)
{
	(void)error_set(err, -ENOTTY, "cannot use the terminal: unknown type \"%s\"",
			type ? type : "");
	error_remedy(err, "set TERM, for example to xterm, or print tables with --count N");
	return -ENOTTY;
}

bool top_terminal_is_ours(void)
{
	pid_t group = tcgetpgrp(STDIN_FILENO);

	/* A terminal of another session has no jobs; if it is gone, poll() reports that. */
	return group < 0 || group == getpgrp();
}

int top_terminal_check(struct error *err)
{
	const char *type = getenv("TERM");

	return !type || !type[0] || strcmp(type, "dumb") == 0 ? refuse(type, err) : 0;
}

int top_terminal_open(bool color, struct top_terminal **ret, struct error *err)
{
	struct top_terminal *terminal = calloc(1, sizeof(*terminal));

	if (!terminal)
		return error_set(err, -ENOMEM, "out of memory");
	(void)setlocale(LC_CTYPE, ""); /* the default locale if that fails */
	terminal->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	(void)tcgetattr(STDIN_FILENO, &crash.modes); /* it is a terminal */
	terminal->screen = open_screen();
	if (!terminal->screen) {
		free(terminal);
		return refuse(getenv("TERM"), err);
	}
	take();
	(void)set_escdelay(ESCAPE_MS);
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	(void)curs_set(0); /* stays visible if it cannot be hidden */
	set_styles(terminal, color);
	*ret = terminal;
	return 0;
}

void top_terminal_close(struct top_terminal *terminal)
{
	if (!terminal)
		return;
	give_back();
	delscreen(terminal->screen);
	free(terminal);
}

void top_terminal_leave(struct top_terminal *terminal)
{
	(void)terminal;
	give_back();
}

void top_terminal_return(struct top_terminal *terminal)
{
	take();
	(void)reset_prog_mode();
	(void)clearok(curscr, TRUE); /* others may have written to it meanwhile */
	top_terminal_resize(terminal);
}

void top_terminal_resize(struct top_terminal *terminal)
{
	struct winsize size;

	(void)terminal;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
		(void)resizeterm(size.ws_row, size.ws_col);
}

void top_terminal_size(const struct top_terminal *terminal, uint32_t *ret_columns,
		       uint32_t *ret_rows)
{
	(void)terminal;
	*ret_columns = (uint32_t)getmaxx(stdscr);
	*ret_rows = (uint32_t)getmaxy(stdscr);
}

uint32_t top_terminal_key(struct top_terminal *terminal)
{
	static const struct {
		int code;
		uint32_t key;
	} keys[] = {
		{KEY_UP, TOP_KEY_UP},           {KEY_DOWN, TOP_KEY_DOWN},
		{KEY_LEFT, TOP_KEY_LEFT},       {KEY_RIGHT, TOP_KEY_RIGHT},
		{KEY_PPAGE, TOP_KEY_PAGE_UP},   {KEY_NPAGE, TOP_KEY_PAGE_DOWN},
		{KEY_HOME, TOP_KEY_HOME},       {KEY_END, TOP_KEY_END},
		{KEY_ENTER, TOP_KEY_ENTER},     {'\r', TOP_KEY_ENTER},
		{'\n', TOP_KEY_ENTER},          {KEY_BACKSPACE, TOP_KEY_BACKSPACE},
		{'\b', TOP_KEY_BACKSPACE},      {0x7f, TOP_KEY_BACKSPACE},
		{ASCII_ESCAPE, TOP_KEY_ESCAPE}, {'\t', TOP_KEY_TAB},
	};
	int code;

	(void)terminal;
	do {
		code = getch();
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (keys[i].code == code)
				return keys[i].key;
	} while (code > 0xff); /* keys that mean nothing here */
	return code == ERR ? 0 : (uint32_t)code;
}

/* For a terminal without UTF-8: one substitute for each column that it cannot show. */
static void put_ascii(const char *text, size_t size)
{
	for (const char *end = text + size; text < end;) {
		char one[8] = {0};
		uint32_t c;
		unsigned int n = text_decode_utf8(text, &c);

		memcpy(one, text, n);
		if (c < 0x80)
			(void)addch((chtype)c);
		else
			for (uint32_t i = top_text_columns(one); i > 0; i--)
				(void)addch('?');
		text += n;
	}
}

/* ncurses sends only what has changed, so nothing flickers. */
void top_terminal_draw(struct top_terminal *terminal, const struct top_screen *screen)
{
	(void)erase();
	for (size_t i = 0; i < screen->spans.count; i++) {
		const struct top_span *span = &screen->spans.items[i];
		const char *text = (const char *)screen->text.data + span->text;

		(void)attrset((int)terminal->styles[span->style]);
		(void)move((int)span->row, (int)span->column);
		if (terminal->utf8)
			(void)addnstr(text, (int)span->size);
		else
			put_ascii(text, span->size);
	}
	(void)attrset(A_NORMAL);
	(void)refresh();
}
