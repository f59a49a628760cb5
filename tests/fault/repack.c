/* repack IN.mha OUT.h5|FOLDER: the same views, compressed: chunks of a view in OUT.h5:/views, or a
 * TIFF file a view, one strip each. */
#include "fbp/array.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tiffio.h>

static int put_hdf5(fbp_source *src, const char *path, float *view)
{
    const size_t *n = fbp_source_info(src)->n;
    const hsize_t all[3] = {n[2], n[1], n[0]}, one[3] = {1, n[1], n[0]};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, all, NULL),
                memory = H5Screate_simple(3, one, NULL);
    int bad = H5Pset_chunk(how, 3, one) < 0 || H5Pset_deflate(how, 1) < 0;
    const hid_t set =
        H5Dcreate2(file, "views", H5T_IEEE_F32LE, space, H5P_DEFAULT, how, H5P_DEFAULT);

    for (hsize_t k = 0; k < n[2] && !bad; k++) {
        const hsize_t at[3] = {k, 0, 0};
        bad = fbp_source_read(src, k, 1, 0, n[1], FBP_F32, view) != FBP_OK ||
              H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL) < 0 ||
              H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, view) < 0;
    }
    return H5Dclose(set) < 0 || H5Fclose(file) < 0 || bad;
}

static int put_tiff(const char *path, const size_t *n, float *view)
{
    TIFF *t = TIFFOpen(path, "w");

    if (!t)
        return 1;
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, (uint32_t)n[0]);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, (uint32_t)n[1]);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 32);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(t, TIFFTAG_ZIPQUALITY, 1);
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, (uint32_t)n[1]);
    const tmsize_t bytes = (tmsize_t)(n[0] * n[1] * sizeof *view);
    const int bad = TIFFWriteEncodedStrip(t, 0, view, bytes) != bytes;
    TIFFClose(t);
    return bad;
}

static int put_folder(fbp_source *src, const char *folder, float *view)
{
    const size_t *n = fbp_source_info(src)->n;
    char path[600];
    int bad = mkdir(folder, 0777);

    for (size_t k = 0; k < n[2] && !bad; k++) {
        snprintf(path, sizeof path, "%s/%04zu.tif", folder, k);
        bad =
            fbp_source_read(src, k, 1, 0, n[1], FBP_F32, view) != FBP_OK || put_tiff(path, n, view);
    }
    return bad;
}

int main(int argc, char **argv)
{
    fbp_source *src = NULL;

    if (argc != 3 || fbp_source_open(&src, argv[1], NULL) != FBP_OK) {
        fprintf(stderr, "repack IN OUT: %s\n", fbp_message());
        return 2;
    }
    const size_t *n = fbp_source_info(src)->n;
    float *view = malloc(n[0] * n[1] * sizeof *view);
    const int bad = !view || (strstr(argv[2], ".h5") ? put_hdf5(src, argv[2], view)
                                                     : put_folder(src, argv[2], view));
    free(view);
    fbp_source_close(&src);
    return bad;
}
