/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/ruby/runtime.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "elf/elf_function.h"
#include "language/ruby/layout.h"
#include "language/runtime_files.h"

/* vm_exec_core(), which contains all instructions, is the largest function that is called. */
#define CORE_BYTES 8192u

/* What a file has, as ELF vaddrs. */
struct ruby_file {
	uint64_t vm_pointer;
	uint32_t version[2]; /* 3, 1 */
	struct language_range loops[RUBY_LOOPS];
	size_t loop_count;
};

static void read_version(struct elf_file *elf, uint64_t vaddr, struct ruby_file *ret)
{
	uint64_t offset;

	if (elf_vaddr_to_offset(elf, vaddr, &offset) < 0 ||
	    elf_read_at(elf, offset, ret->version, sizeof(ret->version)) < 0)
		memset(ret->version, 0, sizeof(ret->version));
}

static bool read_file(struct elf_file *elf, const char *path, void *ret_facts)
{
	/* Extensions link to these: they are in .dynsym of every build. */
	static const char *const names[] = {"ruby_current_vm_ptr", "ruby_api_version"};
	struct elf_function found[ARRAY_SIZE(names)];
	struct ruby_file *ret = ret_facts;

	(void)path;
	elf_exported_objects_find(elf, names, ARRAY_SIZE(names), found);
	if (!found[0].found || !found[1].found)
		return false;
	ret->vm_pointer = found[0].vaddr;
	read_version(elf, found[1].vaddr, ret);
	ret->loop_count = loop_code_find(elf, "rb_vm_exec", ret->loops);
	ret->loops[0].begins_late = true;
	if (ret->loop_count > 0 &&
	    loop_code_callee(elf, &ret->loops[0], CORE_BYTES, &ret->loops[ret->loop_count]))
		ret->loops[ret->loop_count++].is_inner = true;
	return true;
}

const struct runtime_kind ruby_runtime_kind = {
	.word = "ruby",
	.fact_bytes = sizeof(struct ruby_file),
	.read = read_file,
};

int ruby_runtime_find(struct runtime_files *files, pid_t pid, const struct maps *maps,
		      struct ruby_runtime *ret, struct error *err)
{
	const struct ruby_file *file;
	const void *facts;
	uint64_t bias;
	int r = runtime_files_find(files, pid, maps, &facts, &bias);

	if (r == -ENOMEM)
		return error_set(err, r, "out of memory");
	if (r < 0)
		return r;
	file = facts;
	ret->layout = ruby_layout_find(file->version[0] << 8 | (file->version[1] & 0xff));
	if (!ret->layout || file->loop_count == 0)
		return error_advise(err,
				    error_set(err, -ENOTSUP, "the interpreter of Ruby %u.%u: %s",
					      file->version[0], file->version[1],
					      ret->layout ? "its main loop has no symbol"
							  : "its structures are not known"),
				    "its own functions are shown; Ruby 3.1 can be read");
	ret->vm_pointer = file->vm_pointer + bias;
	ret->loop_count = file->loop_count;
	for (size_t i = 0; i < file->loop_count; i++)
		ret->loops[i] = language_range_moved(&file->loops[i], bias);
	return 0;
}
