/* Checks that no output may replace any file that a scan is read from, and that a change of any
 * of these files changes the fingerprint of the run. */
#include "base/text.h"
#include "unit/hdf5_files.h"

#include "array/array.h"
#include "array/names.h"
#include "scan/file/scan.h"

#include <fcntl.h>
#include <sys/stat.h>

#define FOLDER FBP_TEST_DIR "/io_inputs"

static void put_text_file(const char *name, const char *text)
{
    AUTO_FREE char *path = printed(FOLDER "/%s", name);
    put_file(path, text, strlen(text));
}

static void put_samples(const char *name)
{
    static const float zero[N];

    AUTO_FREE char *path = printed(FOLDER "/%s", name);
    put_file(path, zero, sizeof zero);
}

static void put_mhd(const char *name, const char *samples)
{
    char text[300];

    snprintf(text, sizeof text,
             "NDims = 3\nDimSize = %d %d %d\nElementType = MET_FLOAT\nElementDataFile = %s\n", NX,
             NY, 1, samples);
    put_text_file(name, text);
    put_samples(samples);
}

static void mhd(void)
{
    put_mhd("p.mhd", "samples.raw");
}

static void nhdr(void)
{
    char text[300];

    snprintf(text, sizeof text,
             "NRRD0004\ntype: float\ndimension: 3\nsizes: %d %d 6\nendian: little\n"
             "encoding: raw\ndata file: samples.raw\n",
             NX, NY);
    put_text_file("p.nhdr", text);
    put_samples("samples.raw");
}

static void nifti_pair(void)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {NX, NY, NZ}};
    static const float zero[N];
    size_t n;

    save_array(FOLDER "/p.nii", &info, NULL, zero);
    AUTO_FREE char *whole = get_file(FOLDER "/p.nii", &n);
    memcpy(whole + 108, zero, sizeof *zero); /* where the samples start */
    memcpy(whole + 344, "ni1", 4);
    put_file(FOLDER "/p.hdr", whole, 348);
    remove(FOLDER "/p.nii");
    put_samples("p.img");
}

static void hdf5_link(void)
{
    const hid_t raw = new_file(FOLDER "/samples.h5"), file = new_file(FOLDER "/p.h5");

    put_volume(raw, "d", H5T_IEEE_F32LE, chunks(2, NY, NX));
    assert_true(H5Lcreate_external("samples.h5", "/d", file, "/l", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
    H5Fclose(raw);
}

/* Two slices in a file each, the second in a virtual data set again. */
static void hdf5_virtual(void)
{
    const hsize_t all[3] = {2, NY, NX}, one[3] = {1, NY, NX};
    static const char *const sources[] = {"first.h5", "nested.h5"};
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE), nested = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(3, all, NULL), part = H5Screate_simple(3, one, NULL);

    for (hsize_t k = 0; k < 2; k++) {
        const hsize_t start[3] = {k, 0, 0};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL);
        assert_true(H5Pset_virtual(how, space, sources[k], "/d", part) >= 0);
    }
    assert_true(H5Pset_virtual(nested, part, "samples.h5", "/d", part) >= 0);
    const hid_t file = new_file(FOLDER "/p.h5"), first = new_file(FOLDER "/first.h5"),
                middle = new_file(FOLDER "/nested.h5"), last = new_file(FOLDER "/samples.h5");
    double v[NY * NX] = {0};
    put_set(file, "d", H5T_IEEE_F32LE, 3, all, how, NULL);
    put_set(first, "d", H5T_IEEE_F32LE, 3, one, H5P_DEFAULT, v);
    put_set(middle, "d", H5T_IEEE_F32LE, 3, one, nested, NULL);
    put_set(last, "d", H5T_IEEE_F32LE, 3, one, H5P_DEFAULT, v);
    H5Fclose(last);
    H5Fclose(middle);
    H5Fclose(first);
    H5Fclose(file);
    H5Sclose(part);
    H5Sclose(space);
}

static void stack_of_mhd(void)
{
    put_mhd("v0.mhd", "a.raw");
    put_mhd("v1.mhd", "samples.raw");
}

static const struct {
    const char *name, *projections;
    void (*make)(void);
    const char *samples;
} cases[] = {
    {"the file itself", "p.mhd", mhd, "p.mhd"},
    {"MHD", "p.mhd", mhd, "samples.raw"},
    {"NHDR", "p.nhdr", nhdr, "samples.raw"},
    {"the samples of a pair", "p.hdr", nifti_pair, "p.img"},
    {"the header of a pair", "p.img", nifti_pair, "p.hdr"},
    {"a link of HDF5", "p.h5:/l", hdf5_link, "samples.h5"},
    {"a source of a virtual data set", "p.h5", hdf5_virtual, "first.h5"},
    {"a virtual source", "p.h5", hdf5_virtual, "nested.h5"},
    {"a source of a virtual source", "p.h5", hdf5_virtual, "samples.h5"},
    {"a file of FILE:ARRAY", "samples.h5:/d", hdf5_link, "samples.h5"},
    {"a pattern of MHD", "v%d.mhd 0 1", stack_of_mhd, "samples.raw"},
    {"a pattern's view", "v%d.mhd 0 1", stack_of_mhd, "v1.mhd"},
    {"a folder of MHD", "", stack_of_mhd, "samples.raw"},
};

