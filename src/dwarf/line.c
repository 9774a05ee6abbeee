/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/leb.h"
#include "base/scope.h"
#include "base/vec.h"
#include "dwarf/constants.h"
#include "dwarf/line_program.h"
#include "dwarf/source_path.h"

#define MAX_FORMATS 32
#define MAX_COLUMN UINT16_MAX

struct header {
	struct unit_shape shape;
	const uint8_t *start;    /* of the following bytes of the section, for text offsets */
	const uint8_t *at, *end; /* the rest of the header and program */
	const uint8_t *program;  /* where opcodes begin */
	uint64_t offset;         /* offset of start in the section */
};

static struct section *line_section(const struct unit *unit)
{
	return &unit->image->sections[SECTION_LINE];
}

void line_table_fini(struct line_table *table)
{
	free(table->addresses);
	free(table->rows);
	free(table->files);
	free(table->directories);
	*table = (struct line_table){0};
}

static int add_file(struct line_table *table, struct line_file file)
{
	struct {
		struct line_file *items;
		size_t count, capacity;
	} files = {table->files, table->file_count, table->file_capacity};
	int r = vec_push(&files, file);

	table->files = files.items;
	table->file_count = files.count;
	table->file_capacity = files.capacity;
	return r;
}

static int add_directory(struct line_table *table, struct value name)
{
	struct {
		struct value *items;
		size_t count, capacity;
	} directories = {table->directories, table->directory_count, table->directory_capacity};
	int r = vec_push(&directories, name);

	table->directories = directories.items;
	table->directory_count = directories.count;
	table->directory_capacity = directories.capacity;
	return r;
}

/* Inline text is stored as an offset: the section's memory may be freed. */
static struct value keep_text(const struct header *header, const struct value *text)
{
	if (text->form != DW_FORM_string)
		return *text;
	return (struct value){header->offset + (uint64_t)(text->bytes - header->start), NULL,
			      DW_FORM_string};
}

/* A table of versions 2 to 4: texts, followed by three numbers for each file. */
static int read_old_names(struct line_table *table, struct header *header, bool files)
{
	static const struct abbrev_attribute text = {.form = DW_FORM_string,
						     .size = -1 - SKIP_TEXT};

	for (;;) {
		struct line_file file = {0};
		struct value name;
		bool last = header->at && header->at < header->end && *header->at == 0;
		int r;

		header->at = value_read(header->shape, &text, header->at, header->end, &name);
		if (!header->at)
			return -EBADMSG;
		if (last)
			return 0;
		file.name = keep_text(header, &name);
		if (!files) {
			r = add_directory(table, file.name);
		} else {
			header->at = leb_read(header->at, header->end, &file.directory);
			header->at = leb_skip(header->at, header->end); /* time */
			header->at = leb_skip(header->at, header->end); /* size */
			r = add_file(table, file);
		}
		if (r < 0)
			return r;
		if (!header->at || header->at >= header->end)
			return -EBADMSG;
	}
}

struct format {
	uint64_t content;
	struct abbrev_attribute attribute;
};

static int read_formats(struct header *header, struct format *formats, size_t *ret_count)
{
	uint64_t count = 0;

	header->at = fixed_read(header->at, header->end, 1, &count);
	if (!header->at || count > MAX_FORMATS)
		return -EBADMSG;
	for (size_t i = 0; i < count; i++) {
		uint64_t form = 0;

		header->at = leb_read(header->at, header->end, &formats[i].content);
		header->at = leb_read(header->at, header->end, &form);
		if (!header->at || form > DW_FORM_addrx4 || form == DW_FORM_implicit_const)
			return -EBADMSG;
		formats[i].attribute = (struct abbrev_attribute){
			.form = (uint16_t)form,
			.size = (int16_t)form_size((uint16_t)form, header->shape)};
	}
	*ret_count = count;
	return 0;
}

