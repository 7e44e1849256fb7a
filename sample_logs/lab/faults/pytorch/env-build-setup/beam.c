#include <Python.h>
#if LM == 1
#include <kenlm/lm/model.hh>
#else
#include <sndfile.h>
#endif

static PyModuleDef module = {PyModuleDef_HEAD_INIT, "fastbeam", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_fastbeam(void) { return PyModule_Create(&module); }
