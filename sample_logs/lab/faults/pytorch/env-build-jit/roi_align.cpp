#include <THC/THC.h>
#include <torch/extension.h>

extern THCState *state;

at::Tensor roi_align_forward(const at::Tensor &input, const at::Tensor &rois, double scale) {
    return input.mul(scale);
}
