/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symboliser.h"

#include <limits.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/file/outfile.h"
#include "elf/elf.h"
#include "model/entity.h"
#include "symbol/kernel_symbols.h"

#include "elf_builder.h"

/* A function of this program under a C++ name. */
int probe(int value) __asm__("_ZN5tests5probeIiEET_S1_");
__attribute__((noinline, used)) int probe(int value)
{
	return value * 3 + 1;
}

struct fixture {
	struct symboliser *symboliser;
	char path[PATH_MAX];
	struct module self; /* this program, with its build id if it has one */
	uint64_t probe_vaddr;
};

static int take_first_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1; /* the program comes first */
}

static void fill_stat(struct module *module)
{
	struct stat status;

	assert_int_equal(stat(module->path, &status), 0);
	module->device = status.st_dev;
	module->inode = status.st_ino;
	module->size_bytes = (uint64_t)status.st_size;
	module->mtime_ns =
		(uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
}

static int set_up(void **state)
{
	static struct fixture f;
	struct elf_file *elf = NULL;
	uint64_t bias = 0;
	ssize_t n;

	memset(&f, 0, sizeof(f));
	n = readlink("/proc/self/exe", f.path, sizeof(f.path) - 1);
	assert_true(n > 0);
	assert_int_equal(elf_open(f.path, &elf, NULL), 0);
	f.self = (struct module){
		.kind = MODULE_FILE, .path = f.path, .build_id = *elf_build_id(elf)};
	elf_close(elf);
	(void)dl_iterate_phdr(take_first_bias, &bias);
	f.probe_vaddr = (uint64_t)(uintptr_t)probe - bias;
	assert_int_equal(
		symboliser_new(&(struct symboliser_config){.demangle = true}, &f.symboliser, NULL),
		0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	symboliser_free(f->symboliser);
	return 0;
}

static const char *resolve(struct symboliser *symboliser, const struct module *module, uint32_t id,
			   uint64_t vaddr, enum symbol_quality *ret)
{
	const struct symbol_frame *frames = NULL;
	size_t count = 0;

	*ret = symboliser_resolve(symboliser, module, id, vaddr, &frames, &count);
	assert_int_equal(count, 1);
	assert_false(frames[0].inlined);
	return frames[0].function;
}

static void a_function_of_this_program_is_named_and_demangled(void **state)
{
	struct fixture *f = *state;
	enum symbol_quality quality;
	const char *name = resolve(f->symboliser, &f->self, 7, f->probe_vaddr + 1, &quality);

	assert_string_equal(name, "tests::probe<int>(int)");
	assert_int_equal(quality, SYMBOL_NAME_ONLY);
	assert_null(symboliser_module_problem(f->symboliser, 7));
	/* The same symbol is named once. */
	assert_ptr_equal(resolve(f->symboliser, &f->self, 7, f->probe_vaddr, &quality), name);
}

static void without_demangling_the_linker_name_is_shown(void **state)
{
	struct fixture *f = *state;
	struct symboliser *raw = NULL;
	enum symbol_quality quality;

	assert_int_equal(symboliser_new(&(struct symboliser_config){0}, &raw, NULL), 0);
	assert_string_equal(resolve(raw, &f->self, 0, f->probe_vaddr, &quality),
			    "_ZN5tests5probeIiEET_S1_");
	symboliser_free(raw);
}

/* Inlined into its caller, whose own code surrounds it. */
__attribute__((always_inline)) static inline int inlined_probe(int value)
{
	__asm__ volatile(".globl inlined_probe_here\ninlined_probe_here: nop");
	return value + 1;
}

extern const char inlined_probe_here[];

__attribute__((noinline, used)) int around_probe(int value);
int around_probe(int value)
{
	return inlined_probe(value) * 2;
}

static bool has_debug_information(const char *path)
{
	struct elf_file *elf = NULL;
	bool has;

	assert_int_equal(elf_open(path, &elf, NULL), 0);
	has = elf_section_find(elf, ".debug_info");
	elf_close(elf);
	return has;
}

static size_t resolve_with(enum symbol_detail detail, struct fixture *f, struct symbol_frame *ret)
{
	struct symboliser_config config = {.demangle = true, .detail = detail};
	uint64_t bias = (uint64_t)(uintptr_t)probe - f->probe_vaddr;
	const struct symbol_frame *frames = NULL;
	size_t count = 0;

	if (!has_debug_information(f->path))
		skip();
	symboliser_free(f->symboliser);
	f->symboliser = NULL;
	assert_int_equal(symboliser_new(&config, &f->symboliser, NULL), 0);
	for (int i = 0; i < 2; i++) /* the second answer is a remembered one */
		assert_int_equal(symboliser_resolve(f->symboliser, &f->self, 3,
						    (uint64_t)(uintptr_t)inlined_probe_here - bias,
						    &frames, &count),
				 SYMBOL_FULL);
	assert_in_range(count, 1, 2);
	memcpy(ret, frames, count * sizeof(*ret));
	return count;
}

static void debug_information_gives_lines_and_inlined_calls(void **state)
{
	struct symbol_frame frames[2];

	assert_int_equal(resolve_with(SYMBOLS_INLINES, *state, frames), 2);
	assert_string_equal(frames[0].function, "inlined_probe");
	assert_true(frames[0].inlined);
	assert_non_null(strstr(frames[0].file, "test_symboliser.c"));
	assert_string_equal(frames[1].function, "around_probe");
	assert_false(frames[1].inlined);
	assert_true(frames[1].line > frames[0].line);
}

static void lines_without_inlined_calls_are_those_of_the_function(void **state)
{
	struct symbol_frame frames[2];

	assert_int_equal(resolve_with(SYMBOLS_LINES, *state, frames), 1);
	assert_string_equal(frames[0].function, "around_probe");
	assert_non_null(strstr(frames[0].file, "test_symboliser.c"));
	assert_true(frames[0].line > 0);
}

static void an_address_outside_all_symbols_becomes_the_base_name_and_the_address(void **state)
{
	struct fixture *f = *state;
	enum symbol_quality quality;
	const char *name = resolve(f->symboliser, &f->self, 0, 0x123456789000, &quality);

	assert_string_equal(name, "test_symboliser+0x123456789000");
	assert_int_equal(quality, SYMBOL_NONE);
	assert_ptr_equal(resolve(f->symboliser, &f->self, 0, 0x123456789000, &quality), name);
}

static void a_file_with_another_build_id_is_not_believed(void **state)
{
	struct fixture *f = *state;
	enum symbol_quality quality;

	f->self.build_id = (struct build_id){.size = 20, .bytes = {1, 2, 3}};
	(void)resolve(f->symboliser, &f->self, 3, f->probe_vaddr, &quality);
	assert_int_equal(quality, SYMBOL_NONE);
	assert_string_equal(symboliser_module_problem(f->symboliser, 3),
			    "file changed since the recording (build id differs)");
}

static void without_a_build_id_the_file_must_be_the_same_one(void **state)
{
	struct fixture *f = *state;
	struct module module = {.kind = MODULE_FILE, .path = f->path};
	enum symbol_quality quality;

	fill_stat(&module);
	(void)resolve(f->symboliser, &module, 1, f->probe_vaddr, &quality);
	assert_int_equal(quality, SYMBOL_NAME_ONLY);

	module.mtime_ns++;
	(void)resolve(f->symboliser, &module, 2, f->probe_vaddr, &quality);
	assert_int_equal(quality, SYMBOL_NONE);
	assert_string_equal(symboliser_module_problem(f->symboliser, 2),
			    "file changed since the recording (modification time differs)");
}

static void a_deleted_file_that_is_back_in_its_place_is_used(void **state)
{
	struct fixture *f = *state;
	struct module module = f->self;
	char path[PATH_MAX + 16];
	enum symbol_quality quality;

	(void)snprintf(path, sizeof(path), "%s (deleted)", f->path);
	module.path = path;
	(void)resolve(f->symboliser, &module, 1, f->probe_vaddr, &quality);
	assert_int_equal(quality, SYMBOL_NAME_ONLY);
}

static void a_file_that_is_gone_is_told(void **state)
{
	struct fixture *f = *state;
	struct module module = {.kind = MODULE_FILE, .path = "/nonexistent/libx.so"};
	enum symbol_quality quality;

	assert_string_equal(resolve(f->symboliser, &module, 1, 0x10, &quality), "libx.so+0x10");
	assert_string_equal(symboliser_module_problem(f->symboliser, 1), "file is gone");
	assert_null(symboliser_module_problem(f->symboliser, 2));
}

static void a_file_that_is_gone_is_found_in_a_symbol_path(void **state)
{
	struct fixture *f = *state;
	const char *const paths[] = {"/nonexistent", f->path};
	struct symboliser_config config = {.symbol_paths = paths, .symbol_path_count = 2};
	struct module module = {.kind = MODULE_FILE, .path = "/nonexistent/moved"};
	struct symboliser *symboliser = NULL;
	enum symbol_quality quality;
	struct module stated = f->self;

	fill_stat(&stated);
	module.build_id = f->self.build_id;
	module.size_bytes = stated.size_bytes;
	assert_int_equal(symboliser_new(&config, &symboliser, NULL), 0);
	(void)resolve(symboliser, &module, 0, f->probe_vaddr, &quality);
	assert_int_equal(quality, SYMBOL_NAME_ONLY);
	assert_null(symboliser_module_problem(symboliser, 0));
	symboliser_free(symboliser);
}

static void a_stripped_file_is_told(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/wick-test-XXXXXX";
	struct module module = {.kind = MODULE_FILE, .path = path};
	enum symbol_quality quality;
	struct elf_builder b;
	int fd = mkstemp(path);

	builder_init(&b, ET_DYN);
	builder_finish(&b);
	assert_int_equal(outfile_write_all(fd, b.data, b.size), 0);
	(void)close(fd);
	(void)resolve(f->symboliser, &module, 0, 0x10, &quality);
	(void)unlink(path);
	assert_int_equal(quality, SYMBOL_NONE);
	assert_string_equal(symboliser_module_problem(f->symboliser, 0), "stripped: no symbols");
}

static void the_vdso_is_read_from_this_process(void **state)
{
	struct fixture *f = *state;
	struct module module = {.kind = MODULE_VDSO, .path = "[vdso]"};
	enum symbol_quality quality;

	if (getauxval(AT_SYSINFO_EHDR) == 0)
		skip();
	assert_string_equal(resolve(f->symboliser, &module, 1, 0x7fffffff, &quality),
			    "[vdso]+0x7fffffff");
	assert_null(symboliser_module_problem(f->symboliser, 1));
	module.build_id = (struct build_id){.size = 20};
	(void)resolve(f->symboliser, &module, 2, 0x10, &quality);
	assert_non_null(symboliser_module_problem(f->symboliser, 2));
}

static void code_without_a_file_and_without_a_module_is_told_apart(void **state)
{
	struct fixture *f = *state;
	struct module module = {.kind = MODULE_ANONYMOUS, .path = ""};
	enum symbol_quality quality;

	assert_string_equal(resolve(f->symboliser, &module, 1, 0x10, &quality), "[anon]+0x10");
	assert_int_equal(quality, SYMBOL_NONE);
	assert_string_equal(resolve(f->symboliser, NULL, MODULE_NONE, 0x10, &quality),
			    "<invalid address 0x10>");
	assert_int_equal(quality, SYMBOL_INVALID);
}

static void kernel_addresses_use_the_kernel_table(void **state)
{
	struct fixture *f = *state;
	struct module module = {.kind = MODULE_KERNEL, .path = "[kernel]"};
	struct kernel_symbols *kernel = kernel_symbols_new();
	enum symbol_quality quality;

	assert_string_equal(resolve(f->symboliser, &module, 1, 0x1010, &quality),
			    "[kernel]+0x1010");
	assert_int_equal(quality, SYMBOL_NONE);
	assert_int_equal(kernel_symbols_add(kernel, 0x1000, 0, "do_it", NULL), 0);
	assert_int_equal(kernel_symbols_finish(kernel), 0);
	symboliser_set_kernel(f->symboliser, kernel);
	assert_string_equal(resolve(f->symboliser, &module, 1, 0x1010, &quality), "do_it");
	assert_int_equal(quality, SYMBOL_NAME_ONLY);
	symboliser_set_kernel(f->symboliser, NULL);
	kernel_symbols_free(kernel);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_function_of_this_program_is_named_and_demangled),
		TEST(without_demangling_the_linker_name_is_shown),
		TEST(debug_information_gives_lines_and_inlined_calls),
		TEST(lines_without_inlined_calls_are_those_of_the_function),
		TEST(an_address_outside_all_symbols_becomes_the_base_name_and_the_address),
		TEST(a_file_with_another_build_id_is_not_believed),
		TEST(without_a_build_id_the_file_must_be_the_same_one),
		TEST(a_deleted_file_that_is_back_in_its_place_is_used),
		TEST(a_file_that_is_gone_is_told),
		TEST(a_file_that_is_gone_is_found_in_a_symbol_path),
		TEST(a_stripped_file_is_told),
		TEST(the_vdso_is_read_from_this_process),
		TEST(code_without_a_file_and_without_a_module_is_told_apart),
		TEST(kernel_addresses_use_the_kernel_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
