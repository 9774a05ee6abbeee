/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_VERSION_H
#define WICK_PYTHON_VERSION_H

/*
 * version: hides the differences between CPython 3.9 and 3.14 in what the tracer reads: thread
 * states, frames, code objects and the headers before objects. It is compiled for one minor
 * version, within which layouts do not change.
 */

#include <Python.h>

#ifdef Py_GIL_DISABLED
#error "wick.tracemalloc relies on the GIL: build it for a Python that has one"
#endif
#if PY_VERSION_HEX < 0x03090000 || PY_VERSION_HEX >= 0x030f0000
#error "wick.tracemalloc knows CPython 3.9 to 3.14"
#endif

#if PY_VERSION_HEX >= 0x030b0000
#define Py_BUILD_CORE 1
/* CPython's internal headers do not compile cleanly with our warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#undef _PyGC_FINALIZED /* the internal header defines it again */
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe_structs.h>
#else
#include <internal/pycore_frame.h>
#endif
#if PY_VERSION_HEX < 0x030c0000
#include <internal/pycore_pystate.h>
#endif
#pragma GCC diagnostic pop
#undef Py_BUILD_CORE
#else
#include <frameobject.h>
#endif

#include <stdbool.h>
#include <stdint.h>

#if PY_VERSION_HEX >= 0x030b0000
typedef struct _PyInterpreterFrame version_frame;
#else
typedef struct _frame version_frame;
#endif

/*
 * Returns the thread state that holds the GIL in this thread. The hooks of "mem" and "object"
 * always run with the GIL held.
 */
static inline PyThreadState *version_current_thread(void)
{
#if PY_VERSION_HEX >= 0x030d0000
	return PyThreadState_GetUnchecked();
#elif PY_VERSION_HEX >= 0x030c0000 || PY_VERSION_HEX < 0x030b0000
	return _PyThreadState_UncheckedGet();
#else
	return _PyThreadState_GET(); /* saves a call */
#endif
}

/* Returns the innermost frame, complete or not. */
static inline const version_frame *version_top_frame(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030d0000
	return thread->current_frame;
#elif PY_VERSION_HEX >= 0x030b0000
	return thread->cframe->current_frame;
#else
	return thread->frame;
#endif
}

static inline const version_frame *version_caller(const version_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
	return frame->previous;
#else
	return frame->f_back;
#endif
}

/* Returns whether this is not a real frame, but marks that C code called Python here. */
static inline bool version_is_mark(const version_frame *frame)
{
#if PY_VERSION_HEX >= 0x030c0000
	return frame->owner >= 3;
#else
	(void)frame;
	return false;
#endif
}

static inline PyCodeObject *version_code(const version_frame *frame)
{
#if PY_VERSION_HEX >= 0x030e0000
	return (PyCodeObject *)(frame->f_executable.bits & ~(uintptr_t)7);
#elif PY_VERSION_HEX >= 0x030d0000
	return (PyCodeObject *)frame->f_executable;
#else
	return frame->f_code;
#endif
}

/* Returns the index of the frame's current instruction in code units; -1 before the first one. */
static inline int64_t version_instruction(const version_frame *frame, const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030d0000
	return ((const char *)frame->instr_ptr - code->co_code_adaptive) / 2;
#elif PY_VERSION_HEX >= 0x030b0000
	return ((const char *)frame->prev_instr - code->co_code_adaptive) / 2;
#elif PY_VERSION_HEX >= 0x030a0000
	(void)code;
	return frame->f_lasti;
#else
	(void)code;
	return frame->f_lasti < 0 ? -1 : frame->f_lasti / 2;
#endif
}

/* Returns the instruction of a code object as one number; from 3.11 on, it is its address. */
static inline uint64_t version_place_of(const PyCodeObject *code, int64_t instruction)
{
#if PY_VERSION_HEX >= 0x030b0000
	return (uintptr_t)code->co_code_adaptive + 2 * (uint64_t)instruction;
#else
	return (uint64_t)(uintptr_t)code << 16 ^ (uint32_t)instruction;
#endif
}

