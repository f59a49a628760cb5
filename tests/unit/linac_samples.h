/* Samples of small projections of linear accelerators, and their files in the folder of a test.
 * Include after unit/scan_files.h. */
#ifndef FBP_TEST_LINAC_SAMPLES_H
#define FBP_TEST_LINAC_SAMPLES_H

#include "unit/linac_files.h"

enum { W = 7, H = 5, N = W * H };

/* Samples with steps of all sizes: differences of 1, 2 and 4 bytes, of both signs. */
static inline void samples_of(int32_t *p, int k)
{
    static const int32_t steps[] = {3, -90, 700, -20000, 127, -128, 128, 65000, -70000, 1};

    for (int i = 0, x = 1000 * k; i < N; i++) {
        x += steps[(i * i + k) % 10];
        p[i] = x;
    }
}

static inline void put_bytes(const char *name, struct bytes b)
{
    put_file(in_folder(name), (const char *)b.p, b.n);
    free(b.p);
}

#endif /* FBP_TEST_LINAC_SAMPLES_H */
