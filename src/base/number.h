/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_NUMBER_H
#define WICK_BASE_NUMBER_H

/*
 * number: text to numbers, strictly: the whole text must be a number. Each
 * returns 0, -EINVAL for what is not a number, or -ERANGE for one that does
 * not fit.
 */

#include <stdint.h>

int number_parse_u64(const char *text, uint64_t *ret);  /* decimal or 0x… */
int number_parse_double(const char *text, double *ret); /* finite */
int number_parse_duration(const char *text,
			  uint64_t *ret_ns);                  /* 1.5s 20ms 3us 7ns 2m 1h; bare: s */
int number_parse_size(const char *text, uint64_t *ret_bytes); /* 4096 64K 10M 2G (powers of 1024) */

/* The value of a hexadecimal digit, 16 for any other character. */
static inline unsigned int number_hex_digit(char c)
{
	unsigned int decimal = (unsigned int)(unsigned char)c - '0';
	unsigned int letter = ((unsigned int)(unsigned char)c | 0x20) - 'a';

	if (decimal <= 9)
		return decimal;
	return letter <= 5 ? letter + 10 : 16;
}

#endif
