/* Outputs that several processes write, for the tests of them: processes are played by sinks of one
 * process, and by children that end without a word. */
#ifndef FBP_TESTS_JOINT_UTIL_H
#define FBP_TESTS_JOINT_UTIL_H

#include "unit/io_util.h"

#include "array/shared_output.h"

#include <sys/stat.h>
#include <sys/wait.h>

#define FOLDER FBP_TEST_DIR "/joint"

/* A slice is no whole number of pages. */
enum { NX = 37, NY = 41, NZ = 20, SLICE = NX * NY, PARTS = 4 };

static float volume[NZ * SLICE];

static inline int begin(void **state)
{
    for (size_t i = 0; i < NZ * SLICE; i++)
        volume[i] = 0.5f + 0.5f * sinf((float)i);
    (void)!system("rm -rf " FOLDER);
    setenv("FBP_CHUNK", "6", 1); /* of OME-Zarr: parts share layers of chunks of two levels */
    return mkdir(FOLDER, 0777);
}

static inline struct fbp_array_info info(void)
{
    return (struct fbp_array_info){.struct_size = sizeof(struct fbp_array_info),
                                   .n = {NX, NY, NZ},
                                   .has_spacing = true,
                                   .spacing_mm = {1, 1, 1},
                                   .unit = "1/mm"};
}

/* Does slice z belong to part p of n? */
static inline bool is_of(size_t z, size_t p, size_t n)
{
    return z * n / NZ == p - 1;
}

struct output {
    const char *name;
    enum fbp_type type;
    uint64_t fingerprint;
};

static inline struct fbp_sink_params params_of(const struct output *o)
{
    struct fbp_sink_params p = {.struct_size = sizeof p,
                                .type = o->type,
                                .compress = strcmp(o->name, "v.zarr") == 0,
                                .fingerprint = o->fingerprint ? o->fingerprint : 7};

    p.range[1] = o->type == FBP_U8 || o->type == FBP_U16 ? 1 : 0;
    return p;
}

static inline fbp_status try_join(fbp_sink **out, const struct output *o, size_t p, size_t n)
{
    const struct fbp_array_info i = info();
    const struct fbp_sink_params params = params_of(o);
    unsigned char mine[NZ];

    for (size_t z = 0; z < NZ; z++)
        mine[z] = is_of(z, p, n);
    return fbp_sink_open_shared(out, o->name, &i, &params,
                                &(struct fbp_sink_share){.part = p, .n_parts = n, .mine = mine});
}

static inline fbp_sink *join(const struct output *o, size_t p, size_t n)
{
    fbp_sink *s = NULL;

    if (try_join(&s, o, p, n) != FBP_OK)
        fail_msg("part %zu of %zu: %s", p, n, fbp_message());
    return s;
}

/* Up to `most` slices of a part that are not there; returns how many. */
static inline size_t write_some(fbp_sink *s, size_t p, size_t n, size_t most)
{
    size_t done = 0;

    for (size_t z = 0; z < NZ && done < most; z++)
        if (is_of(z, p, n) && !fbp_sink_has(s, z, 1)) {
            OK(fbp_sink_write(s, z, 1, FBP_F32, volume + z * SLICE));
            done++;
        }
    return done;
}

static inline size_t do_part(const struct output *o, size_t p, size_t n)
{
    fbp_sink *s = join(o, p, n);

    write_some(s, p, n, NZ);
    if (fbp_sink_finish(s) != FBP_OK)
        fail_msg("part %zu of %zu: %s", p, n, fbp_message());
    const size_t missing = fbp_sink_missing(s);
    fbp_sink_close(&s);
    return missing;
}

/* As one process writes it. */
static inline void write_alone(const struct output *o)
{
    const struct fbp_array_info i = info();
    const struct fbp_sink_params params = params_of(o);

    fbp_sink *s = create_sink(o->name, &i, &params);
    OK(fbp_sink_write(s, 0, NZ, FBP_F32, volume));
    if (fbp_sink_finish(s) != FBP_OK)
        fail_msg("alone: %s", fbp_message());
    fbp_sink_close(&s);
}

/* A child that joins, writes some slices and is gone. */
static inline void die(const struct output *o, size_t p, size_t n, size_t slices)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        write_some(join(o, p, n), p, n, slices);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static inline int shell(const char *fmt, const char *a, const char *b)
{
    char line[1000];

    snprintf(line, sizeof line, fmt, a, b);
    return system(line);
}

/* Both are empty. */
static inline void begin_folders(void)
{
    assert_int_equal(chdir(FOLDER), 0);
    assert_int_equal(system("rm -rf got alone && mkdir got alone"), 0);
    assert_int_equal(chdir("alone"), 0);
}

/* The folders hold the same files with the same bytes: nothing else was left. */
static inline void assert_same_folders(void)
{
    if (system("diff -r " FOLDER "/alone " FOLDER "/got") != 0)
        fail_msg("the folders differ");
}

static inline void begin_output(const struct output *o)
{
    begin_folders();
    write_alone(o);
    assert_int_equal(chdir(FOLDER "/got"), 0);
}

static const struct output outputs[] = {
    {"v.mha", 0, 0},          {"v.mhd", 0, 0},
    {"v.nrrd", 0, 0},         {"v.nhdr", 0, 0},
    {"v.nii", 0, 0},          {"v.h5", 0, 0},
    {"v.mat", 0, 0},          {"v.npy", 0, 0},
    {"v.raw", 0, 0},          {"v.tif", 0, 0},
    {"v.mha", FBP_U8, 0},     {"v.raw", FBP_U16, 0},
    {"v.mha", FBP_F64, 0},    {"s/%03d.tif", 0, 0},
    {"s/%d.tif", FBP_U16, 0}, {"s/%02d.png", FBP_U8, 0},
    {"v.ome.zarr", 0, 0},     {"v.zarr", FBP_U16, 0},
    {"v.hdf5", FBP_F64, 0},   {"v%b.h5:/a/b", FBP_U8, 0},
};

#endif /* FBP_TESTS_JOINT_UTIL_H */
