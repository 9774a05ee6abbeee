/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_SERVICE_H
#define WICK_CLI_OPTIONS_SERVICE_H

/* service: what commands that listen until a signal ends them have in common. */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVICE_URL_MAX 192

/*
 * Blocks SIGTERM, SIGINT and SIGHUP, for sigtimedwait(), and ignores SIGPIPE: a client that went
 * away is its own affair. Call it before any thread starts.
 */
void service_hold_signals(sigset_t *ret);

/* "http://127.0.0.1:4040" */
void service_url(bool has_tls, const char *address, uint16_t port, char ret[SERVICE_URL_MAX]);

#endif
