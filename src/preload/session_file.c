/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "preload/heap/heap_budget.h"
#include "preload/path_text.h"
#include "preload/runtime.h"
#include "safe/clock.h"
#include "safe/syscall.h"
#include "safe/ticks.h"

#define PAGE_BYTES 65536u  /* a multiple of all page sizes that there are */
#define MAX_IMAGES 100000u /* limit for programs that one process executes */
/* For programs with little address space. */
#define AS_LIMITED_TABLES_BYTES (16ull << 20)
#define AS_LIMITED_SLOTS 16u
/* Space for rings is allocated in groups. */
#define MOST_AHEAD 64u
#define PATH_BYTES (SESSION_PATH_MAX + 64)

static long open_in_session(const char *name, int flags)
{
	char text[PATH_BYTES];
	struct path path = PATH_IN(text);

	path_add(&path, preload.folder);
	path_add(&path, "/");
	path_add(&path, name);
	return safe_syscall(SYS_openat, AT_FDCWD, SAFE_POINTER(path.text), flags | O_CLOEXEC, 0600);
}

static void close_fd(long fd)
{
	(void)safe_syscall(SYS_close, fd, 0); /* nothing can be done about it */
}

static void *map_fd(long fd, uint64_t bytes, int protection)
{
	long address = safe_syscall(SYS_mmap, 0, (long)bytes, protection,
				    MAP_SHARED | MAP_NORESERVE, fd, 0);

	return address < 0 && address > -4096 ? NULL : (void *)address;
}

static void unmap(void *address, uint64_t bytes)
{
	if (address)
		(void)safe_syscall(SYS_munmap, SAFE_POINTER(address), (long)bytes);
}

bool session_file_recorder_moves(const struct session_control *control, uint64_t now_ns)
{
	/* A beat since the clock was read is in its future. */
	return (int64_t)(now_ns - atomic_load(&control->heartbeat_ns)) <
	       (int64_t)SESSION_SILENCE_NS;
}

/* The state letter of a process in /proc/PID/stat; 0: unreadable. */
static char state_of(uint32_t pid)
{
	char text[64];
	struct path path = PATH_IN(text);
	char stat[64]; /* "PID (NAME) S …": names have 15 bytes at most */
	long size = 0;
	long fd;

	path_add(&path, "/proc/");
	path_number(&path, pid);
	path_add(&path, "/stat");
	fd = safe_syscall(SYS_openat, AT_FDCWD, SAFE_POINTER(path.text), O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	size = safe_syscall(SYS_read, fd, SAFE_POINTER(stat), sizeof(stat));
	close_fd(fd);
	for (long i = size - 3; i >= 0; i--) /* a name may have a parenthesis as well */
		if (stat[i] == ')' && stat[i + 1] == ' ')
			return stat[i + 2];
	return 0;
}

bool session_file_recorder_is_gone(const struct session_control *control)
{
	char state;

	if (safe_syscall(SYS_kill, control->recorder_pid, 0) == -ESRCH)
		return true;
	/* It has ended, and its parent has not reaped it yet. */
	state = state_of(control->recorder_pid);
	return state == 'Z' || state == 'X';
}

bool session_file_recorder_is_stopped(const struct session_control *control)
{
	char state = state_of(control->recorder_pid);

	return state == 'T' || state == 't';
}

/* Whether the recorder is alive, wants to record, and wants this program. */
static bool is_wanted(const struct session_control *control)
{
	uint32_t only_pid = atomic_load(&control->only_pid);

	return control->magic == SESSION_MAGIC && control->version == SESSION_VERSION &&
	       atomic_load(&control->mode) != 0 &&
	       session_file_recorder_moves(control, safe_clock_ns(CLOCK_MONOTONIC)) &&
	       (only_pid == 0 || only_pid == preload.pid) && control->ring_words >= 1024 &&
	       control->ring_words <= 1u << 20 &&
	       (control->ring_words & (control->ring_words - 1)) == 0;
}

bool session_file_find(void)
{
	const char *folder = getenv(SESSION_VARIABLE);
	struct session_control *control;
	long fd;

	if (!folder || folder[0] != '/' || strlen(folder) >= sizeof(preload.folder))
		return false;
	memcpy(preload.folder, folder, strlen(folder) + 1);
	preload.pid = (uint32_t)safe_syscall(SYS_getpid, 0);
	fd = open_in_session(SESSION_CONTROL, O_RDONLY);
	if (fd < 0)
		return false;
	control = map_fd(fd, sizeof(*control), PROT_READ);
	close_fd(fd);
	if (!control || !is_wanted(control)) {
		unmap(control, sizeof(*control));
		return false;
	}
	preload.control = control;
	return true;
}

/*
 * The start time of this process from /proc/self/stat: the 22nd word; the second is in parentheses.
 */
static uint64_t start_ticks(void)
{
	char text[1024];
	uint64_t ticks = 0;
	const char *at;
	long fd = safe_syscall(SYS_openat, AT_FDCWD, SAFE_POINTER("/proc/self/stat"),
			       O_RDONLY | O_CLOEXEC, 0);
	long n;

	if (fd < 0)
		return 0;
	n = safe_syscall(SYS_read, fd, SAFE_POINTER(text), sizeof(text) - 1, 0);
	close_fd(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	for (int word = 2; at && word < 22; word++)
		at = strchr(at + 1, ' ');
	while (at && *++at >= '0' && *at <= '9')
		ticks = ticks * 10 + (uint64_t)(*at - '0');
	return ticks;
}

/* Creates a file with an unused name: a process has one for each program that it executed. */
static long create_file(uint64_t ticks)
{
	long fd = -1;

	for (uint64_t image = 0; image < MAX_IMAGES; image++) {
		struct path name = PATH_IN(preload.file_name);

		path_number(&name, preload.pid);
		path_add(&name, ".");
		path_number(&name, ticks);
		path_add(&name, ".");
		path_number(&name, image);
		fd = open_in_session(preload.file_name, O_RDWR | O_CREAT | O_EXCL);
		if (fd != -EEXIST)
			break;
	}
	return fd;
}

/* A program with little address space maps less. */
static bool has_few_addresses(void)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	(void)safe_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, SAFE_POINTER(&limit));
	return limit.rlim_cur != RLIM_INFINITY;
}

