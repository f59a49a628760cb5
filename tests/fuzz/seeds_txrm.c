/* Seeds of .txrm files: a cone beam with a reference image, and a parallel beam, by
 * unit/txrm_files.h. */
#include "fuzz/seeds_foreign.h"

#include "unit/txrm_files.h"

#include <stdio.h>

enum { W = 6, H = 4, VIEWS = 5 };

void fuzz_seeds_txrm(const char *folder)
{
    static const float angles[VIEWS] = {-90, -45, 0, 45, 90}, shifts[2 * VIEWS] = {0.5, 0, -0.5};
    uint16_t p[VIEWS * W * H];
    float reference[W * H];

    for (int i = 0; i < VIEWS * W * H; i++)
        p[i] = (uint16_t)(1000 + i * i % 700);
    for (int i = 0; i < W * H; i++)
        reference[i] = 2000;
    for (int cone = 0; cone < 2; cone++) {
        struct bytes b = make_txrm(p, W, H, VIEWS, angles, shifts, cone ? reference : NULL, cone);
        const char *path = fuzz_seed_path(folder, "scan", cone, ".txrm");
        FILE *f = fopen(path, "wb");
        if (!f || fwrite(b.p, 1, b.n, f) != b.n || fclose(f) != 0) {
            perror(path);
            exit(1);
        }
        free(b.p);
    }
}
