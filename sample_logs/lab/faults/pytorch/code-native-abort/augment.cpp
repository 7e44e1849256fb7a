#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

extern "C" void crop(float *image, int side, int at, int mode) {
    std::vector<float> row(side);
    if (mode == 0) {
        std::thread worker([&] { for (int i = 0; i < side; i++) image[i] += row.at(at + i) * 0.0f; });
        worker.join();
    } else if (mode == 1) {
        float *copy = static_cast<float *>(std::malloc(sizeof(float) * side));
        copy[0] = image[0];
        std::free(at > 0 ? copy + 4 : copy);
    } else {
        void *scratch = std::malloc(4096);
        std::free(scratch);
        if (at > 0) std::free(scratch);
    }
}
