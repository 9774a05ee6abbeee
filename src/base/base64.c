/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base64.h"

#include <string.h>

#include "base/bytes.h"

static int digit_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c == '-' ? '+' : c == '_' ? '/' : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

bool base64_decode(const char *text, struct bytes *out)
{
	uint32_t bits = 0;
	unsigned int count = 0;

	for (; *text && *text != '='; text++) {
		int digit = digit_of(*text);

		if (digit < 0)
			return false;
		bits = bits << 6 | (uint32_t)digit;
		count += 6;
		if (count >= 8) {
			count -= 8;
			bytes_put_u8(out, (uint8_t)(bits >> count));
		}
	}
	return !out->failed;
}
