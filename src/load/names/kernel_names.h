/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_KERNEL_NAMES_H
#define WICK_LOAD_NAMES_KERNEL_NAMES_H

/*
 * kernel_names: puts the kernel functions that samples hit into the recording.
 * Kernel addresses mean nothing on another machine or after a restart, so their
 * names travel with the file; only those that are needed.
 */

struct import_kernel;
struct recording_writer;

void kernel_names_write(struct recording_writer *writer);

/*
 * The same for addresses that were recorded elsewhere or before: only when the
 * kernel that runs now is that one, since the same boot. Else the recording tells why not.
 */
void kernel_names_if_same(struct recording_writer *writer, const struct import_kernel *kernel);

#endif
