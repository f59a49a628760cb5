/* Checks that a stack read by a pattern or as a folder has the values of its files, for every
 * format and layout of samples. */
#include "unit/hdf5_files.h"
#include "unit/mat_out.h"

#include <sys/stat.h>

enum { VIEWS = 10, VIEW = NX * NY };

#define FOLDER FBP_TEST_DIR "/io_stack_formats"

static float sample(size_t view, size_t i)
{
    return (float)(100 * view + i);
}

static const float *view_of(size_t k)
{
    static float v[VIEW];

    for (size_t i = 0; i < VIEW; i++)
        v[i] = sample(k, i);
    return v;
}

static void put_by_sink(const char *path, size_t k, const struct fbp_sink_params *params)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {NX, NY, 1}};
    fbp_sink *s = NULL;

    if (fbp_sink_open(&s, path, &info, params) != FBP_OK ||
        fbp_sink_write(s, 0, 1, FBP_F32, view_of(k)) != FBP_OK || fbp_sink_finish(s) != FBP_OK)
        fail_msg("%s", fbp_message());
    fbp_sink_close(&s);
}

static void put_plain(const char *path, size_t k)
{
    put_by_sink(path, k, NULL);
}

static void put_packed(const char *path, size_t k)
{
    const struct fbp_sink_params params = {.struct_size = sizeof params, .compress = true};
    put_by_sink(path, k, &params);
}

static void put_integers(const char *path, size_t k)
{
    const struct fbp_sink_params params = {
        .struct_size = sizeof params, .type = FBP_U16, .range = {0, 65535}};
    put_by_sink(path, k, &params);
}

/* As one file, cut in two: NIfTI's header and what follows it. */
static void put_pair(const char *path, size_t k)
{
    char nii[600], img[600];
    const float zero = 0;
    size_t n = 0;

    snprintf(nii, sizeof nii, "%s.nii", path);
    snprintf(img, sizeof img, "%.*s.img", (int)strlen(path) - 4, path);
    put_plain(nii, k);
    AUTO_FREE char *whole = get_file(nii, &n);
    memcpy(whole + 108, &zero, sizeof zero);
    memcpy(whole + 344, "ni1", 4);
    put_file(path, whole, 348);
    put_file(img, whole + n - VIEW * sizeof(float), VIEW * sizeof(float));
    remove(nii);
}

static void put_set_of(const char *path, const char *name, size_t k, hid_t how)
{
    const hsize_t n[2] = {NY, NX};
    const hid_t file = new_file(path);
    double v[VIEW];

    for (size_t i = 0; i < VIEW; i++)
        v[i] = (double)sample(k, i);
    put_set(file, name, H5T_IEEE_F32LE, 2, n, how, v);
    H5Fclose(file);
}

static hid_t in_chunks(void)
{
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t n[2] = {2, NX};

    H5Pset_chunk(how, 2, n);
    H5Pset_deflate(how, 1);
    return how;
}

static void put_chunks(const char *path, size_t k)
{
    put_set_of(path, "d", k, in_chunks());
}

static void put_checksums(const char *path, size_t k) /* through the library */
{
    const hid_t how = in_chunks();

    H5Pset_fletcher32(how);
    put_set_of(path, "d", k, how);
}

