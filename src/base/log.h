/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_LOG_H
#define WICK_BASE_LOG_H

/*
 * log: what a person who hunts a fault in wick itself wants to see. Written to
 * stderr when WICK_LOG=debug, silent otherwise.
 */

void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
