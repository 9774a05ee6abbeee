/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_KERNEL_NAMES_H
#define WICK_LOAD_NAMES_KERNEL_NAMES_H

/*
 * kernel_names: writes the kernel functions that samples hit into the recording. Kernel addresses
 * mean nothing on another machine or after a reboot, so the names that are needed are stored in the
 * file.
 */

struct import_kernel;
struct recording_writer;

void kernel_names_write(struct recording_writer *writer);

/*
 * The same for addresses that were recorded elsewhere or earlier: only if the running kernel is the
 * same one, on the same boot. Otherwise the recording says why not.
 */
void kernel_names_if_same(struct recording_writer *writer, const struct import_kernel *kernel);

#endif
