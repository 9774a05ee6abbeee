/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_MAKE_RECORDING_H
#define WICK_TESTS_MAKE_RECORDING_H

/*
 * make_recording: small recordings of a small program for tests.
 *
 * The program is an ELF file with main at 0x1000, parse at 0x1100 and read at
 * 0x1200, each 0x100 long. The kernel has sys_entry at KERNEL and sys_read at
 * KERNEL + 0x100. Times count from START_NS, a sample weighs 1000 ns.
 */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/id_index.h"
#include "elf_builder.h"
#include "model/heap_event.h"
#include "model/sink.h"
#include "recording/writer.h"

#define START_NS 1000000000u
#define WEIGHT_NS 1000u
#define KERNEL 0xffff800000001000u

struct made {
	uint64_t weight; /* of what make_sample_in() makes; 0: WEIGHT_NS */
	struct recording_writer *writer;
	struct sink *sink;
	int fd;
	char path[64];    /* of the recording */
	char program[64]; /* of the ELF file */
	uint32_t schema;
	uint32_t module;
	uint32_t library; /* a module on no disk */
	uint32_t kernel;
	uint32_t process;
};

static inline void make_program(struct made *made, struct module *ret)
{
	static const char names[] = "\0main\0parse\0read";
	static const uint32_t name_at[] = {1, 6, 12};
	static struct elf_builder b;
	Elf64_Sym symbols[4] = {0};
	struct stat status;
	uint16_t text;
	uint16_t table;
	uint16_t strings;
	size_t i;
	int fd;

	builder_init(&b, ET_DYN);
	builder_segment(&b, (Elf64_Phdr){.p_type = PT_LOAD,
					 .p_flags = PF_R | PF_X,
					 .p_filesz = 0x3000,
					 .p_memsz = 0x3000,
					 .p_align = 0x1000});
	text = builder_text(&b, ".text", 0x1000, 0x1000);
	for (i = 0; i < 3; i++)
		symbols[i + 1] = (Elf64_Sym){.st_name = name_at[i],
					     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					     .st_shndx = text,
					     .st_value = 0x1000 + 0x100 * i,
					     .st_size = 0x100};
	table = builder_section(&b, ".symtab", SHT_SYMTAB, symbols, sizeof(symbols));
	strings = builder_section(&b, ".strtab", SHT_STRTAB, names, sizeof(names));
	b.sections[table].sh_entsize = sizeof(Elf64_Sym);
	b.sections[table].sh_link = strings;
	builder_finish(&b);
	(void)snprintf(made->program, sizeof(made->program), "/tmp/wick-program-XXXXXX");
	fd = mkstemp(made->program);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, b.data, b.size), (ssize_t)b.size);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(close(fd), 0);
	*ret = (struct module){.kind = MODULE_FILE,
			       .path = made->program,
			       .device = status.st_dev,
			       .inode = status.st_ino,
			       .size_bytes = (uint64_t)status.st_size,
			       .mtime_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000u +
					   (uint64_t)status.st_mtim.tv_nsec};
}

static inline uint32_t make_process(struct made *made, uint32_t pid, const char *comm)
{
	struct process process = {.pid = pid, .comm = comm, .executable = made->program};
	uint32_t id;

	assert_int_equal(sink_process(made->sink, &process, &id), 0);
	return id;
}

static inline uint32_t make_thread(struct made *made, uint32_t process, uint32_t tid,
				   const char *comm)
{
	struct thread thread = {.process = process, .tid = tid, .comm = comm};
	uint32_t id;

	assert_int_equal(sink_thread(made->sink, &thread, &id), 0);
	return id;
}

