/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/compile.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "cfi/arch/a64_plt.h"
#include "cfi/arch/a64_trampoline.h"
#include "cfi/arch/x64_bare.h"
#include "cfi/eh_frame.h"
#include "cfi/frames.h"
#include "cfi/go/go_rows.h"
#include "cfi/machine.h"
#include "cfi/program.h"
#include "cfi/repair.h"
#include "cfi/rows.h"
#include "cfi/state_rule.h"
#include "elf/elf.h"

/* The state that a CIE's program passes to its FDEs. */
struct cie_state {
	bool is_known;
	bool is_good;
	struct frame_state state;
};

struct compiler {
	struct elf_file *elf;
	const struct cfi_machine *machine;
	uint64_t base; /* the lowest address of the module */
	uint8_t kept;  /* the register that is tracked besides sp and fp; 0: none */
	/* How many rows use each callee-saved register as the base of the CFA. */
	uint32_t odd_cfas[32];
	struct rows rows;
	struct cfi_stats stats;
	/* Of the section being read: */
	struct frame_section section;
	VEC(struct cie_state) cie_states;
	const struct frame_cie *cie; /* of the FDE being run */
};

void cfi_table_fini(struct cfi_table *table)
{
	if (table->mapped_bytes > 0)
		(void)munmap(table->memory, table->mapped_bytes);
	else
		free(table->memory);
	*table = (struct cfi_table){0};
}

void cfi_table_rest(const struct cfi_table *table)
{
	if (table->mapped_bytes > 0)
		(void)madvise(table->memory, table->mapped_bytes, MADV_DONTNEED);
}

static void compiler_fini(struct compiler *compiler)
{
	rows_fini(&compiler->rows);
	vec_fini(&compiler->cie_states);
}

static uint64_t lowest_vaddr(const struct elf_file *elf)
{
	uint64_t lowest = elf_segment_count(elf) > 0 ? UINT64_MAX : 0;

	for (size_t i = 0; i < elf_segment_count(elf); i++)
		if (elf_segment_at(elf, i)->vaddr < lowest)
			lowest = elf_segment_at(elf, i)->vaddr;
	return lowest;
}

/*
 * Whether the module has code there. Linkers leave the FDEs of discarded functions at address 0,
 * which is not code.
 */
static bool is_code(const struct compiler *compiler, uint64_t start, uint64_t size)
{
	for (size_t i = 0; i < elf_segment_count(compiler->elf); i++) {
		const struct elf_segment *segment = elf_segment_at(compiler->elf, i);

		if (!(segment->flags & PF_X) || start < segment->vaddr)
			continue;
		if (size <= segment->memory_bytes &&
		    start - segment->vaddr <= segment->memory_bytes - size)
			return start - compiler->base < UINT32_MAX - size;
	}
	return false;
}

/* Runs the CIE's program at its first use. NULL for a bad one. */
static int find_cie_state(struct compiler *compiler, const struct frame_cie *cie,
			  const struct frame_state **ret)
{
	struct cie_state *known;

	while (compiler->cie_states.count <= cie->index)
		if (vec_push(&compiler->cie_states, (struct cie_state){0}) < 0)
			return -ENOMEM;
	known = &compiler->cie_states.items[cie->index];
	if (!known->is_known) {
		struct frame_program program = {
			.machine = compiler->machine, .section = &compiler->section, .cie = cie};

		known->is_known = true;
		known->state.kept_register = compiler->kept;
		known->is_good = frame_program_run(&program, cie->program, 0, &known->state) == 0;
	}
	*ret = known->is_good ? &known->state : NULL;
	return 0;
}

static int add_row(void *self, uint64_t start, uint64_t end, const struct frame_state *state)
{
	struct compiler *compiler = self;
	struct unwind_rule rule;

	compiler->stats.raw_rows++;
	if (!frame_state_rule(compiler->machine, compiler->cie, state, &rule))
		compiler->stats.unusual_rules++;
	if (rule.cfa == UNWIND_CFA_REGISTER && rule.cfa_register < 32 &&
	    compiler->machine->callee_saved >> rule.cfa_register & 1)
		compiler->odd_cfas[rule.cfa_register]++;
	return rows_add(&compiler->rows, (uint32_t)(start - compiler->base), &rule);
}

static int compile_fde(struct compiler *compiler, const struct frame_fde *fde)
{
	const struct frame_state *initial;
	struct frame_state state;
	uint32_t start = (uint32_t)(fde->start - compiler->base);
	int r = find_cie_state(compiler, fde->cie, &initial);

	if (r < 0)
		return r;
	compiler->stats.fdes++;
	if (!initial || fde->size == 0 || !is_code(compiler, fde->start, fde->size)) {
		compiler->stats.bad_fdes++;
		return 0;
	}
	r = rows_begin(&compiler->rows, start, start + (uint32_t)fde->size,
		       !compiler->section.is_eh);
	if (r < 0)
		return r;
	compiler->cie = fde->cie;
	struct frame_program program = {.machine = compiler->machine,
					.section = &compiler->section,
					.cie = fde->cie,
					.initial = initial,
					.start = fde->start,
					.end = fde->start + fde->size,
					.visit = add_row,
					.self = compiler};
	state = *initial;
	r = frame_program_run(&program, fde->program, fde->program_vaddr, &state);
	if (r != -EINVAL)
		return r;
	rows_cancel(&compiler->rows);
	compiler->stats.bad_fdes++;
	return 0;
}

static int compile_entries(struct compiler *compiler, struct frame_reader *reader)
{
	struct frame_fde fde;
	int r;

	while ((r = frame_reader_next(reader, &fde)) > 0) {
		r = compile_fde(compiler, &fde);
		if (r < 0)
			return r;
	}
	compiler->stats.bad_fdes += frame_reader_bad_count(reader);
	return r;
}

