/* Small HDF5 files for tests, made through the library. */
#ifndef FBP_TESTS_HDF5_FILES_H
#define FBP_TESTS_HDF5_FILES_H

#include "unit/io_util.h"

#include <hdf5.h>

enum { NX = 7, NY = 5, NZ = 6, N = NX * NY * NZ };

/* All different, and exact in every type. */
static inline double value(size_t i)
{
    return (double)(i % 120);
}

static inline hid_t new_file(const char *path)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

/* A data set of n numbers, `type` in the file; how: creation properties, closed here. */
static inline void put_set(hid_t file, const char *name, hid_t type, int rank, const hsize_t *n,
                           hid_t how, const double *values)
{
    const hid_t links = H5Pcreate(H5P_LINK_CREATE), space = H5Screate_simple(rank, n, NULL);

    H5Pset_create_intermediate_group(links, 1);
    const hid_t set = H5Dcreate2(file, name, type, space, links, how, H5P_DEFAULT);
    assert_true(set >= 0);
    if (values)
        assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(links);
    if (how != H5P_DEFAULT)
        H5Pclose(how);
}

/* NZ x NY x NX of value(). */
static inline void put_volume(hid_t file, const char *name, hid_t type, hid_t how)
{
    const hsize_t n[3] = {NZ, NY, NX};
    double values[N];

    for (size_t i = 0; i < N; i++)
        values[i] = value(i);
    put_set(file, name, type, 3, n, how, values);
}

/* The first n of value(). */
static inline void put_list(hid_t file, const char *name, hid_t type, hsize_t n, const double *v)
{
    put_set(file, name, type, 1, &n, H5P_DEFAULT, v);
}

static inline void put_text(hid_t file, const char *set, const char *attribute, const char *text)
{
    const hid_t data = H5Dopen2(file, set, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    const hid_t space = H5Screate(H5S_SCALAR);

    H5Tset_size(type, strlen(text) + 1);
    const hid_t a = H5Acreate2(data, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(a, type, text) >= 0);
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(data);
}

static inline hid_t chunks(hsize_t z, hsize_t y, hsize_t x)
{
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t n[3] = {z, y, x};

    H5Pset_chunk(how, 3, n);
    return how;
}

static const double degrees[NZ] = {0, 30, 60, 90, 120, 150};

static inline void put_exchange(hid_t file, const char *unit, double scale, size_t n_angles)
{
    double angles[NZ];

    for (int i = 0; i < NZ; i++)
        angles[i] = degrees[i] * scale;
    put_volume(file, "/exchange/data", H5T_STD_U16LE, H5P_DEFAULT);
    put_volume(file, "/exchange/data_white", H5T_STD_U16LE, chunks(1, NY, NX));
    if (n_angles)
        put_list(file, "/exchange/theta", H5T_IEEE_F32LE, n_angles, angles);
    if (n_angles && unit)
        put_text(file, "/exchange/theta", "units", unit);
}

static inline void put_tomo(hid_t file, const char *unit)
{
    const double keys[NZ] = {1, 0, 0, 2, 0, 3}, pixel[2] = {6.5, 13};

    put_volume(file, "/entry/instrument/detector/data", H5T_STD_U16LE, chunks(2, 2, 3));
    put_list(file, "/entry/instrument/detector/image_key", H5T_STD_I64LE, NZ, keys);
    put_list(file, "/entry/sample/rotation_angle", H5T_IEEE_F64LE, NZ, degrees);
    put_list(file, "/entry/instrument/detector/x_pixel_size", H5T_IEEE_F64LE, 1, pixel);
    put_list(file, "/entry/instrument/detector/y_pixel_size", H5T_IEEE_F64LE, 1, pixel + 1);
    if (unit) {
        put_text(file, "/entry/instrument/detector/x_pixel_size", "units", unit);
        put_text(file, "/entry/instrument/detector/y_pixel_size", "units", unit);
    }
    /* Another entry does not get in between. */
    put_list(file, "/other/sample/rotation_angle", H5T_IEEE_F64LE, NZ, keys);
}

#endif /* FBP_TESTS_HDF5_FILES_H */
