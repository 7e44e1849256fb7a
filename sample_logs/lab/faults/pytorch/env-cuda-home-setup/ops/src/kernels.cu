__global__ void gather_kernel(const float *x, const int *rows, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[rows[i]];
}
