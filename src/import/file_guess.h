/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_FILE_GUESS_H
#define WICK_IMPORT_FILE_GUESS_H

/*
 * file_guess: guesses what a file is that no importer reads, for the error message. Examines only
 * its first bytes.
 */

#include <stddef.h>
#include <stdint.h>

struct error;

struct file_guess {
	const char *what;   /* "a Java heap dump (hprof)" */
	const char *remedy; /* NULL: none, other than using another file */
};

/* Returns NULL if it looks like nothing known. */
const struct file_guess *file_guess(const uint8_t *data, size_t size);

/* For the rest: some kind of text, or NULL. */
const struct file_guess *file_guess_text(const uint8_t *data, size_t size);

/* Sets an error that says what the file looks like, and what to do. Returns -EOPNOTSUPP. */
int file_guess_refuse(const char *name, const struct file_guess *guess, struct error *err);

#endif