static inline uint64_t version_place(const version_frame *frame)
{
#if PY_VERSION_HEX >= 0x030d0000
	return (uintptr_t)frame->instr_ptr;
#elif PY_VERSION_HEX >= 0x030b0000
	return (uintptr_t)frame->prev_instr;
#else
	return version_place_of(frame->f_code, version_instruction(frame, frame->f_code));
#endif
}

/* Returns whether the frame is still being set up (creating cells, for example). */
static inline bool version_is_incomplete(const version_frame *frame, const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030b0000
	return frame->owner != 1 && version_instruction(frame, code) < code->_co_firsttraceable;
#else
	(void)frame;
	(void)code;
	return false;
#endif
}

/*
 * Returns whether tracebacks leave out this frame, wherever it is on the stack. From 3.12 on, the
 * caller of an __init__() frame may be a frame that only checks its return value; the code object
 * of that frame is a read-only constant.
 */
static inline bool version_is_hidden(const version_frame *frame)
{
#if PY_VERSION_HEX >= 0x030c0000
	return version_is_mark(frame) || version_is_incomplete(frame, version_code(frame));
#else
	return version_is_mark(frame);
#endif
}

/*
 * Whether the same frame at the same level may have a different number of callers: a generator may,
 * because different callers resume it. In 3.9 every frame may, because frames are reused at any
 * depth.
 */
static inline bool version_depth_varies(const version_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
	return frame->owner == 1;
#else
	return PY_VERSION_HEX < 0x030a0000 || frame->f_gen != NULL;
#endif
}

/* Returns how many calls the interpreter counts in the thread. Up to 3.11, some are of C code. */
static inline int version_recursion(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030c0000
	return thread->py_recursion_limit - thread->py_recursion_remaining;
#elif PY_VERSION_HEX >= 0x030b0000
	return thread->recursion_limit - thread->recursion_remaining;
#else
	return thread->recursion_depth;
#endif
}

/* Returns how deep the running frame is, by recursion and the place of the loop on the C stack. */
static inline uint64_t version_level(const PyThreadState *thread)
{
	uint64_t level = (uint64_t)version_recursion(thread) << 48;

#if PY_VERSION_HEX >= 0x030a0000 && PY_VERSION_HEX < 0x030c0000
	level ^= (uint64_t)(uintptr_t)thread->cframe;
#endif
	return level;
}

static inline PyObject *version_code_name(const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030b0000
	return code->co_qualname;
#else
	return code->co_name;
#endif
}

/* Returns the number of bytes between the start of an object's block and the object. */
static inline size_t version_header_bytes(const PyTypeObject *type)
{
	size_t bytes = type->tp_flags & Py_TPFLAGS_HAVE_GC ? 16 : 0;

#if PY_VERSION_HEX >= 0x030c0000
	/* A dictionary or weak references managed by the interpreter. */
	if (type->tp_flags & (1ul << 3 | 1ul << 4))
		bytes += 2 * sizeof(void *);
#elif PY_VERSION_HEX >= 0x030b0000
	if (type->tp_flags & 1ul << 4)
		bytes += 2 * sizeof(void *);
#endif
	return bytes;
}

#if PY_VERSION_HEX >= 0x030c0000
#define version_request_extra PyUnstable_Eval_RequestCodeExtraIndex
#define version_set_extra PyUnstable_Code_SetExtra
#else
#define version_request_extra _PyEval_RequestCodeExtraIndex
#define version_set_extra _PyCode_SetExtra
#endif

/* While 3.9 creates an interpreter, a thread has the GIL and no current thread state. */
#define VERSION_HIDES_GIL (PY_VERSION_HEX < 0x030a0000)

#if PY_VERSION_HEX >= 0x030d0000
#define version_is_finalizing() Py_IsFinalizing()
#else
#define version_is_finalizing() _Py_IsFinalizing()
#endif

#endif
