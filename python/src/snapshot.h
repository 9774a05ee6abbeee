/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_SNAPSHOT_H
#define WICK_PYTHON_SNAPSHOT_H

/*
 * snapshot: the live blocks at one moment, as the Python type wick._tracer.Snapshot. Taking one
 * copies 12 bytes for each block and the counters of each site; objects are made when asked for.
 *
 * Threads: call with the GIL.
 */

#include "version.h"

/* Adds the type to the module. Returns 0, or -1 with an exception. */
int snapshot_add_type(PyObject *module);
/* A new Snapshot, or NULL with an exception. */
PyObject *snapshot_take(void);

/* The live blocks as event records, in bytes. */
PyObject *snapshot_blocks_as_events(void);

#endif
