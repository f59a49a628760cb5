#include "fuzz/seeds_foreign.h"

#include "unit/hdf5_files.h"

static hid_t plain(void)
{
    return H5P_DEFAULT;
}

static hid_t compact(void)
{
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);

    H5Pset_layout(how, H5D_COMPACT);
    return how;
}

static hid_t views(void)
{
    return chunks(1, NY, NX);
}

static hid_t packed(void)
{
    const hid_t how = chunks(2, 3, 4);

    H5Pset_shuffle(how);
    H5Pset_deflate(how, 4);
    return how;
}

static hid_t checked(void) /* which only the library can read */
{
    const hid_t how = chunks(NZ, 2, NX);

    H5Pset_fletcher32(how);
    return how;
}

void fuzz_seeds_hdf5_arrays(const char *folder)
{
    hid_t (*const layouts[])(void) = {plain, compact, views, packed, checked};
    const hid_t types[] = {H5T_STD_U16LE, H5T_IEEE_F32BE, H5T_STD_I64LE};

    for (int i = 0; i < 5; i++)
        for (int t = 0; t < 3; t++) {
            const hid_t file = new_file(fuzz_seed_path(folder, "array", 3 * i + t, ".h5"));
            put_volume(file, "volume", types[t], layouts[i]());
            if (t == 2) /* columns first */
                put_text(file, "volume", "MATLAB_class", "int64");
            H5Fclose(file);
        }
}

void fuzz_seeds_hdf5_scans(const char *folder)
{
    for (int i = 0; i < 2; i++) {
        hid_t file = new_file(fuzz_seed_path(folder, "exchange", i, ".h5"));
        put_exchange(file, i ? "radians" : NULL, i ? 0.0174532925 : 1, NZ);
        H5Fclose(file);
        file = new_file(fuzz_seed_path(folder, "tomo", i, ".h5"));
        put_tomo(file, i ? "um" : NULL);
        H5Fclose(file);
    }
}
