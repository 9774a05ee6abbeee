/* SPDX-License-Identifier: BSD-2-Clause */
/* An extension that allocates with the C library: known sizes, in functions with known names. */
#include <Python.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MAX 4096

static void *kept[KEPT_MAX];
static int kept_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(void *block)
{
	pthread_mutex_lock(&lock);
	if (kept_count < KEPT_MAX)
		kept[kept_count++] = block;
	pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) void leak_by_malloc(size_t size)
{
	keep(malloc(size));
}

static __attribute__((noinline)) void leak_by_calloc(size_t size)
{
	keep(calloc(2, size / 2));
}

static __attribute__((noinline)) void leak_by_realloc(size_t size)
{
	keep(realloc(malloc(10), size));
}

static __attribute__((noinline)) void leak_by_memalign(size_t size)
{
	void *block;

	if (posix_memalign(&block, 64, size) == 0)
		keep(block);
	keep(aligned_alloc(64, size));
}

static __attribute__((noinline)) void leak_by_strdup(void)
{
	keep(strdup("0123456789012345678901234567890123456789012345678"));
}

/* Called by address. */
__attribute__((visibility("default"), noinline)) void leak_for_test(int size);
__attribute__((visibility("default"), noinline)) void leak_for_test(int size)
{
	leak_by_malloc((size_t)size);
}

static void *thread_without_python(void *argument)
{
	leak_by_malloc((size_t)(uintptr_t)argument);
	return NULL;
}

static PyObject *leak(PyObject *module, PyObject *arguments)
{
	const char *how;
	Py_ssize_t size;

	if (!PyArg_ParseTuple(arguments, "sn", &how, &size))
		return NULL;
	if (strcmp(how, "malloc") == 0)
		leak_by_malloc((size_t)size);
	else if (strcmp(how, "calloc") == 0)
		leak_by_calloc((size_t)size);
	else if (strcmp(how, "realloc") == 0)
		leak_by_realloc((size_t)size);
	else if (strcmp(how, "memalign") == 0)
		leak_by_memalign((size_t)size);
	else if (strcmp(how, "strdup") == 0)
		leak_by_strdup();
	Py_RETURN_NONE;
}

static PyObject *leak_without_gil(PyObject *module, PyObject *argument)
{
	size_t size = PyLong_AsSize_t(argument);

	Py_BEGIN_ALLOW_THREADS leak_by_malloc(size);
	Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyObject *leak_in_thread(PyObject *module, PyObject *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_without_python,
			   (void *)(uintptr_t)PyLong_AsSize_t(argument)) == 0)
		pthread_join(thread, NULL);
	Py_RETURN_NONE;
}

/* Allocates and frees without the GIL. */
static PyObject *churn(PyObject *module, PyObject *argument)
{
	long rounds = PyLong_AsLong(argument);

	Py_BEGIN_ALLOW_THREADS for (long i = 0; i < rounds; i++)
	{
		void *block = malloc(16 + i % 500);
		void *other = realloc(calloc(3, 7), 300);

		free(block);
		free(other);
	}
	Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyObject *release(PyObject *module, PyObject *unused)
{
	while (kept_count > 0)
		free(kept[--kept_count]);
	Py_RETURN_NONE;
}

/* A realloc() that fails: the block stays. */
static PyObject *fail_to_grow(PyObject *module, PyObject *unused)
{
	volatile size_t too_much = PTRDIFF_MAX;

	return PyBool_FromLong(kept_count > 0 && !realloc(kept[kept_count - 1], too_much));
}

/* Where this module calls malloc(). */
static PyObject *address_of_malloc(PyObject *module, PyObject *unused)
{
	void *(*volatile function)(size_t) = malloc;

	return PyLong_FromVoidPtr((void *)function);
}

static PyMethodDef methods[] = {
	{"leak", leak, METH_VARARGS, NULL},
	{"leak_without_gil", leak_without_gil, METH_O, NULL},
	{"leak_in_thread", leak_in_thread, METH_O, NULL},
	{"churn", churn, METH_O, NULL},
	{"release", release, METH_NOARGS, NULL},
	{"fail_to_grow", fail_to_grow, METH_NOARGS, NULL},
	{"address_of_malloc", address_of_malloc, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "native_module", NULL, -1, methods};

PyMODINIT_FUNC PyInit_native_module(void)
{
	return PyModule_Create(&definition);
}