static inline void make_begin(struct made *made)
{
	static const struct schema schema = {"cpu-clock", "cpu", "nanoseconds", WEIGHT_NS};
	struct module kernel = {.kind = MODULE_KERNEL, .path = "[kernel]"};
	struct module library = {
		.kind = MODULE_FILE, .path = "/nowhere/libx.so", .build_id = {.size = 4}};
	struct module program;

	*made = (struct made){.fd = memfd_create("recording", MFD_CLOEXEC)};
	assert_true(made->fd >= 0);
	(void)snprintf(made->path, sizeof(made->path), "/proc/self/fd/%d", made->fd);
	assert_int_equal(recording_writer_open(fcntl(made->fd, F_DUPFD_CLOEXEC, 3), "test",
					       &made->writer, NULL),
			 0);
	made->sink = recording_writer_sink(made->writer);
	make_program(made, &program);
	assert_int_equal(sink_schema(made->sink, &schema, &made->schema), 0);
	assert_int_equal(sink_module(made->sink, &program, &made->module), 0);
	assert_int_equal(sink_module(made->sink, &library, &made->library), 0);
	assert_int_equal(sink_module(made->sink, &kernel, &made->kernel), 0);
	recording_writer_kernel_symbol(made->writer, KERNEL, 0x100, "sys_entry", "");
	recording_writer_kernel_symbol(made->writer, KERNEL + 0x100, 0x100, "sys_read", "");
	made->process = make_process(made, 100, "app");
	recording_writer_info(made->writer, "title", "app");
	recording_writer_info(made->writer, "start_monotonic_ns", "1000000000");
	recording_writer_clock(made->writer, START_NS, 1700000000000000000u);
}

static inline struct frame user(const struct made *made, uint64_t vaddr)
{
	return (struct frame){.kind = FRAME_NATIVE, .a = made->module, .b = vaddr};
}

static inline struct frame library(const struct made *made, uint64_t vaddr)
{
	return (struct frame){.kind = FRAME_NATIVE, .a = made->library, .b = vaddr};
}

static inline struct frame in_kernel(const struct made *made, uint64_t offset)
{
	return (struct frame){.kind = FRAME_KERNEL, .a = made->kernel, .b = KERNEL + offset};
}

/* One sample of a stack, the root first, at a time since the start; in a state, NULL is none. */
static inline void make_sample_in(struct made *made, uint32_t thread, uint64_t since_ns,
				  const struct frame *frames, size_t n, const char *state)
{
	uint64_t time_ns = START_NS + since_ns;
	uint64_t weight = made->weight ? made->weight : WEIGHT_NS;
	struct label label = {.key = "state", .value = state};
	uint32_t labels = 0;
	uint32_t cpu = 0;
	uint32_t stack;
	struct sample_batch batch = {.schema = made->schema,
				     .count = 1,
				     .stack = &stack,
				     .thread = &thread,
				     .cpu = &cpu,
				     .labels = &labels,
				     .time_ns = &time_ns,
				     .weight = &weight};

	if (state)
		assert_int_equal(sink_labels(made->sink, &label, 1, &labels), 0);
	assert_int_equal(sink_stack(made->sink, frames, n, &stack), 0);
	assert_int_equal(sink_batch(made->sink, &batch, NULL), 0);
}

/* One that weighs more than others. */
static inline void make_heavy_sample_of(struct made *made, uint32_t thread, uint64_t since_ns,
					const struct frame *frames, size_t n, uint64_t weight)
{
	uint64_t time_ns = START_NS + since_ns;
	uint32_t cpu = 0;
	uint32_t stack;
	struct sample_batch batch = {.schema = made->schema,
				     .count = 1,
				     .stack = &stack,
				     .thread = &thread,
				     .cpu = &cpu,
				     .time_ns = &time_ns,
				     .weight = &weight};

	assert_int_equal(sink_stack(made->sink, frames, n, &stack), 0);
	assert_int_equal(sink_batch(made->sink, &batch, NULL), 0);
}

static inline void make_sample_of(struct made *made, uint32_t thread, uint64_t since_ns,
				  const struct frame *frames, size_t n)
{
	make_heavy_sample_of(made, thread, since_ns, frames, n, WEIGHT_NS);
}

/* What a thread does with its memory; its time counts from START_NS, as all do. */
static inline void make_heap_event(struct made *made, uint32_t thread, struct heap_event event)
{
	event.time_ns += START_NS;
	if (event.op != HEAP_ALLOC)
		event.stack = ID_NONE;
	assert_int_equal(sink_heap(made->sink, &(struct heap_batch){thread, 1, &event}, NULL), 0);
}

static inline void make_end(struct made *made)
{
	recording_writer_info(made->writer, "end_monotonic_ns", "1000010000");
	assert_int_equal(recording_writer_finish(made->writer, NULL), 0);
}

static inline void made_fini(struct made *made)
{
	recording_writer_free(made->writer);
	(void)close(made->fd);
	(void)unlink(made->program);
}

#endif
