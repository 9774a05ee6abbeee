/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/jit_functions.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/vec.h"
#include "import/import.h"
#include "load/names/jit_watch.h"
#include "model/dictionary.h"
#include "proc/jit_file.h"
#include "recording/format.h"
#include "recording/writer.h"
#include "symbol/jit/jit_names.h"
#include "symbol/jit/jit_symbols.h"
#include "symbol/jit/jitdump.h"
#include "symbol/jit/perf_map.h"

/* An address in JIT-compiled code. */
struct hit {
	uint32_t process;
	uint64_t address;
};

struct job {
	const struct jit_functions_search *search;
	const struct dictionary *dictionary;
	VEC(struct hit) hits;
	VEC(uint64_t) addresses; /* of the current process */
	uint32_t process_id;     /* the current process */
	const struct process *process;
	const struct perf_map_mark *marks; /* of its map */
	size_t mark_count;
};

static int compare(const void *left, const void *right)
{
	const struct hit *a = left;
	const struct hit *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* All addresses in anonymous memory; a caller is looked up by its return address minus one. */
static void collect(struct job *job)
{
	const struct dictionary *dictionary = job->dictionary;

	for (size_t i = 0; i < dictionary->frames.count; i++) {
		const struct frame *frame = &dictionary->frames.items[i];
		const struct module *module;

		if (frame->kind != FRAME_NATIVE || frame->a >= dictionary->modules.count)
			continue;
		module = &dictionary->modules.items[frame->a];
		if (module->kind != MODULE_ANONYMOUS ||
		    module->owner >= dictionary->processes.count)
			continue;
		/* If out of memory some names are missing, which the report shows. */
		(void)vec_push(&job->hits, (struct hit){module->owner, frame->b});
		(void)vec_push(&job->hits, (struct hit){module->owner, frame->b - 1});
	}
	if (job->hits.count > 0)
		qsort(job->hits.items, job->hits.count, sizeof(struct hit), compare);
}

static int tell_piece(void *self, const struct jit_piece *piece)
{
	const struct job *job = self;
	SCOPED(mem) char *text = strndup(piece->text, piece->text_size);
	SCOPED(mem) char *file = piece->file ? strndup(piece->file, piece->file_size) : NULL;

	if (!text || (piece->file && !file))
		return -ENOMEM;
	return job->search->found(job->search->self, job->process_id,
				  &(struct jit_symbol){.start = piece->start,
						       .size = piece->size,
						       .name = text,
						       .file = file,
						       .line = piece->line,
						       .from_ns = piece->from_ns});
}

/* Reports why a file was not used. A missing file is not worth reporting. */
static void refuse(const struct job *job, const char *path, const struct error *err)
{
	if (err->code == -ENOENT)
		return;
	log_debug("no names for JIT-compiled code of process %u from %s: %s", job->process->pid,
		  path, err->text);
	if (job->search->notice)
		job->search->notice(job->search->self, job->process, path, err->text);
}

/* Reads a file into the names, which borrow the data. */
static void *read_file(const struct job *job, const struct jit_process *process, const char *path,
		       struct jit_names *names)
{
	const char *slash = strrchr(path, '/');
	struct error err = {0};
	void *data = NULL;
	size_t size;
	int r = jit_file_read(process, path, &data, &size, &err);

	if (r == 0 && slash && strncmp(slash, "/jit-", 5) == 0)
		r = jitdump_parse(data, size, names, &err);
	else if (r == 0 && (r = perf_map_parse(data, size, job->marks, job->mark_count, names)) < 0)
		(void)error_errno(&err, r, "cannot read its names");
	if (r < 0)
		refuse(job, path, &err);
	return data;
}

/* The path of the process's jitdump, which it maps so that profilers find it; NULL: none. */
static const char *find_jitdump(const struct job *job, const struct jit_process *process)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "/jit-%d.dump", process->inner_pid);
	for (size_t i = 0; i < job->dictionary->modules.count; i++) {
		const struct module *module = &job->dictionary->modules.items[i];
		const char *slash = strrchr(module->path, '/');

		if (module->kind == MODULE_OTHER_FILE && slash && strcmp(slash, name) == 0)
			return module->path;
	}
	return NULL;
}

