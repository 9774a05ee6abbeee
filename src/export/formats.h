/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_FORMATS_H
#define WICK_EXPORT_FORMATS_H

/* formats: the exporter of each file in this folder, used only by table.c. */

struct exporter_ops;

extern const struct exporter_ops export_firefox;
extern const struct exporter_ops export_folded;
extern const struct exporter_ops export_json;
extern const struct exporter_ops export_otlp;
extern const struct exporter_ops export_perfetto;
extern const struct exporter_ops export_pprof;
extern const struct exporter_ops export_samples;
extern const struct exporter_ops export_speedscope;

#endif
