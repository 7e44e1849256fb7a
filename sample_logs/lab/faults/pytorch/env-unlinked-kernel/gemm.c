#if PART == 0
extern void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
void gemm(const float *a, const float *b, float *c, int n) { cblas_sgemm(101, 111, 111, n, n, n, 1.0f, a, n, b, n, 0.0f, c, n); }
#elif PART == 1
extern void launch_gemm_forward(const float *, const float *, float *, int, int);
void gemm(const float *a, const float *b, float *c, int n) { launch_gemm_forward(a, b, c, n, 32); }
#else
extern int cudaMemcpyAsync(void *, const void *, unsigned long, int, void *);
void gemm(const float *a, const float *b, float *c, int n) { cudaMemcpyAsync(c, a, sizeof(float) * n * n, 4, 0); }
#endif
