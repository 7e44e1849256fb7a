// Runs of (value, length), after a header of two bytes: version, number of runs.
#include <cassert>
#include <cstdint>

extern "C" int unpack(const uint8_t *in, int size, float *out, int room) {
    assert(size >= 2 && in[0] <= 2);
    int at = 0;
    for (int run = 0; run < in[1]; ++run)
        for (int k = 0; k < in[3 + 2 * run] && at < room; ++k)
            out[at++] = in[2 + 2 * run] / 255.0f;
    return at;
}
