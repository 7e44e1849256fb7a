#include <ATen/core/TensorBody.h>

#define CHECK_CPU(x) AT_CHECK(!x.is_cuda(), #x " must be a CPU tensor")

at::Tensor nms(const at::Tensor &dets, const at::Tensor &scores, double threshold) {
    CHECK_CPU(dets);
    CHECK_CPU(scores);
    AT_CHECK(dets.size(1) == 4, "boxes must have four columns");
    return dets;
}
