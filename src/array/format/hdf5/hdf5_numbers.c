/* Short lists of numbers, and attributes. */
#include "array/format/hdf5/hdf5_lib.h"

#include "base/base.h"

#include <stdio.h>
#include <string.h>

static const size_t MAX_FRAMES = (size_t)1 << 24;

fbp_status fbp_hdf5_numbers(hid_t file, const char *name, const char *path, size_t most,
                            double **out, size_t *n)
{
    const hid_t data = H5Dopen2(file, path, fbp_hdf5_access()), space = H5Dget_space(data);
    const hid_t type = H5Dget_type(data);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    char why[200];
    fbp_status st = FBP_OK;
    bool fits = false;

    *out = NULL;
    *n = 0;
    if (count <= 0 || (size_t)count > most || !fbp_hdf5_is_numeric(type))
        st = fbp_fail(FBP_ERR_INVALID, "%s: %s: expected 1 to %zu numbers, found %lld of them",
                      name, path, most, (long long)count);
    if (st == FBP_OK)
        st = fbp_hdf5_check_block(data, name, NULL, NULL, SIZE_MAX, &fits);
    if (st == FBP_OK && !fits)
        st = fbp_fail(FBP_ERR_IO,
                      "%s: %s comes from more files than this process may have open: raise the "
                      "number of open files (ulimit -n)",
                      name, path);
    if (st == FBP_OK)
        st = fbp_calloc((void **)out, (size_t)count, sizeof **out, path);
    if (st == FBP_OK && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0) {
        st = fbp_fail(FBP_ERR_INVALID, "%s: %s cannot be read%s: the file is damaged", name, path,
                      fbp_hdf5_reason(why, sizeof why));
        free(*out);
        *out = NULL;
    }
    if (st == FBP_OK)
        *n = (size_t)count;
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(data);
    return st;
}

fbp_status fbp_hdf5_keys(hid_t file, const char *name, const char *path,
                         const struct fbp_hdf5_list *list, double **out, size_t *n)
{
    char control[FBP_HDF5_PATH + 16];
    double *finer = NULL;
    size_t n_finer = 0;

    snprintf(control, sizeof control, "%s_control", path);
    FBP_TRY(fbp_hdf5_numbers(file, name, path, MAX_FRAMES, out, n));
    if (!fbp_hdf5_find(list, control))
        return FBP_OK;
    fbp_status st = fbp_hdf5_numbers(file, name, control, MAX_FRAMES, &finer, &n_finer);
    if (st == FBP_OK && n_finer != *n)
        st = fbp_fail(FBP_ERR_INVALID, "%s: %s has %zu entries, %s %zu: correct the file", name,
                      control, n_finer, path, *n);
    for (size_t i = 0; st == FBP_OK && i < *n; i++)
        if ((*out)[i] >= 0 && (*out)[i] <= 0)
            (*out)[i] = finer[i];
    free(finer);
    if (st != FBP_OK) {
        free(*out);
        *out = NULL;
    }
    return st;
}

bool fbp_hdf5_text_of(hid_t object, const char *attribute, char *out, size_t n)
{
    const bool has = attribute && H5Aexists(object, attribute) > 0;
    const hid_t a = has ? H5Aopen(object, attribute, H5P_DEFAULT) : -1;
    const hid_t type = a >= 0 ? H5Aget_type(a) : attribute ? -1 : H5Dget_type(object);
    const hid_t space = a >= 0 ? H5Aget_space(a) : attribute ? -1 : H5Dget_space(object);
    const hid_t memory = H5Tcopy(H5T_C_S1);
    char fixed[256] = "", *variable = NULL;
    bool found = false;

    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) {
        const bool is_variable = H5Tis_variable_str(type) > 0;
        H5Tset_size(memory, is_variable ? H5T_VARIABLE : sizeof fixed);
        H5Tset_cset(memory, H5Tget_cset(type));
        void *to = is_variable ? (void *)&variable : fixed;
        found = (attribute ? H5Aread(a, memory, to)
                           : H5Dread(object, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, to)) >= 0;
        fixed[sizeof fixed - 1] = '\0';
        if (found && (variable || !is_variable))
            snprintf(out, n, "%s", is_variable ? variable : fixed);
        H5free_memory(variable);
    }
    H5Tclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(a);
    return found;
}

bool fbp_hdf5_numbers_of(hid_t object, const char *attribute, double *out, size_t n)
{
    const hid_t a = H5Aexists(object, attribute) > 0 ? H5Aopen(object, attribute, H5P_DEFAULT) : -1;
    const hid_t type = a >= 0 ? H5Aget_type(a) : -1, space = a >= 0 ? H5Aget_space(a) : -1;
    const bool found = type >= 0 && fbp_hdf5_is_numeric(type) &&
                       H5Sget_simple_extent_npoints(space) == (hssize_t)n &&
                       H5Aread(a, H5T_NATIVE_DOUBLE, out) >= 0;

    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(a);
    return found;
}
