/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/call_place.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#include "base/error.h"
#include "proc/maps.h"

#define VDSO_BYTES (64u << 10) /* at most; it has one or two pages of code */

#if defined(__aarch64__)
static const uint8_t instruction[] = {0x01, 0x00, 0x00, 0xd4}; /* svc #0 */
#define STEP_BYTES 4u
#else
static const uint8_t instruction[] = {0x0f, 0x05}; /* syscall */
#define STEP_BYTES 1u
#endif

static size_t read_code(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	struct iovec local = {buffer, size};
	struct iovec remote = {(void *)(uintptr_t)address, size};
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

/* On x86-64 it may be a part of another instruction: a thread that begins there makes the call. */
static uint64_t find_in(pid_t pid, const struct map_region *region)
{
	static const size_t bytes = sizeof(instruction);
	uint8_t code[4096];
	uint64_t end = region->end;

	if (end - region->start > VDSO_BYTES)
		end = region->start + VDSO_BYTES;
	for (uint64_t at = region->start; at + bytes <= end; at += sizeof(code) - bytes) {
		size_t size = read_code(pid, at, code, sizeof(code));

		for (size_t i = 0; i + bytes <= size; i += STEP_BYTES)
			if (memcmp(code + i, instruction, bytes) == 0)
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
		err,
		error_set(err, -ENODATA, "process %d cannot be copied: it has no vdso", (int)pid),
		"start the program with wick heap --leaks");
}

bool call_place_is_there(pid_t tid, uint64_t address)
{
	uint8_t found[sizeof(instruction)];

	return read_code(tid, address, found, sizeof(found)) == sizeof(found) &&
	       memcmp(found, instruction, sizeof(found)) == 0;
}
