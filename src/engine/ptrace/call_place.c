/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/call_place.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#include "base/error.h"
#include "engine/ptrace/arch/thread_arch.h"
#include "proc/maps.h"

#define VDSO_BYTES (64u << 10) /* limit; it has one or two pages of code */

static size_t read_code(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	struct iovec local = {buffer, size};
	struct iovec remote = {(void *)(uintptr_t)address, size};
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

static uint64_t find_in(pid_t pid, const struct map_region *region)
{
	const size_t bytes = thread_arch_call.bytes;
	uint8_t code[4096];
	uint64_t end = region->end;

	if (end - region->start > VDSO_BYTES)
		end = region->start + VDSO_BYTES;
	for (uint64_t at = region->start; at + bytes <= end; at += sizeof(code) - bytes) {
		size_t size = read_code(pid, at, code, sizeof(code));

		for (size_t i = 0; i + bytes <= size; i += thread_arch_call.step_bytes)
			if (memcmp(code + i, thread_arch_call.code, bytes) == 0)
				return at + i;
	}
	return 0;
}

int call_place_find(pid_t pid, uint64_t *ret, struct error *err)
{
	struct maps maps = {0};
	int r = maps_read(&maps, pid, 0, err);

	*ret = 0;
	for (size_t i = 0; i < maps.count && r == 0 && *ret == 0; i++)
		if (strcmp(maps.items[i].path, "[vdso]") == 0)
			*ret = find_in(pid, &maps.items[i]);
	maps_fini(&maps);
	if (r < 0 || *ret != 0)
		return r;
	return error_advise(
		err, error_set(err, -ENODATA, "cannot copy process %d: it has no vdso", (int)pid),
		"start the program with wick heap --leaks");
}

bool call_place_is_there(pid_t tid, uint64_t address)
{
	uint8_t found[sizeof(thread_arch_call.code)];

	return read_code(tid, address, found, thread_arch_call.bytes) == thread_arch_call.bytes &&
	       memcmp(found, thread_arch_call.code, thread_arch_call.bytes) == 0;
}
