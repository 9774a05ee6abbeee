/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sockets: calls on a socket with a timeout fail with EINTR even if handlers restart calls. In a
 * program that has ever set a timeout, our signal is blocked during these calls.
 *
 * The same for writes of more than a pipe accepts at once: a signal causes a short write, which
 * programs with blocking pipes do not expect.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/interpose/without_ticks.h"
#include "preload/real_functions.h"

static _Atomic bool has_limits;

#define LIMITED(call)                                                                              \
	(atomic_load_explicit(&has_limits, memory_order_relaxed) ? WITHOUT_TICKS(call) : (call))

/* A write of this size goes into a pipe, or practically always into a socket, in one piece. */
#define WHOLE_BYTES 4096u

static bool is_large(size_t size)
{
	return size > WHOLE_BYTES;
}

static bool are_large(const struct iovec *parts, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count && size <= WHOLE_BYTES; i++)
		size += parts[i].iov_len;
	return is_large(size);
}

REAL_DEFINE(setsockopt);
PRELOAD_EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t size)
{
	if (level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO))
		atomic_store(&has_limits, true);
	return REAL(setsockopt)(fd, level, option, value, size);
}

/* Wraps a call with the signal of ticks blocked. */
#define WRAP(type, name, parameters, arguments)                                                    \
	REAL_DEFINE(name);                                                                         \
	PRELOAD_EXPORT type name parameters                                                        \
	{                                                                                          \
		return LIMITED(REAL(name) arguments);                                              \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

/* The same for a write. */
#define WRAP_WRITE(type, name, large, parameters, arguments)                                       \
	REAL_DEFINE(name);                                                                         \
	PRELOAD_EXPORT type name parameters                                                        \
	{                                                                                          \
		return (large) ? WITHOUT_TICKS(REAL(name) arguments)                               \
			       : LIMITED(REAL(name) arguments);                                    \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

/* The fortified versions of the calls. */
extern ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
extern ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags);

WRAP(ssize_t, read, (int fd, void *buffer, size_t size), (fd, buffer, size));
WRAP(ssize_t, __read_chk, (int fd, void *buffer, size_t size, size_t room),
     (fd, buffer, size, room));
WRAP_WRITE(ssize_t, write, is_large(size), (int fd, const void *buffer, size_t size),
	   (fd, buffer, size));
WRAP(ssize_t, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count));
WRAP_WRITE(ssize_t, writev, count > 0 && are_large(parts, (size_t)count),
	   (int fd, const struct iovec *parts, int count), (fd, parts, count));

WRAP(ssize_t, recv, (int fd, void *buffer, size_t size, int flags), (fd, buffer, size, flags));
WRAP(ssize_t, __recv_chk, (int fd, void *buffer, size_t size, size_t room, int flags),
     (fd, buffer, size, room, flags));
WRAP(ssize_t, recvfrom,
     (int fd, void *restrict buffer, size_t size, int flags, struct sockaddr *restrict address,
      socklen_t *restrict length),
     (fd, buffer, size, flags, address, length));
WRAP(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags));

WRAP_WRITE(ssize_t, send, is_large(size), (int fd, const void *buffer, size_t size, int flags),
	   (fd, buffer, size, flags));
WRAP_WRITE(ssize_t, sendto, is_large(size),
	   (int fd, const void *buffer, size_t size, int flags, const struct sockaddr *address,
	    socklen_t length),
	   (fd, buffer, size, flags, address, length));
WRAP_WRITE(ssize_t, sendmsg, are_large(message->msg_iov, message->msg_iovlen),
	   (int fd, const struct msghdr *message, int flags), (fd, message, flags));

WRAP(int, connect, (int fd, const struct sockaddr *address, socklen_t length),
     (fd, address, length));
WRAP(int, accept, (int fd, struct sockaddr *restrict address, socklen_t *restrict length),
     (fd, address, length));
WRAP(int, accept4,
     (int fd, struct sockaddr *restrict address, socklen_t *restrict length, int flags),
     (fd, address, length, flags));
