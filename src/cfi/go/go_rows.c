/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/go/go_rows.h"

#include <stdbool.h>
#include <string.h>

#include "base/scope.h"
#include "cfi/go/go_table.h"
#include "cfi/machine.h"
#include "cfi/rows.h"
#include "elf/elf.h"
#include "unwind/table.h"

/* No frame is larger; goroutines have stacks of at most 1 GB. */
#define MAX_FRAME_BYTES (1 << 30)
#define PUSHED_BYTES 8
/* Functions that switch stacks are short. */
#define MAX_CODE_BYTES 512u
#define TRAMPOLINE_FUNCTION_BYTES 32u /* with its padding */
#define NOT_FOUND UINT32_MAX

static const struct unwind_rule top_rule = {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_ROOT};
static const struct unwind_rule signal_rule = {.cfa = UNWIND_CFA_SIGNAL};

/* One function. */
struct go_function {
	const struct cfi_machine *machine;
	uint32_t start; /* relative to the base of the rows */
	uint32_t size;
	uint32_t pcsp;         /* table of the depth of sp */
	uint32_t fp_is_own_at; /* from there on fp points to the frame; or NOT_FOUND */
	bool is_top;           /* a stack begins there */
	uint32_t code_size;    /* of the code that was read */
	uint8_t code[MAX_CODE_BYTES];
};

/*
 * The rule where sp is depth below its value at the function's first instruction. Either calls push
 * the return address above that, or the function saves the link register at its lowest address, and
 * fp below it. No other rule of Go needs fp.
 */
static struct unwind_rule rule_at(const struct cfi_machine *machine, int32_t depth, bool by_fp)
{
	struct unwind_rule rule = {.cfa = UNWIND_CFA_SP, .cfa_offset = depth, .ra_offset = -depth};
	bool has_link = machine->lr != NO_REGISTER;

	if (!has_link) {
		rule.cfa_offset = depth + PUSHED_BYTES;
		rule.ra_offset = -PUSHED_BYTES;
	} else if (depth == 0) {
		rule.ra = UNWIND_RA_IN_LR;
	}
	if (by_fp && depth > 0) {
		rule.cfa = UNWIND_CFA_FP_AWAY;
		rule.cfa_offset = has_link ? depth + 8 : 2 * PUSHED_BYTES;
	}
	return rule;
}

/* Where bytes end in the code; NOT_FOUND if they do not occur. */
static uint32_t find_code(const struct go_function *function, const void *bytes, uint32_t size)
{
	const uint8_t *at = memmem(function->code, function->code_size, bytes, size);

	return at ? (uint32_t)(at - function->code) + size : NOT_FOUND;
}

/*
 * From where on fp points to the frame of a function that switches stacks: after it was set, unless
 * the function loads that of the other stack.
 */
static uint32_t find_own_fp(const struct go_function *function)
{
	static const uint8_t a64_set[] = {0xfd, 0x23, 0x00, 0xd1};   /* sub x29, sp, #8 */
	static const uint8_t a64_taken[] = {0x9d, 0x37, 0x40, 0xf9}; /* ldr x29, [x28, #104] */
	static const uint8_t x64_set[] = {0x48, 0x8d, 0x6c, 0x24};   /* lea n(%rsp), %rbp */
	static const uint8_t x64_moved[] = {0x48, 0x89, 0xe5};       /* mov %rsp, %rbp */
	uint32_t at;

	if (function->machine->lr != NO_REGISTER)
		return find_code(function, a64_taken, sizeof(a64_taken)) == NOT_FOUND
			       ? find_code(function, a64_set, sizeof(a64_set))
			       : NOT_FOUND;
	at = find_code(function, x64_set, sizeof(x64_set));
	return at != NOT_FOUND ? at + 1 : find_code(function, x64_moved, sizeof(x64_moved));
}

/* On x86-64 the program has the code that returns from signals; elsewhere the vdso has it. */
static bool may_be_trampoline(const struct go_function *function)
{
	return function->machine->lr == NO_REGISTER && function->start > 0 &&
	       function->size <= TRAMPOLINE_FUNCTION_BYTES;
}

static bool is_trampoline(const struct go_function *function)
{
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

	return may_be_trampoline(function) &&
	       find_code(function, code, sizeof(code)) == sizeof(code);
}

/* Go's own traceback ends at its signal handlers; what they interrupted is beyond them. */
static bool is_handler(const struct go_table *table, uint64_t i)
{
	const char *name = go_table_name(table, i);

	return name &&
	       (strcmp(name, "runtime.sigtramp") == 0 || strcmp(name, "runtime.cgoSigtramp") == 0);
}

static int add_depths(const struct go_table *table, const struct go_function *function,
		      struct rows *rows)
{
	struct go_values depths = go_values_of(table, function->pcsp);
	int r = 0;

