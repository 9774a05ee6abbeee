/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/symbolize_print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/id_index.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "elf/elf.h"
#include "load/names/resolver.h"
#include "symbol/symboliser.h"

#define MAX_DIGITS 10 /* of a 32-bit number */

static void put_text(struct bytes *out, const char *text)
{
	bytes_put(out, text, strlen(text));
}

/* Writes a number at place, which has room for MAX_DIGITS. Returns the end. */
static uint8_t *write_number(uint8_t *place, uint32_t value)
{
	uint8_t *end = place + 1;

	for (uint32_t rest = value; rest >= 10; rest /= 10)
		end++;
	for (uint8_t *at = end; at > place; value /= 10)
		*--at = (uint8_t)('0' + value % 10);
	return end;
}

static void put_number(struct bytes *out, uint32_t value)
{
	uint8_t *place = bytes_reserve(out, MAX_DIGITS);

	if (place)
		out->size += (size_t)(write_number(place, value) - place);
}

/* Writes a name that needs no escaping. It must live until the symboliser is freed. */
static void put_plain(struct iov_output *gather, const char *name, size_t size)
{
	if (size >= IOV_OUTPUT_WORTH_LENDING)
		iov_output_lend(gather, name, size);
	else
		bytes_put(&gather->bytes, name, size);
}

static void put_name(struct symbolize_printer *printer, const struct symbol_frame *frame)
{
	if (frame->plain_bytes > 0)
		put_plain(&printer->gather, frame->function, frame->plain_bytes);
	else
		text_put_terminal(&printer->gather.bytes, frame->function);
}

static struct symbolize_file *file_of(struct symbolize_printer *printer, const char *path)
{
	return &printer->files[hash_pair((uintptr_t)path, 0) % SYMBOLIZE_KNOWN_FILES];
}

static void put_file(struct symbolize_printer *printer, const char *path)
{
	struct symbolize_file *file = file_of(printer, path);

	if (file->text != path) {
		const char *shown = printer->form->basenames ? path_base_name(path) : path;
		size_t start = printer->gather.bytes.size;

		text_put_terminal(&printer->gather.bytes, shown);
		*file = (struct symbolize_file){.text = path, .size = strlen(shown)};
		if (!printer->gather.bytes.failed &&
		    printer->gather.bytes.size - start == file->size &&
		    memcmp(printer->gather.bytes.data + start, shown, file->size) == 0)
			file->shown = shown;
		return;
	}
	if (file->shown)
		bytes_put(&printer->gather.bytes, file->shown, file->size);
	else
		text_put_terminal(&printer->gather.bytes,
				  printer->form->basenames ? path_base_name(path) : path);
}

/* Writes "file.c:12", "file.c:?" or "??:0", as addr2line does. */
static void put_place(struct symbolize_printer *printer, const struct symbol_frame *frame)
{
	if (frame->file)
		put_file(printer, frame->file);
	else
		put_text(&printer->gather.bytes, "??");
	bytes_put_u8(&printer->gather.bytes, ':');
	if (frame->file && frame->line == 0)
		bytes_put_u8(&printer->gather.bytes, '?');
	else
		put_number(&printer->gather.bytes, frame->line);
	bytes_put_u8(&printer->gather.bytes, '\n');
}

/* Writes a usual frame, whose parts need no escaping, at once. False if it is another kind. */
static bool put_plain_frame(struct symbolize_printer *printer, const struct symbol_frame *frame)
{
	const struct symbolize_file *file = frame->file ? file_of(printer, frame->file) : NULL;
	uint8_t *place;
	uint8_t *start;

	if (!file || file->text != frame->file || !file->shown || frame->line == 0 ||
	    frame->plain_bytes == 0)
		return false;
	if (printer->form->functions)
		put_plain(&printer->gather, frame->function, frame->plain_bytes);
	start = place = bytes_reserve(&printer->gather.bytes, file->size + MAX_DIGITS + 3);
	if (!place)
		return true; /* a failure is noticed at the end */
	if (printer->form->functions)
		*place++ = '\n';
	memcpy(place, file->shown, file->size);
	place += file->size;
	*place++ = ':';
	place = write_number(place, frame->line);
	*place++ = '\n';
	printer->gather.bytes.size += (size_t)(place - start);
	return true;
}