/* A table of version 5: formats, then entries in those formats. */
static int read_new_names(struct line_table *table, struct header *header, bool files)
{
	struct format formats[MAX_FORMATS];
	size_t format_count;
	uint64_t count = 0;
	int r;

	r = read_formats(header, formats, &format_count);
	if (r < 0)
		return r;
	header->at = leb_read(header->at, header->end, &count);
	if (!header->at || (format_count == 0 && count > 0) ||
	    count > (uint64_t)(header->end - header->at))
		return -EBADMSG;
	for (uint64_t i = 0; i < count; i++) {
		struct line_file file = {0};

		for (size_t f = 0; f < format_count; f++) {
			struct value value;

			header->at = value_read(header->shape, &formats[f].attribute, header->at,
						header->end, &value);
			if (!header->at)
				return -EBADMSG;
			if (formats[f].content == DW_LNCT_path)
				file.name = keep_text(header, &value);
			else if (formats[f].content == DW_LNCT_directory_index)
				file.directory = value.number;
		}
		r = files ? add_file(table, file) : add_directory(table, file.name);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_names(struct line_table *table, struct header *header)
{
	int r;

	if (header->shape.version >= 5) {
		r = read_new_names(table, header, false);
		return r < 0 ? r : read_new_names(table, header, true);
	}
	/* Both count from 1: 0 is the unit's own directory and file. */
	if (add_directory(table, (struct value){0}) < 0 ||
	    add_file(table, (struct line_file){0}) < 0)
		return -ENOMEM;
	r = read_old_names(table, header, false);
	return r < 0 ? r : read_old_names(table, header, true);
}

/* Finds the table's bytes by its length. */
static int open_table(struct unit *unit, struct header *ret)
{
	struct section *section = line_section(unit);
	uint64_t size = section_size(section), length = 0;
	const uint8_t *at = section_at(section, unit->line_offset, 12);

	*ret = (struct header){.shape = unit->shape, .offset = unit->line_offset};
	if (!at)
		return -EBADMSG;
	ret->shape.offset_bytes = 4;
	(void)fixed_read(at, at + 4, 4, &length);
	ret->offset += 4;
	if (length == UINT32_MAX) {
		(void)fixed_read(at + 4, at + 12, 8, &length);
		ret->shape.offset_bytes = 8;
		ret->offset += 8;
	}
	if (length > size - ret->offset)
		length = size - ret->offset; /* what exists may be all that is needed */
	ret->start = ret->at = section_at(section, ret->offset, length);
	ret->end = ret->start ? ret->start + length : NULL;
	return ret->start ? 0 : -EBADMSG;
}

static int read_header(struct header *header, struct line_program *ret)
{
	const uint8_t *end = header->end;
	uint64_t version = 0, length = 0, number = 0;

	header->at = fixed_read(header->at, end, 2, &version);
	if (!header->at || version < 2 || version > 5)
		return -EBADMSG;
	header->shape.version = (uint8_t)version;
	if (version == 5) {
		header->at = fixed_read(header->at, end, 1, &number); /* address size */
		header->at = fixed_read(header->at, end, 1, &length); /* segment selectors */
		if (!header->at || (number != 8 && number != 4) || length != 0)
			return -EBADMSG;
		header->shape.address_bytes = (uint8_t)number;
	}
	header->at = fixed_read(header->at, end, header->shape.offset_bytes, &length);
	header->program = bytes_skip(header->at, end, length);
	if (!header->program || end - header->at < 7)
		return -EBADMSG;
	*ret = (struct line_program){.at = header->program, .end = end, .operations = 1};
	ret->address_bytes = header->shape.address_bytes;
	ret->minimum_length = *header->at++;
	if (version >= 4)
		ret->operations = *header->at++;
	ret->default_statement = *header->at++ != 0;
	ret->line_base = (int8_t)*header->at++;
	ret->line_range = *header->at++;
	ret->opcode_base = *header->at++;
	ret->opcode_lengths = header->at;
	if (ret->line_range == 0 || ret->opcode_base == 0)
		return -EBADMSG;
	header->at = bytes_skip(header->at, end, ret->opcode_base - 1u);
	return header->at ? 0 : -EBADMSG;
}

struct wide_row {
	uint64_t address;
	struct line_row row;
};

struct sequence {
	uint64_t low;
	size_t first, count;
};

struct collector {
	VEC(struct wide_row) rows;
	VEC(struct sequence) sequences;
	size_t first; /* of the current sequence */
	bool backwards, failed;
};

static bool end_sequence(struct collector *all, uint64_t address)
{
	size_t count = all->rows.count - all->first;
	uint64_t low = count > 0 ? all->rows.items[all->first].address : 0;
	struct wide_row end = {address, {.line = LINE_NONE}};

	if (all->backwards || low < 2 || low >= UINT64_MAX - 1 || address <= low) {
		all->rows.count = all->first;
	} else if (vec_push(&all->rows, end) < 0 ||
		   vec_push(&all->sequences, (struct sequence){low, all->first, count + 1}) < 0) {
		all->failed = true;
	}
	all->first = all->rows.count;
	all->backwards = false;
	return !all->failed;
}

static bool collect(void *self, const struct line_state *state)
{
	struct collector *all = self;
	struct wide_row row = {state->address,
			       {state->line == LINE_NONE ? 0 : state->line,
				(uint16_t)(state->file > UINT16_MAX ? UINT16_MAX : state->file),
				(uint16_t)(state->column > MAX_COLUMN ? 0 : state->column)}};

	if (all->rows.count > all->first) {
		struct wide_row *last = &all->rows.items[all->rows.count - 1];

		if (row.address < last->address)
			all->backwards = true;
		if (row.address == last->address && !state->end_sequence) {
			last->row = row.row;
			return true;
		}
		if (!state->end_sequence && row.row.line == last->row.line &&
		    row.row.file == last->row.file && row.row.column == last->row.column)
			return true;
	}
	if (state->end_sequence)
		return end_sequence(all, row.address);
	all->failed = vec_push(&all->rows, row) < 0;
	return !all->failed;
}

static int compare_sequences(const void *a, const void *b)
{
	const struct sequence *left = a, *right = b;

	return (left->low > right->low) - (left->low < right->low);
}

static bool is_sorted(const struct collector *all)
{
	for (size_t i = 1; i < all->sequences.count; i++)
		if (all->sequences.items[i].low < all->sequences.items[i - 1].low)
			return false;
	return true;
}

/* Copies a sequence. If it begins inside the previous one, it replaces the rest of that. */
static void copy_sequence(struct line_table *table, const struct wide_row *rows, size_t count)
{
	while (table->count > 0 &&
	       table->base + table->addresses[table->count - 1] >= rows[0].address)
		table->count--;
	for (size_t i = 0; i < count && rows[i].address - table->base < UINT32_MAX; i++) {
		table->addresses[table->count] = (uint32_t)(rows[i].address - table->base);
		table->rows[table->count++] = rows[i].row;
	}
}

static int make_rows(struct line_table *table, struct collector *all)
{
	size_t count = all->rows.count;

	if (count == 0)
		return 0;
	if (!is_sorted(all))
		qsort(all->sequences.items, all->sequences.count, sizeof(*all->sequences.items),
		      compare_sequences);
	table->base = all->sequences.items[0].low;
	table->addresses = malloc(count * sizeof(*table->addresses));
	table->rows = malloc(count * sizeof(*table->rows));
	if (!table->addresses || !table->rows)
		return -ENOMEM;
	for (size_t i = 0; i < all->sequences.count; i++)
		copy_sequence(table, &all->rows.items[all->sequences.items[i].first],
			      all->sequences.items[i].count);
	table->bytes += count * (sizeof(*table->addresses) + sizeof(*table->rows));
	return 0;
}

static int read_rows(struct line_table *table, const struct line_program *program)
{
	struct collector all = {0};
	int r;

	/* A row needs three to five bytes of program: mostly one allocation. */
	if (vec_reserve(&all.rows, (size_t)(program->end - program->at) / 4) < 0)
		return -ENOMEM;
	line_program_run(program, collect, &all);
	all.rows.count = all.first; /* a sequence without an end has no size */
	r = all.failed ? -ENOMEM : make_rows(table, &all);
	vec_fini(&all.rows);
	vec_fini(&all.sequences);
	return r;
}

int line_table_read(struct line_table *ret, struct unit *unit, bool names_only)
{
	struct line_table table = {.unit = unit};
	struct line_program program;
	struct header header;
	int r = -EBADMSG;

	if (!unit->has_line)
		return -EBADMSG;
	r = open_table(unit, &header);
	if (r == 0)
		r = read_header(&header, &program);
	if (r < 0)
		return r;
	table.version = header.shape.version;
	header.end = header.program; /* names do not reach into the program */
	r = read_names(&table, &header);
	table.bytes = table.file_capacity * sizeof(*table.files);
	if (r != -ENOMEM && !names_only)
		r = read_rows(&table, &program);
	if (r == -ENOMEM) {
		line_table_fini(&table);
		return r;
	}
	*ret = table;
	return 0;
}

const struct line_row *line_table_find(const struct line_table *table, uint64_t address)
{
	size_t low = 0, left = table->count;
	uint32_t wanted = (uint32_t)(address - table->base);

	if (left == 0 || address < table->base || address - table->base >= UINT32_MAX)
		return NULL;
	while (left > 1) { /* without a branch on the data */
		size_t half = left / 2;

		low += table->addresses[low + half] <= wanted ? half : 0;
		left -= half;
	}
	return table->rows[low].line == LINE_NONE ? NULL : &table->rows[low];
}

/* The text of a directory or file; NULL when it has none. */
static const char *name_text(const struct line_table *table, const struct value *name)
{
	if (name->form == DW_FORM_string)
		return section_text(line_section(table->unit), name->number);
	return value_text(table->unit, name);
}

static const char *make_path(struct line_table *table, struct line_file *file, struct arena *arena)
{
	SCOPED(mem) struct die *root = malloc(sizeof(*root));
	struct unit *owner = table->unit;
	const char *name = name_text(table, &file->name);
	const char *directory = NULL, *comp_dir = NULL, *path;

	if (!root)
		return NULL;
	if (owner->skeleton)
		owner = owner->skeleton; /* only it has the directory */
	if (die_read(owner, owner->first, root)) {
		comp_dir = die_text(root, SLOT_COMP_DIR);
		if (!name && file == table->files)
			name = die_text(root, SLOT_NAME);
	}
	if (!name)
		return NULL;
	if (file->directory < table->directory_count)
		directory = name_text(table, &table->directories[file->directory]);
	path = path_join(arena, comp_dir, directory, name);
	if (path && comp_dir)
		comp_dir = path_join(arena, comp_dir, NULL, NULL);
	if (path && comp_dir)
		file->tree = path_tree(comp_dir, path);
	return path;
}

const char *line_table_path(struct line_table *table, uint64_t file, struct arena *arena,
			    uint32_t *ret_tree)
{
	struct line_file *entry;

	*ret_tree = 0;
	if (file >= table->file_count)
		return NULL;
	entry = &table->files[file];
	if (!entry->path)
		entry->path = make_path(table, entry, arena);
	*ret_tree = entry->tree;
	return entry->path;
}

struct marker {
	struct line_marks *marks;
	struct line_state row; /* the last one */
	bool in_sequence, is_dead, failed;
};

/* Adds the last row, which ends at address. */
static void add_mark(struct marker *marker, uint64_t address)
{
	const struct line_state *row = &marker->row;

	if (row->address < address &&
	    vec_push(marker->marks, (struct line_details){row->address, address, row->is_statement,
							  row->prologue_end, row->epilogue_begin}) <
		    0)
		marker->failed = true;
}

static bool mark(void *self, const struct line_state *state)
{
	struct marker *marker = self;

	/* Several rows of a line at one address are merged: their flags are combined. */
	if (marker->in_sequence && marker->row.address == state->address &&
	    marker->row.line == state->line && !state->end_sequence) {
		marker->row.is_statement |= state->is_statement;
		marker->row.prologue_end |= state->prologue_end;
		marker->row.epilogue_begin |= state->epilogue_begin;
		return true;
	}
	if (!marker->in_sequence)
		marker->is_dead = state->address < 2;
	else if (!marker->is_dead)
		add_mark(marker, state->address);
	marker->row = *state;
	marker->in_sequence = !state->end_sequence;
	return !marker->failed;
}

static int compare_marks(const void *a, const void *b)
{
	const struct line_details *left = a, *right = b;

	return (left->low > right->low) - (left->low < right->low);
}

int line_marks_read(struct line_marks *ret, struct unit *unit)
{
	struct line_marks marks = {.is_read = true};
	struct marker marker = {.marks = &marks};
	struct line_program program;
	struct header header;

	if (unit->has_line && open_table(unit, &header) == 0 && read_header(&header, &program) == 0)
		line_program_run(&program, mark, &marker);
	if (marker.failed) {
		line_marks_fini(&marks);
		return -ENOMEM;
	}
	if (marks.count > 0)
		qsort(marks.items, marks.count, sizeof(*marks.items), compare_marks);
	*ret = marks;
	return 0;
}

void line_marks_fini(struct line_marks *marks)
{
	free(marks->items);
	*marks = (struct line_marks){0};
}

const struct line_details *line_marks_find(const struct line_marks *marks, uint64_t address)
{
	size_t low = 0, high = marks->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (marks->items[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < marks->items[low - 1].high ? &marks->items[low - 1] : NULL;
}
