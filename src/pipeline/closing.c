/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/closing.h"

#include "base/clock.h"
#include "pipeline/jit_functions.h"
#include "pipeline/kept_files.h"
#include "pipeline/kernel_names.h"
#include "pipeline/record.h"
#include "pipeline/session_info.h"
#include "recording/writer.h"

int closing_write(struct recording_writer *writer, const struct record_config *config,
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
