/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_TEXT_H
#define WICK_BASE_TEXT_H

/*
 * text: names from files and other processes made safe to show. Symbol names,
 * paths and thread names may hold anything: terminal escapes, markup, halves of
 * UTF-8 sequences.
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

/* Appends the same text as it is shown, for what needs no entities: one line of UTF-8. */
void text_put_plain(struct bytes *out, const char *text);

/*
 * Appends a name as a field of CSV, always in quotes; line breaks as \xNN like other control
 * bytes. An apostrophe goes before what a spreadsheet would take for a formula.
 */
void text_put_csv(struct bytes *out, const char *text);

/* Appends a word to be typed into a shell, in quotes if need be; control bytes as ?. */
void text_put_shell(struct bytes *out, const char *text);

/* Appends the inside of a JSON string, without the quotes. */
void text_put_json(struct bytes *out, const char *text);

#endif
