/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_FORMATS_H
#define WICK_IMPORT_FORMATS_H

/* formats: the importer of each file in this folder, used only by table.c. */

struct importer_ops;

extern const struct importer_ops import_folded;
extern const struct importer_ops import_gperftools_cpu;
extern const struct importer_ops import_gperftools_text;
extern const struct importer_ops import_otlp;
extern const struct importer_ops import_perf_data;
extern const struct importer_ops import_perf_script;
extern const struct importer_ops import_pprof;
extern const struct importer_ops import_speedscope;

#endif
