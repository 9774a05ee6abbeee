/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_PLAIN_RECORDS_H
#define WICK_RECORDING_PLAIN_RECORDS_H

/* plain_records: writes chunk entries that need no special encoding. */

#include <stdbool.h>
#include <stdint.h>

struct bytes;
struct recording_jit_symbol;
struct schema;

/* Writes at most RECORDING_MAX_TEXT bytes of the text. */
void put_text(struct bytes *out, const char *text);
void put_schema(struct bytes *out, uint32_t id, const struct schema *schema);
/* is_place: include its time and line. */
void put_jit_symbol(struct bytes *out, const struct recording_jit_symbol *symbol, bool is_place);

#endif