/* Names the addresses of one process. */
static void name_process(struct job *job)
{
	struct jit_names *names = jit_names_new(job->addresses.items, job->addresses.count);
	struct jit_process process;
	SCOPED(mem) void *map = NULL;
	SCOPED(mem) void *dump = NULL;
	const char *dump_path;
	char path[64];

	if (!names)
		return;
	if (job->search->past)
		jit_process_of_past(&process, (pid_t)job->process->pid, job->search->past);
	else
		jit_process_read(&process, (pid_t)job->process->pid, job->process->start_ns);
	(void)snprintf(path, sizeof(path), PERF_MAP_PATH, process.inner_pid);
	/* The times in a jitdump use another clock than those of an imported file. */
	dump_path = job->search->past ? NULL : find_jitdump(job, &process);
	if (dump_path)
		job->mark_count = 0; /* its times are exact */
	map = read_file(job, &process, path, names);
	if (dump_path)
		dump = read_file(job, &process, dump_path, names);
	if (jit_names_visit(names, tell_piece, job) < 0)
		log_debug("out of memory for names of JIT-compiled code");
	jit_names_free(names);
}

void jit_functions_find(const struct jit_functions_search *search)
{
	struct job job = {.search = search, .dictionary = search->dictionary};
	size_t end;

	collect(&job);
	for (size_t i = 0; i < job.hits.count; i = end) {
		uint32_t process = job.hits.items[i].process;

		job.addresses.count = 0;
		for (end = i; end < job.hits.count && job.hits.items[end].process == process; end++)
			if (end == i ||
			    job.hits.items[end].address != job.hits.items[end - 1].address)
				(void)vec_push(&job.addresses, job.hits.items[end].address);
		job.process_id = process;
		job.process = &job.dictionary->processes.items[process];
		job.mark_count =
			search->watch ? jit_watch_marks(search->watch, job.process, &job.marks) : 0;
		name_process(&job);
	}
	vec_fini(&job.hits);
	vec_fini(&job.addresses);
}

/* Receives the names found for a recording. */
struct recorder {
	struct recording_writer *writer;
	const struct dictionary *dictionary;
	struct bytes refused; /* see RECORDING_JIT_REFUSED */
	void (*notice)(void *self, const char *text);
	void *self;
};

static int write_symbol(void *self, uint32_t process, const struct jit_symbol *symbol)
{
	const struct recorder *recorder = self;
	const struct process *maker = &recorder->dictionary->processes.items[process];

	recording_writer_jit_symbol(recorder->writer, &(struct recording_jit_symbol){
							      .pid = maker->pid,
							      .start_ns = maker->start_ns,
							      .exec_count = maker->exec_count,
							      .start = symbol->start,
							      .size = symbol->size,
							      .name = symbol->name,
							      .from_ns = symbol->from_ns,
							      .file = symbol->file,
							      .line = symbol->line,
						      });
	return 0;
}

static void note_refusal(void *self, const struct process *process, const char *path,
			 const char *why)
{
	struct recorder *recorder = self;
	char text[1024];

	bytes_printf(&recorder->refused, "%u %s\n", process->pid, why);
	(void)snprintf(text, sizeof(text),
		       "no names for JIT-compiled code of process %u from %s: %s", process->pid,
		       path, why);
	if (recorder->notice)
		recorder->notice(recorder->self, text);
}

static void find_all(struct recorder *recorder, const struct jit_functions_search *search)
{
	jit_functions_find(search);
	if (recorder->refused.size > 0) {
		bytes_put_u8(&recorder->refused, '\0');
		if (!recorder->refused.failed)
			recording_writer_info(recorder->writer, RECORDING_JIT_REFUSED,
					      (const char *)recorder->refused.data);
	}
	bytes_fini(&recorder->refused);
}

void jit_functions_write(struct recording_writer *writer, const struct jit_watch *watch,
			 void (*notice)(void *self, const char *text), void *self)
{
	struct recorder recorder = {.writer = writer,
				    .dictionary = recording_writer_dictionary(writer),
				    .notice = notice,
				    .self = self};
	struct jit_functions_search search = {
		.dictionary = recorder.dictionary,
		.watch = watch,
		.found = write_symbol,
		.notice = note_refusal,
		.self = &recorder,
	};

	find_all(&recorder, &search);
}

void jit_functions_if_same(struct recording_writer *writer, const struct import_origin *origin)
{
	struct recorder recorder = {.writer = writer,
				    .dictionary = recording_writer_dictionary(writer)};
	struct jit_past past = {.written_ns = origin->written_ns, .uid = origin->uid};
	struct jit_functions_search search = {
		.dictionary = recorder.dictionary,
		.past = &past,
		.found = write_symbol,
		.notice = note_refusal,
		.self = &recorder,
	};
	struct utsname name;

	if (uname(&name) == 0 && strcmp(name.nodename, origin->host) == 0)
		find_all(&recorder, &search);
}
