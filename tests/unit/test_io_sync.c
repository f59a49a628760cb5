/* Checks that writing to the disk starts as soon as slices are written, so that the end of a run
 * waits for little, and that scratch files are not synchronised. */
#include "unit/io_util.h"

#define STEM FBP_TEST_DIR "/io_sync"

#include "array/array.h"

#include <fcntl.h>

enum { SIDE = 512, SLICES = 3, PAGE = 4096 };

static float slice[SIDE * SIDE];
static uint64_t asked; /* bytes */

/* Instead of the C library's. */
int sync_file_range(int fd, off64_t at, off64_t n, unsigned flags)
{
    assert_true(fd >= 0 && at % PAGE == 0 && n % PAGE == 0);
    assert_int_equal(flags, SYNC_FILE_RANGE_WRITE);
    asked += (uint64_t)n;
    return -1; /* nobody minds */
}

static uint64_t begun(const char *path, size_t side, enum fbp_type type, bool compress)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {side, side, SLICES}};
    const struct fbp_sink_params p = {
        .struct_size = sizeof p, .type = type, .range = {0, 1}, .compress = compress};

    fbp_sink *s = create_sink(path, &info, &p);
    asked = 0;
    for (size_t z = 0; z < SLICES; z += 1)
        OK(fbp_sink_write(s, z, 1, FBP_F32, slice));
    const uint64_t before = asked;
    OK(fbp_sink_finish(s));
    assert_int_equal(asked, before);
    fbp_sink_close(&s);
    return asked;
}

/* But for a page at either end of each slice. */
TEST(files_begin)
{
    const uint64_t bytes = sizeof slice;

    uint64_t n = begun(STEM "_sync.mha", SIDE, FBP_F32, false);
    assert_true(n <= SLICES * bytes && n > SLICES * (bytes - 2 * PAGE));
    n = begun(STEM "_sync.mha", SIDE, FBP_U16, false);
    assert_true(n <= SLICES * bytes / 2 && n > SLICES * (bytes / 2 - 2 * PAGE));
    n = begun(STEM "_sync_%02d.tif", SIDE, FBP_F32, false);
    assert_true(n > SLICES * (bytes - 2 * PAGE));
}

TEST(others_do_not)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {SIDE, SIDE, SLICES}};
    const struct fbp_sink_params p = {.struct_size = sizeof p, .type = FBP_U16};
    fbp_sink *s = NULL;

    assert_int_equal(begun(STEM "_sync.mha", SIDE, FBP_F32, true), 0); /* packed at the end */
    assert_int_equal(begun(STEM "_sync.mha", 16, FBP_F32, false), 0);  /* too little */
    assert_int_equal(begun("hash:", SIDE, FBP_F32, false), 0);
    OK(fbp_spool_open(&s, STEM "_sync.mha", &info, &p));
    asked = 0;
    for (size_t z = 0; z < SLICES; z++)
        OK(fbp_sink_write(s, z, 1, FBP_F32, slice));
    assert_int_equal(asked, 0);
    fbp_spool_discard(&s);
}

TEST_MAIN(NULL, NULL)
