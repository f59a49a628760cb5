/* Writes seeds for fuzzing: projections and scans of linear accelerators, by unit/linac_files.h. */
#include "fuzz/seeds_foreign.h"

#include "unit/linac_files.h"

#include <stdio.h>

enum { W = 8, H = 5, VIEWS = 2 };

static const struct xim values = {0.0388, 30, 0.25, -0.5, 1200};

static void put(const char *path, struct bytes b)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(b.p, 1, b.n, f) != b.n || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
    free(b.p);
}

static void samples_of(int32_t *p)
{
    for (int i = 0; i < W * H * VIEWS; i++)
        p[i] = 60000 - i * i * i % 50 * (i % 3 == 2 ? 900 : 1);
}

void fuzz_seeds_his(const char *folder)
{
    int32_t p[W * H * VIEWS];

    samples_of(p);
    put(fuzz_seed_path(folder, "image", 1, ".his"), make_his(p, W, H, 1));
    put(fuzz_seed_path(folder, "images", 2, ".his"), make_his(p, W, H, VIEWS));
}

void fuzz_seeds_varian(const char *folder)
{
    int32_t p[W * H * VIEWS];

    samples_of(p);
    put(fuzz_seed_path(folder, "image", 1, ".hnd"), make_hnd(p, W, H, 0.388, 12));
    put(fuzz_seed_path(folder, "image", 2, ".hnc"), make_hnc(p, W, H, 0.388, 12));
    put(fuzz_seed_path(folder, "image", 3, ".xim"), make_xim(p, W, H, &values));
}

void fuzz_linac_companions(const char *folder)
{
    int32_t p[W * H * VIEWS];
    char path[600];

    samples_of(p);
    for (int k = 0; k < VIEWS; k++) {
        struct xim turned = values;
        turned.angle_deg = k * 90;
        snprintf(path, sizeof path, "%s/Proj_%d.hnd", folder, k);
        put(path, make_hnd(p, W, H, 0.388, k * 90));
        snprintf(path, sizeof path, "%s/Proj_%d.xim", folder, k);
        put(path, make_xim(p, W, H, &turned));
        snprintf(path, sizeof path, "%s/%d.1.his", folder, k);
        put(path, make_his(p, W, H, 1));
    }
}
