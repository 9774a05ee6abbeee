/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_ENTITY_H
#define WICK_MODEL_ENTITY_H

/*
 * entity: what samples refer to: modules, processes, threads, frames.
 *
 * These are plain values. Text is given as pointers when an entity is handed to
 * a sink or dictionary and comes back as pointers that the dictionary owns.
 */

#include <stddef.h>
#include <stdint.h>

#include "elf/elf.h"

enum module_kind {
	MODULE_FILE = 0,          /* an ELF file */
	MODULE_VDSO = 1,          /* code that the kernel maps into processes */
	MODULE_KERNEL = 2,        /* the kernel itself; path is "[kernel]" */
	MODULE_KERNEL_MODULE = 3, /* path is "[name]" */
	MODULE_ANONYMOUS = 4,     /* executable memory without a file: JIT code */
	MODULE_OTHER_FILE = 5,    /* mapped executable, but not ELF */
};

/*
 * A module's identity is its build id, else (device, inode, mtime, size), never only its path. If
 * the file was rewritten before it could be read, mtime is when it was mapped: no file has that.
 * Anonymous memory belongs to one process, the owner.
 */
struct module {
	enum module_kind kind;
	const char *path;
	struct build_id build_id;
	uint64_t device;
	uint64_t inode;
	uint64_t mtime_ns;
	uint64_t size_bytes;
	uint32_t owner; /* process id in the dictionary for MODULE_ANONYMOUS, else 0 */
};

/* A process's identity is (pid, start time, exec count). */
struct process {
	uint32_t pid;
	uint32_t parent_pid;
	uint64_t start_ns; /* CLOCK_MONOTONIC; 0 if it began before the recording */
	uint32_t exec_count;
	const char *comm;
	const char *executable; /* path, "" when unknown */
};

struct thread {
	uint32_t process; /* id in the dictionary */
	uint32_t tid;
	const char *comm;
};

/* One fact about a sample, as given to a sink. */
struct label {
	const char *key;
	const char *value;
};

/* Larger sets of labels are refused. */
#define LABELS_MAX 64

/* The maximum length of a chain of inlined places, including the outermost one. */
#define PLACES_MAX 256

/* A place in code that is known by name: from another profiler, or from a runtime. */
struct place {
	const char *name;
	const char *file; /* "" when unknown */
	uint32_t line;    /* 0 when unknown */
	uint32_t module;  /* id in the dictionary, or MODULE_NONE */
	uint32_t origin;  /* enum function_origin of model/profile.h */
	uint32_t outer;   /* the place that this one is inlined into, or PLACE_NONE */
};

#define PLACE_NONE UINT32_MAX

enum frame_kind {
	FRAME_NATIVE = 0, /* a: module id, b: ELF vaddr; module MODULE_NONE: b is the raw address */
	FRAME_KERNEL = 1, /* a: module id of the kernel or a kernel module, b: address */
	FRAME_PYTHON = 2,
	FRAME_JIT = 3,
	FRAME_CUSTOM = 4,    /* a: place id or PLACE_NONE, b: address or 0 */
	FRAME_TRUNCATED = 5, /* the stack continues here, but was not walked, or not kept */
};

#define MODULE_NONE UINT32_MAX

struct frame {
	uint32_t kind; /* enum frame_kind */
	uint32_t a;
	uint64_t b;
};

#endif
