#include <stdint.h>
#include <stdlib.h>

static const int64_t *table;

void bpe_load(const int64_t *merges) { table = merges; }

int64_t bpe_count(const uint32_t *codes, int64_t n) {
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++)
        total += table[(int64_t)codes[i] << 16];
    return total;
}
