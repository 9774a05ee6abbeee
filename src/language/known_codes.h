/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_KNOWN_CODES_H
#define WICK_LANGUAGE_KNOWN_CODES_H

/*
 * known_codes: copies of a runtime's code objects, found by their address in the process.
 *
 * An address may be used again for another object. So each has a key: the pointers in the object,
 * which are read and compared each time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

#define CODE_KEY_WORDS 6u
#define KNOWN_CODES_MAX 65536u /* forgotten and learnt again beyond that */

struct code_key {
	uint64_t words[CODE_KEY_WORDS];
};

struct known_code {
	uint64_t address;
	struct code_key key;
	void *code; /* owned, of the reader's own type */
};

struct known_codes {
	VEC(struct known_code) items; /* by number; replaced ones have no address */
	struct id_index index;
	uint64_t generation; /* changes when an address may have a new meaning */
	bool keeps_replaced; /* their numbers stay valid until the generation changes */
	void (*free_code)(void *code);
};

void known_codes_fini(struct known_codes *codes);

/* NULL: not known. */
const struct known_code *known_codes_find(const struct known_codes *codes, uint64_t address);
/* Whether the object at an address is known and still the same. */
bool known_codes_has(const struct known_codes *codes, uint64_t address, const struct code_key *key);
/* The number of one, which is less than KNOWN_CODES_MAX; ID_NONE: not known. */
uint32_t known_codes_number(const struct known_codes *codes, uint64_t address);
const struct known_code *known_codes_at(const struct known_codes *codes, uint64_t number);
/* Adds one, or replaces that of the same address. Takes code, also if it fails. 0 or -ENOMEM. */
int known_codes_put(struct known_codes *codes, uint64_t address, const struct code_key *key,
		    void *code);

#endif