enum { N_CASES = sizeof cases / sizeof *cases };

static void empty_folder(void)
{
    assert_int_equal(system("rm -rf '" FOLDER "'"), 0);
    assert_int_equal(mkdir(FOLDER, 0777), 0);
}

/* A hash of what scan i is read from. */
static uint64_t hash_of(const struct fbp_scan *scan)
{
    struct fbp_inputs inputs = {0};

    OK(fbp_scan_inputs(&inputs, scan, NULL));
    uint64_t h = 1;
    OK(fbp_inputs_hash(&h, &inputs));
    fbp_inputs_clear(&inputs);
    return h;
}

static void check_outputs(const char *name, const struct fbp_scan *scan, const char *samples)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {1, 1, 1}};
    struct fbp_inputs inputs = {0};
    fbp_sink *sink = NULL;

    OK(fbp_scan_inputs(&inputs, scan, NULL));
    const struct fbp_sink_params params = {.struct_size = sizeof params,
                                           .keep = (const char *const *)inputs.names,
                                           .n_keep = inputs.n};
    const bool opened = fbp_sink_open(&sink, samples, &info, &params) == FBP_OK;
    fbp_sink_close(&sink);
    if (opened)
        fail_msg("%s: %s would be replaced", name, samples);
    if (!strstr(fbp_message(), "this output would"))
        fail_msg("%s: \"%s\"", name, fbp_message());
    fbp_inputs_clear(&inputs);
}

TEST(every_file_is_known)
{
    char projections[600], samples[600];

    for (size_t i = 0; i < N_CASES; i++) {
        struct fbp_scan scan = {.struct_size = sizeof scan, .projections = projections};
        const char *const link = FOLDER "/a_link.png";
        empty_folder();
        cases[i].make();
        snprintf(projections, sizeof projections, FOLDER "/%s", cases[i].projections);
        snprintf(samples, sizeof samples, FOLDER "/%s", cases[i].samples);
        if (!fbp_scan_reads(&scan, samples))
            fail_msg("%s: does not read %s", cases[i].name, samples);
        assert_false(fbp_scan_reads(&scan, FOLDER "/other.png"));
        assert_int_equal(symlink(samples, link), 0);
        assert_true(fbp_scan_reads(&scan, link));
        assert_int_equal(unlink(link), 0);
        if (fbp_has_extension(samples, ".raw .h5"))
            check_outputs(cases[i].name, &scan, samples);

        const uint64_t h = hash_of(&scan);
        const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
        assert_true(h == hash_of(&scan));
        assert_int_equal(utimensat(AT_FDCWD, samples, times, 0), 0);
        if (h == hash_of(&scan))
            fail_msg("%s: a change of %s is not seen", cases[i].name, samples);
    }
    empty_folder();
}

/* Flats, darks, masks and files of geometry count, too. */
TEST(all_of_a_scan)
{
    static char p[] = FOLDER "/p.mhd", dark[] = FOLDER "/v0.mhd", flat[] = FOLDER "/v1.mhd";
    struct fbp_scan scan = {
        .struct_size = sizeof scan, .projections = p, .dark = dark, .flat = flat};

    empty_folder();
    put_mhd("p.mhd", "p.raw");
    stack_of_mhd();
    assert_true(fbp_scan_reads(&scan, FOLDER "/a.raw"));
    assert_true(fbp_scan_reads(&scan, FOLDER "/samples.raw"));
    put_text_file("matrices.txt", "1 0 0 0  0 0 1 0  0 1 0 100\n");
    put_text_file("second.json",
                  "{\"fbp_scan\": 1, \"projections\": \"p.mhd\", \"matrices\": \"matrices.txt\","
                  " \"detector\": {\"pitch_mm\": 1}}");
    put_text_file("first.json", "{\"fbp_scan\": 1, \"projections\": \"p.mhd\","
                                " \"geometry\": \"second.json\"}");
    struct fbp_scan loaded = open_scan(FOLDER "/first.json");
    assert_true(fbp_scan_reads(&loaded, FOLDER "/first.json"));
    assert_true(fbp_scan_reads(&loaded, FOLDER "/second.json"));
    assert_true(fbp_scan_reads(&loaded, FOLDER "/matrices.txt"));
    assert_true(fbp_scan_reads(&loaded, FOLDER "/p.raw"));
    assert_false(fbp_scan_reads(&loaded, FOLDER "/a.raw"));
    fbp_scan_clear(&loaded);
    assert_int_equal(system("rm -rf '" FOLDER "'"), 0);
}

TEST_MAIN(NULL, NULL)
