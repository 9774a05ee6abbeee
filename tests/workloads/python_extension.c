/* SPDX-License-Identifier: BSD-2-Clause */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/*
 * An extension that works on arrays of numbers, as numpy does: loops in C, with and without the
 * interpreter's lock, and loops that call a Python function for each element.
 */

static volatile double sink;

/* Loops in C; the names are looked for in stacks. */
__attribute__((noinline)) static double array_kernel(long count)
{
	double total = 0;

	for (long i = 0; i < count; i++)
		total += (double)i * 0.5;
	sink = total;
	return total;
}

/* add(count): works without the lock. */
static PyObject *array_add(PyObject *self, PyObject *argument)
{
	long count = PyLong_AsLong(argument);
	double total;

	(void)self;
	if (count == -1 && PyErr_Occurred())
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	total = array_kernel(count);
	Py_END_ALLOW_THREADS;
	return PyFloat_FromDouble(total);
}

/* apply(function, count): calls it for each element, as numpy.vectorize does. */
__attribute__((noinline)) static PyObject *array_apply(PyObject *self, PyObject *arguments)
{
	PyObject *function;
	double total = 0;
	long count;

	(void)self;
	if (!PyArg_ParseTuple(arguments, "Ol", &function, &count))
		return NULL;
	for (long i = 0; i < count; i++) {
		PyObject *result = PyObject_CallFunction(function, "l", i);

		if (!result)
			return NULL;
		total += PyFloat_AsDouble(result);
		Py_DECREF(result);
		if (PyErr_Occurred())
			return NULL;
	}
	return PyFloat_FromDouble(total);
}

static PyMethodDef methods[] = {
	{"add", array_add, METH_O, NULL},
	{"apply", array_apply, METH_VARARGS, NULL},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "arrays", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_arrays(void)
{
	return PyModule_Create(&module);
}
