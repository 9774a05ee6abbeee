/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_CALL_READERS_H
#define WICK_ENGINE_PERF_CALL_READERS_H

/* call_readers: the call_reader of each ring of an engine. */

struct call_readers;
struct perf_engine;

/* NULL if they cannot be started: native frames are shown. */
struct call_readers *call_readers_open(struct perf_engine *engine);
void call_readers_close(struct call_readers *readers); /* NULL is fine */

#endif
