/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/plain_records.h"

#include <string.h>

#include "base/bytes.h"
#include "model/sink.h"
#include "recording/format.h"
#include "recording/writer.h"

void put_text(struct bytes *out, const char *text)
{
	bytes_put_string(out, text, strnlen(text, RECORDING_MAX_TEXT));
}

void put_schema(struct bytes *out, uint32_t id, const struct schema *schema)
{
	bytes_put_varint(out, id);
	put_text(out, schema->event);
	put_text(out, schema->value);
	put_text(out, schema->unit);
	bytes_put_varint(out, schema->period);
}

void put_jit_symbol(struct bytes *out, const struct recording_jit_symbol *symbol, bool is_place)
{
	bytes_put_varint(out, symbol->pid);
	bytes_put_varint(out, symbol->start_ns);
	bytes_put_varint(out, symbol->exec_count);
	bytes_put_varint(out, symbol->start);
	bytes_put_varint(out, symbol->size);
	put_text(out, symbol->name);
	if (is_place) {
		bytes_put_varint(out, symbol->from_ns);
		put_text(out, symbol->file ? symbol->file : "");
		bytes_put_varint(out, symbol->line);
	}
}