static void put_frame(struct symbolize_printer *printer, const struct symbol_frame *frame)
{
	const struct symbolize_form *form = printer->form;

	if (!form->pretty && put_plain_frame(printer, frame))
		return;
	if (form->functions) {
		put_name(printer, frame);
		put_text(&printer->gather.bytes, !form->pretty ? "\n" : frame->file ? " at " : " ");
	}
	put_place(printer, frame);
}

static void put_address(struct symbolize_printer *printer, uint64_t address)
{
	if (printer->form->addresses)
		bytes_printf(&printer->gather.bytes, "0x%016" PRIx64 "%s", address,
			     printer->form->pretty ? ": " : "\n");
}

static void json_hex(struct json *json, const char *key, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json_string(json, key, text);
}

static void json_frames(const struct symbolize_printer *printer, struct json *json,
			const struct resolved *found)
{
	json_open_array(json, "frames");
	for (size_t i = 0; i < found->count; i++) {
		const struct symbol_frame *frame = &found->frames[i];

		json_open_object(json, NULL);
		json_string(json, "function", frame->function);
		json_string(json, "mangled", frame->linker);
		json_string(json, "file",
			    frame->file && printer->form->basenames ? path_base_name(frame->file)
								    : frame->file);
		json_u64(json, "line", frame->line);
		json_u64(json, "column", frame->column);
		json_bool(json, "inlined", frame->inlined);
		json_close(json);
	}
	json_close(json);
}

static void json_details(const struct symbolize_printer *printer, struct json *json,
			 const struct resolved *found)
{
	struct symbol_details details;

	if (resolver_details(printer->resolver, found, &details) < 0)
		return;
	json_string(json, "signature", details.signature);
	json_string(json, "compilation_unit", details.unit);
	json_open_object(json, "row");
	json_hex(json, "start", details.row_low);
	json_hex(json, "end", details.row_high);
	json_bool(json, "is_stmt", details.is_statement);
	json_bool(json, "prologue_end", details.prologue_end);
	json_bool(json, "epilogue_begin", details.epilogue_begin);
	json_close(json);
}

static void put_json(struct symbolize_printer *printer, const struct resolved *found)
{
	static const char *const qualities[] = {
		[SYMBOL_FULL] = "full",       [SYMBOL_NAME_ONLY] = "name",
		[SYMBOL_NONE] = "stripped",   [SYMBOL_DAMAGED] = "corrupted",
		[SYMBOL_INVALID] = "invalid",
	};
	char build_id[2 * BUILD_ID_MAX + 1] = "";
	struct json json;

	if (found->build_id)
		build_id_format(found->build_id, build_id);
	json_init(&json, &printer->gather.bytes, false);
	json_open_object(&json, NULL);
	json_hex(&json, "address", found->address);
	json_string(&json, "quality", qualities[found->quality]);
	json_string(&json, "module", found->module[0] ? found->module : NULL);
	json_string(&json, "build_id", build_id[0] ? build_id : NULL);
	json_hex(&json, "vaddr", found->vaddr);
	json_frames(printer, &json, found);
	if (found->quality == SYMBOL_FULL)
		json_details(printer, &json, found);
	else if (found->build_id)
		json_string(&json, "problem",
			    resolver_problem(printer->resolver, found->module_id));
	json_close(&json);
	bytes_put_u8(&printer->gather.bytes, '\n');
}

void symbolize_print(struct symbolize_printer *printer, const struct resolved *found)
{
	const struct symbolize_form *form = printer->form;
	size_t shown = form->inlines ? found->count : 1;

	if (form->format == SYMBOLIZE_JSON) {
		put_json(printer, found);
		return;
	}
	put_address(printer, found->address);
	for (size_t i = 0; i < shown; i++) {
		if (i > 0 && form->pretty)
			put_text(&printer->gather.bytes, " (inlined by) ");
		put_frame(printer, &found->frames[i]);
	}
}

void symbolize_print_bad(struct symbolize_printer *printer, const char *input)
{
	static const struct symbol_frame nothing = {.function = "??"};
	struct json json;

	if (printer->form->format == SYMBOLIZE_TEXT) {
		put_address(printer, 0);
		put_frame(printer, &nothing);
		return;
	}
	json_init(&json, &printer->gather.bytes, false);
	json_open_object(&json, NULL);
	json_string(&json, "input", input);
	json_string(&json, "error", "not an address");
	json_close(&json);
	bytes_put_u8(&printer->gather.bytes, '\n');
}
