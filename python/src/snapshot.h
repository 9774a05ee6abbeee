/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_SNAPSHOT_H
#define WICK_PYTHON_SNAPSHOT_H

/*
 * snapshot: the live blocks at one moment, as the Python type wick._tracer.Snapshot. Taking a
 * snapshot copies 12 bytes per block and the counters of each site; Python objects are created on
 * demand.
 *
 * Threads: call with the GIL held.
 */

#include "version.h"

/* Adds the type to the module. Returns 0, or -1 with an exception set. */
int snapshot_add_type(PyObject *module);
/* Returns a new Snapshot, or NULL with an exception set. */
PyObject *snapshot_take(void);

/* Returns the live blocks as a bytes object of event records. */
PyObject *snapshot_blocks_as_events(void);

#endif
