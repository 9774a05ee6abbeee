/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_KERNEL_NAMES_H
#define WICK_PIPELINE_KERNEL_NAMES_H

/*
 * kernel_names: puts the kernel functions that samples hit into the recording.
 * Kernel addresses mean nothing on another machine or after a restart, so their
 * names travel with the file; only those that are needed.
 */

struct recording_writer;

void kernel_names_write(struct recording_writer *writer);

#endif
