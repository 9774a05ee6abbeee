/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sockets: calls on a socket that has a limit of time fail with EINTR even where handlers
 * restart calls. In a program that has ever set one they are left in peace.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inproc/quiet.h"
#include "inproc/real.h"

static _Atomic bool has_limits;

#define LIMITED(call)                                                                              \
	(atomic_load_explicit(&has_limits, memory_order_relaxed) ? QUIETLY(call) : (call))

REAL_DEFINE(setsockopt);
INPROC_EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t size)
{
	if (level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO))
		atomic_store(&has_limits, true);
	return REAL(setsockopt)(fd, level, option, value, size);
}

REAL_DEFINE(read);
INPROC_EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
	return LIMITED(REAL(read)(fd, buffer, size));
}

REAL_DEFINE(write);
INPROC_EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
	return LIMITED(REAL(write)(fd, buffer, size));
}

REAL_DEFINE(readv);
INPROC_EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
	return LIMITED(REAL(readv)(fd, parts, count));
}

REAL_DEFINE(writev);
INPROC_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
	return LIMITED(REAL(writev)(fd, parts, count));
}

REAL_DEFINE(recv);
INPROC_EXPORT ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
	return LIMITED(REAL(recv)(fd, buffer, size, flags));
}

REAL_DEFINE(recvfrom);
INPROC_EXPORT ssize_t recvfrom(int fd, void *restrict buffer, size_t size, int flags,
			       struct sockaddr *restrict address, socklen_t *restrict length)
{
	return LIMITED(REAL(recvfrom)(fd, buffer, size, flags, address, length));
}

REAL_DEFINE(recvmsg);
INPROC_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	return LIMITED(REAL(recvmsg)(fd, message, flags));
}

REAL_DEFINE(send);
INPROC_EXPORT ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
	return LIMITED(REAL(send)(fd, buffer, size, flags));
}

REAL_DEFINE(sendto);
INPROC_EXPORT ssize_t sendto(int fd, const void *buffer, size_t size, int flags,
			     const struct sockaddr *address, socklen_t length)
{
	return LIMITED(REAL(sendto)(fd, buffer, size, flags, address, length));
}

REAL_DEFINE(sendmsg);
INPROC_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	return LIMITED(REAL(sendmsg)(fd, message, flags));
}

REAL_DEFINE(connect);
INPROC_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	return LIMITED(REAL(connect)(fd, address, length));
}

REAL_DEFINE(accept);
INPROC_EXPORT int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
	return LIMITED(REAL(accept)(fd, address, length));
}

REAL_DEFINE(accept4);
INPROC_EXPORT int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict length,
			  int flags)
{
	return LIMITED(REAL(accept4)(fd, address, length, flags));
}

/* What calls become that the compiler checks the buffers of. */
extern ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
extern ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags);

REAL_DEFINE(__read_chk);
INPROC_EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
	return LIMITED(REAL(__read_chk)(fd, buffer, size, room));
}

REAL_DEFINE(__recv_chk);
INPROC_EXPORT ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
{
	return LIMITED(REAL(__recv_chk)(fd, buffer, size, room, flags));
}