/* The session's tables, for reading. */
static void map_tables(void)
{
	long fd = open_in_session(SESSION_TABLES, O_RDONLY);

	if (fd < 0)
		return;
	preload.tables_bytes = has_few_addresses() ? AS_LIMITED_TABLES_BYTES : SESSION_TABLES_BYTES;
	preload.tables = map_fd(fd, preload.tables_bytes, PROT_READ);
	close_fd(fd);
}

static void lay_out(void)
{
	uint64_t bytes =
		sizeof(struct session_process) + SESSION_FIRST_SLOTS * sizeof(struct session_slot);

	preload.layout = (struct session_layout){
		.slots_offset = sizeof(struct session_process),
		.rings_offset = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES,
		.ring_words = preload.control->ring_words,
	};
	preload.slot_count = has_few_addresses() ? AS_LIMITED_SLOTS : SESSION_SLOTS;
	preload.file_bytes = session_ring_offset(&preload.layout, preload.slot_count);
}

/*
 * Allocates space in the file: mapped pages without space must not be touched. A file in memory
 * gets all its space at once or, if a signal arrives, none.
 */
static long give_room(long fd, uint64_t begin, uint64_t bytes)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	uint64_t all = ~0ull;
	uint64_t before = 0;
	long r;

	/* Beyond the file size limit the kernel kills the program with SIGXFSZ. */
	(void)safe_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, SAFE_POINTER(&limit));
	if (begin + bytes > limit.rlim_cur)
		return -EFBIG;
	(void)safe_syscall(SYS_rt_sigprocmask, SIG_BLOCK, SAFE_POINTER(&all), SAFE_POINTER(&before),
			   sizeof(all));
	r = safe_syscall(SYS_fallocate, fd, 0, (long)begin, (long)bytes);
	(void)safe_syscall(SYS_rt_sigprocmask, SIG_SETMASK, SAFE_POINTER(&before), 0,
			   sizeof(before));
	return r;
}

/* The maximum used size of a ring. */
static uint64_t used_bytes(uint32_t index)
{
	uint64_t words = session_ring_words(&preload.layout, index);
	uint64_t heap_words = heap_budget_most_words(index);

	if ((preload.control->mode & SESSION_HEAP) && words > heap_words)
		words = heap_words;
	return words * sizeof(uint64_t);
}

/* The same for a range of rings, and their slots. */
static long give_rings_room(long fd, uint32_t from, uint32_t to)
{
	long r = 0;

	if (from == 0)
		r = give_room(fd, 0, preload.layout.rings_offset);
	if (r == 0 && from <= SESSION_FIRST_SLOTS && to > SESSION_FIRST_SLOTS)
		r = give_room(fd, session_more_offset(&preload.layout), SESSION_MORE_BYTES);
	for (uint32_t i = from; i < to && r == 0; i++)
		r = give_room(fd, session_ring_offset(&preload.layout, i), used_bytes(i));
	return r;
}

