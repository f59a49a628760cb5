/* Outputs of several HDF5 files, for the tests of them. */
#ifndef FBP_TESTS_SPLIT_UTIL_H
#define FBP_TESTS_SPLIT_UTIL_H

#include "unit/joint_util.h"

#include <glob.h>

static inline struct output split_into(size_t slices, uint64_t fingerprint)
{
    return (struct output){"v.h5", 0, fingerprint, slices};
}

static inline void begin_empty(void)
{
    begin_folders();
    assert_int_equal(chdir(FOLDER "/got"), 0);
}

/* The only file like that, as the shell has it. */
static inline char *only(const char *pattern)
{
    glob_t found;

    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    if (found.gl_pathc != 1)
        fail_msg("%zu files are like %s", found.gl_pathc, pattern);
    char *path = strdup(found.gl_pathv[0]);
    globfree(&found);
    return path;
}

static inline void assert_files(const char *pattern, size_t wanted)
{
    glob_t found;
    const int st = glob(pattern, 0, NULL, &found);
    const size_t n = st == 0 ? found.gl_pathc : 0;

    if (n != wanted)
        fail_msg("%zu files are like %s, not %zu", n, pattern, wanted);
    if (st == 0)
        globfree(&found);
}

static inline void assert_values(const char *path, const float *wanted, size_t slices)
{
    fbp_source *s = open_source(path, NULL);
    float *got = malloc(slices * SLICE * sizeof *got);

    assert_int_equal(fbp_source_info(s)->n[2], slices);
    if (fbp_source_read(s, 0, slices, 0, NY, got) != FBP_OK)
        fail_msg("%s", fbp_message());
    assert_memory_equal(got, wanted, slices * SLICE * sizeof *got);
    free(got);
    fbp_source_close(&s);
}

/* As one process writes it, all at once. */
static inline fbp_status write_volume(const char *path, const struct fbp_array_info *i,
                                      const struct fbp_sink_params *p)
{
    fbp_sink *s = NULL;
    fbp_status st = fbp_sink_open(&s, path, i, p);

    if (st == FBP_OK)
        st = fbp_sink_write(s, 0, NZ, volume);
    if (st == FBP_OK)
        st = fbp_sink_finish(s);
    fbp_sink_close(&s);
    return st;
}

#endif /* FBP_TESTS_SPLIT_UTIL_H */
