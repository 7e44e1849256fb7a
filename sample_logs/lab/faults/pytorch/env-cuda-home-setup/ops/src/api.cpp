#include <torch/extension.h>

void gather(const float *, const int *, float *, int);
