/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_ARCH_RELOCATION_H
#define WICK_PYTHON_ARCH_RELOCATION_H

/* relocation: the types of GOT entries that hold the address of a function of another module. */

#include <elf.h>

#if defined(__aarch64__)
#define RELOCATION_CALL R_AARCH64_JUMP_SLOT
#define RELOCATION_ADDRESS R_AARCH64_GLOB_DAT
#elif defined(__x86_64__)
#define RELOCATION_CALL R_X86_64_JUMP_SLOT
#define RELOCATION_ADDRESS R_X86_64_GLOB_DAT
#else
#error "wick runs on x86-64 and aarch64 only"
#endif

#endif
