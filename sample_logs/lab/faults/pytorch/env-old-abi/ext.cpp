#include <Python.h>
#include <c10/util/Exception.h>
#include <string>

#define JOIN(a, b) a##b
#define INIT(name) JOIN(PyInit_, name)
#define TEXT(name) #name
#define STRING(name) TEXT(name)

static PyObject *scale(PyObject *, PyObject *args) {
    double value, factor;
    if (!PyArg_ParseTuple(args, "dd", &value, &factor)) return nullptr;
    TORCH_CHECK(factor > 0, "factor must be positive, not " + std::to_string(factor));
    return PyFloat_FromDouble(value * factor);
}

static PyMethodDef methods[] = {{"scale", scale, METH_VARARGS, ""}, {nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, STRING(NAME), nullptr, -1, methods};

PyMODINIT_FUNC INIT(NAME)() { return PyModule_Create(&module); }
