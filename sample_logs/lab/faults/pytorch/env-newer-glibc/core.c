#include <Python.h>

extern double SYMBOL(double);

static PyObject *encode(PyObject *self, PyObject *value) { return PyFloat_FromDouble(SYMBOL(PyFloat_AsDouble(value))); }

static PyMethodDef methods[] = {{"encode", encode, METH_O, ""}, {NULL}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "flashtok._core", NULL, -1, methods};

PyMODINIT_FUNC PyInit__core(void) { return PyModule_Create(&module); }
