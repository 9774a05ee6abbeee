/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_TEXT_H
#define WICK_BASE_TEXT_H

/*
 * text: makes names from files and other processes safe to show. Symbol names, paths and thread
 * names may contain anything: terminal escapes, markup, partial UTF-8 sequences.
 */

#include <stdint.h>

struct bytes;

/*
 * Decodes one UTF-8 character of a NUL-terminated text. Returns the number of
 * bytes used (at least 1) and the character, or 1 and 0xfffd for a bad byte.
 */
unsigned int text_decode_utf8(const char *text, uint32_t *ret_char);

/* Appends text for a terminal: control bytes as \xNN, bad UTF-8 as U+FFFD. */
void text_put_terminal(struct bytes *out, const char *text);

/* Appends text for XML or HTML: markup as entities, what XML forbids as U+FFFD. */
void text_put_xml(struct bytes *out, const char *text);

/* Appends the same text without entities: one line of UTF-8. */
void text_put_plain(struct bytes *out, const char *text);

/*
 * Appends a name as a CSV field, always in quotes; line breaks as \xNN like other control bytes. An
 * apostrophe precedes what a spreadsheet would interpret as a formula.
 */
void text_put_csv(struct bytes *out, const char *text);

/* Appends a word to be typed into a shell, quoted if necessary; control bytes as ?. */
void text_put_shell(struct bytes *out, const char *text);

/* Appends the content of a JSON string, without the quotes. */
void text_put_json(struct bytes *out, const char *text);

#endif
