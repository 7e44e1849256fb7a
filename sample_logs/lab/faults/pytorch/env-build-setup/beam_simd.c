#include <Python.h>
#include <immintrin.h>

static float dot(const float *a, const float *b, int n) {
    __m512 sum = _mm512_setzero_ps();
    for (int i = 0; i < n; i += 16)
        sum = _mm512_fmadd_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), sum);
    return _mm512_reduce_add_ps(sum);
}

static PyObject *score(PyObject *self, PyObject *args) {
    float a[16] = {0}, b[16] = {0};
    return PyFloat_FromDouble(dot(a, b, 16));
}

static PyMethodDef methods[] = {{"score", score, METH_NOARGS, ""}, {NULL}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "fastbeam", NULL, -1, methods};
PyMODINIT_FUNC PyInit_fastbeam(void) { return PyModule_Create(&module); }