static void put_link(const char *path, size_t k)
{
    AUTO_FREE char *raw = printed("%s.there", path);
    put_set_of(raw, "d", k, H5P_DEFAULT);
    const hid_t file = new_file(path);
    assert_true(H5Lcreate_external(raw, "/d", file, "/l", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
}

static void put_columns(float *out, size_t k)
{
    for (size_t i = 0; i < VIEW; i++)
        out[i % NX * NY + i / NX] = sample(k, i);
}

static void put_mat(const char *path, size_t k)
{
    static const size_t n[2] = {NY, NX};
    FILE *f = mat_create(path);
    float v[VIEW];

    put_columns(v, k);
    mat_put(f, mat_array("a", FBP_MX_SINGLE, FBP_MI_SINGLE, 2, n, v, NULL), false);
    fclose(f);
}

static void put_mat73(const char *path, size_t k)
{
    const hsize_t n[2] = {NX, NY};
    const hid_t file = new_file(path);
    float columns[VIEW];
    double v[VIEW];

    put_columns(columns, k);
    for (size_t i = 0; i < VIEW; i++)
        v[i] = (double)columns[i];
    put_set(file, "a", H5T_IEEE_F32LE, 2, n, H5P_DEFAULT, v);
    put_text(file, "a", "MATLAB_class", "single");
    H5Fclose(file);
}

static const struct {
    const char *name, *end; /* of a view's file; `member`: of the array inside */
    void (*put)(const char *path, size_t k);
    const char *member;
} cases[] = {
    {"mha", ".mha", put_plain, NULL},
    {"mha, zlib", ".mha", put_packed, NULL},
    {"mhd", ".mhd", put_plain, NULL},
    {"mhd, zlib", ".mhd", put_packed, NULL},
    {"nrrd", ".nrrd", put_plain, NULL},
    {"nrrd, gzip", ".nrrd", put_packed, NULL},
    {"nhdr", ".nhdr", put_plain, NULL},
    {"nhdr, gzip", ".nhdr", put_packed, NULL},
    {"nii", ".nii", put_plain, NULL},
    {"nii.gz", ".nii.gz", put_plain, NULL},
    {"hdr and img", ".hdr", put_pair, NULL},
    {"npy", ".npy", put_plain, NULL},
    {"npy, scaled", ".npy", put_integers, NULL},
    {"raw, scaled", ".raw", put_integers, NULL},
    {"tif", ".tif", put_plain, NULL},
    {"png", ".png", put_integers, NULL},
    {"hdf5", ".h5", put_plain, NULL},
    {"hdf5, named", ".h5", put_plain, ":/volume"},
    {"hdf5, chunks", ".h5", put_chunks, NULL},
    {"hdf5, chunks, named", ".h5", put_chunks, ":/d"},
    {"hdf5, the library", ".h5", put_checksums, NULL},
    {"hdf5, a link", ".h5", put_link, ":/l"},
    {"mat", ".mat", put_mat, NULL},
    {"mat, named", ".mat", put_mat, ":a"},
    {"mat 7.3", ".mat", put_mat73, NULL},
};

static void check_views(const char *name, const char *path)
{
    float out[VIEWS * VIEW];
    CLEANUP(fbp_source_close) fbp_source *src = NULL;

    if (fbp_source_open(&src, path, NULL) != FBP_OK)
        fail_msg("%s: %s", name, fbp_message());
    const struct fbp_array_info *info = fbp_source_info(src);
    if (info->n[0] != NX || info->n[1] != NY || info->n[2] != VIEWS)
        fail_msg("%s: %zu x %zu x %zu", name, info->n[0], info->n[1], info->n[2]);
    for (int again = 0; again < 2; again++) { /* from files that are open still, and that are not */
        memset(out, 0, sizeof out);
        if (fbp_source_read(src, 0, VIEWS, 0, NY, FBP_F32, out) != FBP_OK)
            fail_msg("%s: %s", name, fbp_message());
        for (size_t i = 0; i < VIEWS * VIEW; i++)
            if (!(out[i] == sample(i / VIEW, i % VIEW)))
                fail_msg("%s: view %zu, sample %zu: %g", name, i / VIEW, i % VIEW, (double)out[i]);
    }
    if (fbp_source_read(src, 4, 2, 1, 3, FBP_F32, out) != FBP_OK)
        fail_msg("%s: %s", name, fbp_message());
    for (size_t i = 0; i < 6 * NX; i++)
        if (!(out[i] == sample(4 + i / (3 * NX), NX + i % (3 * NX))))
            fail_msg("%s: rows from 1 on, sample %zu: %g", name, i, (double)out[i]);
}

static void empty_folder(void)
{
    assert_int_equal(system("rm -rf '" FOLDER "'"), 0);
    assert_int_equal(mkdir(FOLDER, 0777), 0);
}

TEST(every_format)
{
    char path[600];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        empty_folder();
        for (size_t k = 0; k < VIEWS; k++) {
            snprintf(path, sizeof path, FOLDER "/v%02zu%s", k, cases[i].end);
            cases[i].put(path, k);
        }
        snprintf(path, sizeof path, FOLDER "/v%%02d%s%s 0 %d", cases[i].end,
                 cases[i].member ? cases[i].member : "", VIEWS - 1);
        check_views(cases[i].name, path);
        if (!cases[i].member && strcmp(cases[i].end, ".raw") != 0)
            check_views(cases[i].name, FOLDER);
    }
    empty_folder();
    assert_int_equal(rmdir(FOLDER), 0);
}

TEST_MAIN(NULL, NULL)
