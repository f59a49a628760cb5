#include "fuzz/seeds_foreign.h"

#include "unit/nifti_files.h"

#include <zlib.h>

/* Of both versions and orders, the last two with a scale and a matrix. */
static void make_one(struct image *im, int i)
{
    make(im, 1 + i % 2, i / 2 % 2);
    if (i < 4)
        return;
    put_real(im, 112, 176, 0.5);
    put_real(im, 116, 184, -7);
    put_int(im, 254, 2, 348, 4, 1);
    for (size_t row = 0; row < 3; row++)
        put_srow(im, row, (double[4]){row == 0, row == 1, 2 * (row == 2), 5});
}

void fuzz_seeds_nifti(const char *folder)
{
    struct image im;

    for (int i = 0; i < 6; i++) {
        make_one(&im, i);
        put_file(fuzz_seed_path(folder, "image", i, ".nii"), im.b, im.n);
    }
}

/* The header; samples are in the file beside it that has its name. */
void fuzz_seeds_nifti_pairs(const char *folder)
{
    struct image im;

    for (int i = 0; i < 4; i++) {
        make_one(&im, i);
        im.b[im.version == 1 ? 345 : 5] = 'i';
        put_real(&im, 108, 108, 0);
        if (im.version == 2)
            put_int(&im, 0, 0, 168, 8, 0);
        put_file(fuzz_seed_path(folder, "pair", i, ".hdr"), im.b, im.version == 1 ? 348 : 540);
    }
}

void fuzz_seeds_nifti_gz(const char *folder)
{
    struct image im;

    for (int i = 0; i < 6; i++) {
        make_one(&im, i);
        gzFile f = gzopen(fuzz_seed_path(folder, "image", i, ".nii.gz"), "wb");
        assert_non_null(f);
        assert_int_equal(gzwrite(f, im.b, (unsigned)im.n), (int)im.n);
        assert_int_equal(gzclose(f), Z_OK);
    }
}