static uint64_t section_vaddr(const struct elf_file *elf, const char *name)
{
	const struct elf_section *section = elf_section_find(elf, name);

	return section ? section->addr : 0;
}

static int compile_section(struct compiler *compiler, const struct elf_section *section, bool is_eh,
			   struct error *err)
{
	struct elf_file *elf = compiler->elf;
	SCOPED(mem) void *data = NULL;
	struct frame_reader *reader;
	size_t size = 0;
	int r;

	/* A separate debug file has the header of .eh_frame without its bytes. */
	if (section->type == SHT_NOBITS || (section->flags & SHF_COMPRESSED) || section->size == 0)
		return 0;
	if (section->size > CFI_MAX_SECTION_BYTES)
		return error_set(err, -E2BIG, "%s is larger than %u MB", section->name,
				 CFI_MAX_SECTION_BYTES >> 20);
	r = elf_section_read(elf, section, &data, &size, err);
	if (r < 0)
		return r;
	compiler->section = (struct frame_section){
		.data = data,
		.size = size,
		.vaddr = section->addr,
		.text_vaddr = section_vaddr(elf, ".text"),
		.data_vaddr = section_vaddr(elf, ".got"),
		.is_eh = is_eh,
	};
	compiler->cie_states.count = 0;
	reader = frame_reader_new(&compiler->section);
	if (!reader || rows_reserve(&compiler->rows, size) < 0) {
		frame_reader_free(reader);
		return error_set(err, -ENOMEM, "out of memory reading the CFI");
	}
	r = compile_entries(compiler, reader);
	frame_reader_free(reader);
	if (r < 0)
		return error_errno(err, r, "cannot compile %s", section->name);
	return 0;
}

static int add_stubs(struct compiler *compiler)
{
	int r = cfi_add_bare_x64(compiler->elf, compiler->base, &compiler->rows);

	return r < 0 ? r : rows_sort(&compiler->rows);
}

static int compile_rows(struct compiler *compiler, bool repair, struct cfi_table *ret,
			struct error *err)
{
	const struct elf_section *debug_frame = elf_section_find(compiler->elf, ".debug_frame");
	struct elf_section eh_frame;
	int r = rows_init(&compiler->rows);

	if (r < 0)
		return error_errno(err, r, "cannot read the CFI");
	if (cfi_find_eh_frame(compiler->elf, &eh_frame))
		r = compile_section(compiler, &eh_frame, true, err);
	if (r == 0 && repair) /* before .debug_frame, which repeats Go's functions */
		r = cfi_add_go(compiler->elf, compiler->machine, compiler->base, &compiler->rows);
	if (r == 0 && debug_frame)
		r = compile_section(compiler, debug_frame, false, err);
	if (r < 0)
		return r;
	if (repair && compiler->machine->has_bare_plt)
		r = cfi_add_plt(compiler->elf, compiler->base, &compiler->rows);
	if (r == 0 && repair && compiler->machine->has_bare_trampoline)
		r = cfi_add_trampoline(compiler->elf, compiler->base, &compiler->rows);
	if (r == 0)
		r = rows_sort(&compiler->rows);
	if (r == 0 && repair && compiler->machine->has_bare_stubs)
		r = add_stubs(compiler);
	if (r == 0 && repair && compiler->machine->has_synchronous_cfi)
		r = cfi_repair(compiler->elf, compiler->base, &compiler->rows,
			       &compiler->stats.repaired_rows);
	if (repair && compiler->machine->has_bare_plt)
		cfi_correct_resolver(&compiler->rows);
	if (r == 0)
		r = rows_finish(&compiler->rows, compiler->base, compiler->machine->elf_machine,
				ret);
	if (r < 0)
		return error_errno(err, r, "cannot build the unwind table");
	compiler->stats.unusual_rules += compiler->rows.lost_rules;
	return 0;
}

/* The most frequent base of CFAs besides sp and fp; 0: none. */
static uint8_t most_frequent(const uint32_t *counts)
{
	uint8_t most = 0;

	for (uint8_t reg = 1; reg < 32; reg++)
		if (counts[reg] > counts[most])
			most = reg;
	return most;
}

static int compile(struct elf_file *elf, bool repair, struct cfi_table *ret,
		   struct cfi_stats *ret_stats, struct error *err)
{
	struct compiler compiler = {
		.elf = elf,
		.machine = cfi_machine_find(elf_machine(elf)),
		.base = lowest_vaddr(elf),
	};
	uint8_t odd;
	int r;

	if (!compiler.machine)
		return error_set(err, -ENOTSUP, "unwinding is not supported for ELF machine %u",
				 elf_machine(elf));
	r = compile_rows(&compiler, repair, ret, err);
	odd = r == 0 ? most_frequent(compiler.odd_cfas) : 0;
	if (odd != 0) { /* rare: ld.so and a few others */
		cfi_table_fini(ret);
		compiler_fini(&compiler);
		compiler = (struct compiler){.elf = elf,
					     .machine = compiler.machine,
					     .base = compiler.base,
					     .kept = odd};
		r = compile_rows(&compiler, repair, ret, err);
	}
	if (r == 0 && ret_stats)
		*ret_stats = compiler.stats;
	compiler_fini(&compiler);
	return r;
}

int cfi_compile(struct elf_file *elf, struct cfi_table *ret, struct cfi_stats *ret_stats,
		struct error *err)
{
	return compile(elf, true, ret, ret_stats, err);
}

int cfi_compile_as_written(struct elf_file *elf, struct cfi_table *ret, struct cfi_stats *ret_stats,
			   struct error *err)
{
	return compile(elf, false, ret, ret_stats, err);
}