	while (r == 0 && go_values_next(&depths) && depths.start < function->size) {
		uint32_t own_at = function->fp_is_own_at;
		uint32_t start = function->start;
		struct unwind_rule rule = {0};
		int32_t depth;

		if (depths.start == depths.end)
			continue;
		if (depths.value < 0 || depths.value > MAX_FRAME_BYTES) {
			r = rows_add(rows, start + (uint32_t)depths.start, &rule);
			continue;
		}
		depth = (int32_t)depths.value;
		rule = rule_at(function->machine, depth, depths.start >= own_at);
		r = rows_add(rows, start + (uint32_t)depths.start, &rule);
		if (r < 0 || own_at <= depths.start || own_at >= depths.end ||
		    own_at >= function->size)
			continue;
		rule = rule_at(function->machine, depth, true);
		r = rows_add(rows, start + own_at, &rule);
	}
	return r;
}

static int add_rows(const struct go_table *table, const struct go_function *function,
		    struct rows *rows)
{
	bool is_signal = is_trampoline(function);
	uint32_t start = function->start - (is_signal ? 1 : 0); /* return addresses minus one */
	struct rows_function *added;
	int r = rows_begin(rows, start, function->start + function->size, true);

	if (r < 0)
		return r;
	if (is_signal || function->is_top)
		r = rows_add(rows, start, is_signal ? &signal_rule : &top_rule);
	else
		r = add_depths(table, function, rows);
	added = &rows->functions.items[rows->functions.count - 1];
	added->is_exact = true;
	if (r == 0 && added->row_count == 0)
		rows_cancel(rows);
	return r;
}

static void read_code(struct elf_file *elf, uint64_t vaddr, struct go_function *function)
{
	uint32_t size = function->size < MAX_CODE_BYTES ? function->size : MAX_CODE_BYTES;
	uint64_t offset;

	if (elf_vaddr_to_offset(elf, vaddr, &offset) == 0 &&
	    elf_read_at(elf, offset, function->code, size) == 0)
		function->code_size = size;
}

static int add_function(struct elf_file *elf, const struct go_table *table, uint64_t i,
			struct go_function *function, struct rows *rows)
{
	size_t word = table->word_bytes;
	const uint8_t *pcsp = go_table_function(table, i, word + GO_FUNCTION_SP, sizeof(uint32_t));
	const uint8_t *flags = go_table_function(table, i, word + table->flags_at, 1);

	if (!pcsp || !flags)
		return 0;
	memcpy(&function->pcsp, pcsp, sizeof(function->pcsp));
	function->code_size = 0;
	function->fp_is_own_at = NOT_FOUND;
	if ((*flags & GO_FLAG_SP_WRITE) || may_be_trampoline(function))
		read_code(elf, go_table_start(table, i), function);
	if (*flags & GO_FLAG_SP_WRITE)
		function->fp_is_own_at = find_own_fp(function);
	function->is_top = (*flags & GO_FLAG_TOP_FRAME) && !is_handler(table, i);
	if ((*flags & GO_FLAG_SP_WRITE) && function->fp_is_own_at == NOT_FOUND)
		function->is_top = true;
	return add_rows(table, function, rows);
}

/*
 * In a PIE a relocation says where the code begins. That is .text unless C is linked into it, in
 * which case the program starts with C code; else its first instruction is a function's.
 */
static bool is_placed(struct elf_file *elf, const struct go_table *table)
{
	if (!table->text_is_guessed)
		return true;
	for (uint64_t i = 0; i < table->count; i++)
		if (go_table_start(table, i) == elf_entry(elf))
			return true;
	return false;
}

int cfi_add_go(struct elf_file *elf, const struct cfi_machine *machine, uint64_t base,
	       struct rows *rows)
{
	SCOPED(mem) void *data = NULL;
	uint64_t text, text_size;
	uint64_t last = 0; /* end of a function; they do not overlap */
	struct go_function function = {.machine = machine};
	struct go_table table;
	size_t size = 0;
	int r = 0;

	if (go_table_read(elf, &data, &size, &text, &text_size) < 0 ||
	    !go_table_init(&table, data, size, text) || text < base ||
	    text_size >= UINT32_MAX - (text - base) || !is_placed(elf, &table))
		return 0;
	for (uint64_t i = 0; r == 0 && i < table.count; i++) {
		uint64_t start = go_table_start(&table, i);
		uint64_t end = go_table_start(&table, i + 1);

		if (start < text || start < last || end <= start || end > text + text_size)
			continue;
		last = end;
		function.start = (uint32_t)(start - base);
		function.size = (uint32_t)(end - start);
		r = add_function(elf, &table, i, &function, rows);
	}
	return r;
}
