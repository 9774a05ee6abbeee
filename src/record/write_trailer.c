/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/write_trailer.h"

#include "base/clock.h"
#include "load/names/jit_functions.h"
#include "load/names/kept_files.h"
#include "load/names/kernel_names.h"
#include "record/record.h"
#include "record/session_info.h"
#include "recording/writer.h"

int write_trailer(struct recording_writer *writer, const struct record_config *config,
		  const struct record_result *result, const struct jit_watch *jit, uint64_t end_ns,
		  struct error *err)
{
	recording_writer_clock(writer, clock_monotonic_ns(), clock_realtime_ns());
	kernel_names_write(writer);
	kept_files_add(writer);
	jit_functions_write(writer, jit, config->notice, config->self);
	session_info_end(writer, end_ns, result);
	return recording_writer_finish(writer, err);
}
