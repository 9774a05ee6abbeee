/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/live_page.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "recording/format.h"
#include "server/files/file_server.h"

/* A tenth of the CPU time of a program that competes with it. */
#define NICE 10
#define TIDY_MS 1000
/* How long it may take to end: an answer to a page may be under way. */
#define END_MS 3000

/* What the process says when it is ready. */
struct ready {
	int code; /* 0, or a negative errno with err */
	uint16_t port;
	struct error err;
};

/* Signals from the terminal are for the recorder, which then ends this process. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;
	int fd;

	(void)sigfillset(&all); /* these cannot fail */
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	(void)setpriority(PRIO_PROCESS, 0, NICE); /* it may always be lowered */
	for (fd = 0; fd < 3 && null >= 0; fd++)
		(void)dup2(null, fd); /* or it keeps that of the recorder */
}

static void serve(const struct live_page_config *config, int fd)
{
	struct file_server_config served = {
		.address = config->address,
		.port = config->port,
		.token_path = "", /* none */
		.token_folder = "",
		.paths = &config->path,
		.count = 1,
		.load = config->load,
		.is_own = true,
	};
	struct pollfd ended = {.fd = fd, .events = POLLIN};
	struct file_server *server = NULL;
	struct ready ready = {0};

	leave_terminal();
	ready.code = file_server_open(&served, &server, &ready.err);
	if (ready.code == 0)
		ready.port = file_server_port(server);
	if (write(fd, &ready, sizeof(ready)) != (ssize_t)sizeof(ready) || ready.code < 0)
		return;
	while (poll(&ended, 1, TIDY_MS) <= 0)
		file_server_tidy(server);
	file_server_end(server);
	file_server_close(server);
}

/* Waits for the process, which has been asked to end. */
static uint64_t reap(pid_t pid)
{
	struct rusage used;
	int status;

	while (wait4(pid, &status, 0, &used) < 0)
		if (errno != EINTR)
			return 0;
	return ((uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec) * NS_PER_SEC +
	       ((uint64_t)used.ru_utime.tv_usec + (uint64_t)used.ru_stime.tv_usec) * NS_PER_US;
}

int live_page_start(struct live_page *ret, const struct live_page_config *config,
		    uint16_t *ret_port, struct error *err)
{
	struct ready ready = {0};
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_errno(err, -errno, "cannot show %s", config->path);
	pid = fork();
	if (pid == 0) {
		(void)close(pair[0]);
		serve(config, pair[1]);
		_exit(0);
	}
	(void)close(pair[1]); /* that of the process */
	if (pid < 0) {
		(void)close(pair[0]);
		return error_errno(err, -errno, "cannot show %s", config->path);
	}
	if (recv(pair[0], &ready, sizeof(ready), MSG_WAITALL) != (ssize_t)sizeof(ready))
		ready.code = error_advise(&ready.err,
					  error_set(&ready.err, -EIO,
						    "the process that shows %s ended unexpectedly",
						    config->path),
					  "remove --live; " RECORDING_REPORT);
	if (ready.code < 0) {
		(void)close(pair[0]);
		(void)reap(pid);
		if (ready.code == -EPERM)
			error_remedy(&ready.err, "listen on loopback, and reach it from elsewhere "
						 "with ssh -L PORT:127.0.0.1:PORT");
		if (err)
			*err = ready.err;
		return ready.code;
	}
	*ret = (struct live_page){.pid = pid, .fd = pair[0]};
	*ret_port = ready.port;
	return 0;
}

uint64_t live_page_end(struct live_page *page)
{
	struct pollfd gone = {.fd = page->fd, .events = POLLIN};
	uint64_t used_ns;

	if (page->pid == 0)
		return 0;
	/* It reads the end of this; its own end is closed when it exits. */
	(void)shutdown(page->fd, SHUT_WR);
	if (poll(&gone, 1, END_MS) <= 0)
		(void)kill(page->pid, SIGKILL); /* it has nothing to write */
	(void)close(page->fd);
	used_ns = reap(page->pid);
	*page = (struct live_page){0};
	return used_ns;
}