struct session_slot *session_file_slot(uint32_t index)
{
	return (struct session_slot *)((uint8_t *)preload.process +
				       session_slot_offset(&preload.layout, index));
}

uint64_t *session_file_ring(uint32_t index)
{
	return (uint64_t *)((uint8_t *)preload.process +
			    session_ring_offset(&preload.layout, index));
}

static void fill_head(struct session_process *process, uint64_t ticks, uint32_t forked_from)
{
	process->version = SESSION_VERSION;
	process->pid = preload.pid;
	process->forked_from = forked_from;
	process->start_ticks = ticks;
	process->created_ticks = safe_ticks();
	process->slot_count = preload.slot_count;
	process->ring_words = preload.layout.ring_words;
	process->slots_offset = preload.layout.slots_offset;
	process->rings_offset = preload.layout.rings_offset;
	process->tables_address = (uint64_t)(uintptr_t)preload.tables;
	process->tables_bytes = preload.tables ? preload.tables_bytes : 0;
	process->rings = 1;
	process->state = SESSION_PROCESS_LIVE;
	process->maps_changed = 1;
	/* After a fork they are unchanged, until the recorder publishes new ones. */
	atomic_store(&process->modules, (uint64_t)(uintptr_t)atomic_load(&preload.unwind.modules));
	atomic_thread_fence(memory_order_release);
	process->magic = SESSION_MAGIC;
}

/* The file cannot be used: removes it, and tells the recorder why. An empty file needs no space. */
static void withdraw_file(long code)
{
	char text[PATH_BYTES];
	struct path path = PATH_IN(text);
	long fd;

	path_add(&path, preload.folder);
	path_add(&path, "/");
	path_add(&path, preload.file_name);
	(void)safe_syscall(SYS_unlinkat, AT_FDCWD, SAFE_POINTER(path.text), 0, 0);
	if (code == 0)
		return; /* it failed for lack of address space */
	fd = open_in_session(code == -EFBIG ? SESSION_LIMITED : SESSION_NO_ROOM,
			     O_WRONLY | O_CREAT);
	if (fd >= 0)
		close_fd(fd);
}

bool session_file_create(uint32_t forked_from)
{
	uint64_t ticks = start_ticks();
	long fd = create_file(ticks);
	struct session_process *process = NULL;
	long r;

	if (fd < 0)
		return false;
	lay_out();
	r = give_rings_room(fd, 0, 1);
	if (r == 0)
		process = map_fd(fd, preload.file_bytes, PROT_READ | PROT_WRITE);
	close_fd(fd);
	if (!process) {
		withdraw_file(r);
		return false;
	}
	if (forked_from == 0)
		map_tables();
	preload.process = process;
	atomic_store(&preload.roomed, 1);
	fill_head(process, ticks, forked_from);
	return true;
}

/* Never lowers the value. */
static void raise_to(_Atomic uint32_t *at, uint32_t value)
{
	uint32_t now = atomic_load(at);

	while (now < value && !atomic_compare_exchange_weak(at, &now, value))
		;
}

bool session_file_room(uint32_t index)
{
	/* The program may have overwritten the value in the file. */
	uint32_t rings = atomic_load(&preload.roomed);
	uint32_t wanted = index + index / 2 + 1;
	long fd;
	long r;

	if (index < rings)
		return true;
	if (wanted > index + MOST_AHEAD)
		wanted = index + MOST_AHEAD;
	if (wanted > preload.slot_count)
		wanted = preload.slot_count;
	fd = open_in_session(preload.file_name, O_RDWR);
	if (fd < 0)
		return false;
	r = give_rings_room(fd, rings, wanted);
	close_fd(fd);
	if (r < 0)
		return false;
	raise_to(&preload.roomed, wanted);
	raise_to(&preload.process->rings, wanted);
	return true;
}

bool session_file_has_library(void)
{
	long fd = open_in_session(SESSION_LIBRARY, O_RDONLY);

	if (fd >= 0)
		close_fd(fd);
	return fd >= 0;
}

void session_file_leave(void)
{
	unmap(preload.process, preload.file_bytes);
	preload.process = NULL;
}

void session_file_wake(void)
{
	long fd = open_in_session(SESSION_WAKE, O_WRONLY | O_NONBLOCK);

	if (fd < 0)
		return; /* no reader, or the program sees other files now */
	(void)safe_syscall(SYS_write, fd, SAFE_POINTER("w"), 1,
			   0); /* if the pipe is full, the recorder is awake */
	close_fd(fd);
}
