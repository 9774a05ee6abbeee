/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_PROBE_PLACE_H
#define WICK_CFI_PROBE_PLACE_H

/*
 * probe_place: where a probe at the beginning of a function costs least.
 *
 * The kernel executes the instruction that a probe replaces in one of two ways: it emulates it, or
 * it lets the CPU execute a copy and traps again after it. The second trap costs more than the
 * first, several times as much in a virtual machine. On x86-64 the kernel emulates pushes and
 * jumps; free() of the GNU C library begins with a comparison and a jump. So a probe may be placed
 * after the first instructions if every call executes them once, and if they change neither the
 * stack pointer nor the registers of the first three arguments: programs at the probe then see what
 * they would see at the first byte.
 */

#include <stdbool.h>
#include <stdint.h>

struct probe_place {
	uint32_t offset; /* from the beginning of the function */
	bool emulated;   /* by all kernels that we support; false: unknown */
};

/* Chooses a place in a function for a CPU (EM_X86_64, EM_AARCH64) from all its bytes. */
struct probe_place probe_place_choose(uint16_t machine, const uint8_t *bytes, uint64_t size);

#endif
