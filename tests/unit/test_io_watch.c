/* Checks that a file that changes while it is read is an error that names the file, for every
 * format; the growth of a followed file is no error. */
#include "unit/some_volume.h"

#include "array/file/format.h"
#include "fbp/array.h"
#include <fcntl.h>
#include <sys/stat.h>

#define FOLDER FBP_TEST_DIR "/io_watch"

static int make_folder(void **state)
{
    (void)!system("rm -rf " FOLDER);
    return mkdir(FOLDER, 0777);
}

static void write_volume(const char *path, enum fbp_type type, bool compress)
{
    const struct fbp_sink_params p = {.struct_size = sizeof p,
                                      .type = type,
                                      .range = {type ? -1 : 0, type ? 1 : 0},
                                      .compress = compress};
    const struct fbp_array_info info = some_info();

    CLEANUP(fbp_sink_close) fbp_sink *s = create_sink(path, &info, &p);
    OK(fbp_sink_write(s, 0, NZ, FBP_F32, volume));
    OK(fbp_sink_finish(s));
}

/* Ways to change a file. */
enum { GROW, TOUCH, WRITE, REPLACE, REMOVE, WAYS };

static void change(const char *file, int way)
{
    static const struct timespec then[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    char other[700];
    size_t n;

    if (way == GROW) {
        FILE *f = not_null(fopen(file, "a"));
        fputc('x', f);
        fclose(f);
    } else if (way == TOUCH) {
        assert_int_equal(utimensat(AT_FDCWD, file, then, 0), 0);
    } else if (way == WRITE) { /* some file systems count time in hundredths of a second */
        usleep(20000);
        const int fd = open(file, O_WRONLY);
        assert_true(fd >= 0);
        assert_int_equal(pwrite(fd, "x", 1, 0), 1);
        close(fd);
    } else if (way == REPLACE) {
        AUTO_FREE char *all = get_file(file, &n);
        snprintf(other, sizeof other, "%s.new", file);
        put_file(other, all, n);
        assert_int_equal(rename(other, file), 0);
    } else {
        assert_int_equal(unlink(file), 0);
    }
}

static const struct {
    const char *output, *input, *samples; /* as written, as read, the file to change */
    enum fbp_type type;
    bool compress;
} cases[] = {
    {"v.mha", "v.mha", "v.mha", FBP_TYPE_NONE, false},
    {"v.mha", "v.mha", "v.mha", FBP_TYPE_NONE, true},
    {"v.mhd", "v.mhd", "v.raw", FBP_TYPE_NONE, false},
    {"v.mhd", "v.mhd", "v.zraw", FBP_TYPE_NONE, true},
    {"v.nhdr", "v.nhdr", "v.raw", FBP_TYPE_NONE, false},
    {"v.nhdr", "v.nhdr", "v.raw.gz", FBP_TYPE_NONE, true},
    {"v.nrrd", "v.nrrd", "v.nrrd", FBP_TYPE_NONE, false},
    {"v.npy", "v.npy", "v.npy", FBP_TYPE_NONE, false},
    {"v.nii", "v.nii", "v.nii", FBP_TYPE_NONE, false},
    {"v.nii.gz", "v.nii.gz", "v.nii.gz", FBP_TYPE_NONE, false},
    {"v.h5", "v.h5", "v.h5", FBP_TYPE_NONE, false},
    {"v.h5:/a/b", "v.h5:/a/b", "v.h5", FBP_TYPE_NONE, false},
    {"v.tif", "v.tif", "v.tif", FBP_TYPE_NONE, false},
    {"v.raw", "v.raw", "v.raw", FBP_U16, false},
    {"s%d.tif", "s%d.tif 0 5", "s3.tif", FBP_TYPE_NONE, false},
    {"s%02d.png", "s%02d.png 0 5", "s00.png", FBP_U8, false},
    {"s%02d.png", "", "s05.png", FBP_U16, false}, /* the folder */
};

TEST_WITH(every_format, make_folder, NULL)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int way = 0; way < WAYS; way++) {
            static float out[N];
            char output[600], input[600], samples[600];
            CLEANUP(fbp_source_close) fbp_source *s = NULL;
            make_folder(NULL);
            snprintf(output, sizeof output, FOLDER "/%s", cases[i].output);
            snprintf(input, sizeof input, FOLDER "/%s", cases[i].input);
            snprintf(samples, sizeof samples, FOLDER "/%s", cases[i].samples);
            write_volume(output, cases[i].type, cases[i].compress);
            OK(fbp_source_open(&s, input, NULL));
            OK(fbp_source_read(s, 0, NZ, 0, NY, FBP_F32, out));
            OK(fbp_source_unchanged(s));
            change(samples, way);
            if (fbp_source_unchanged(s) != FBP_ERR_IO)
                fail_msg("%s: way %d was not seen", input, way);
            assert_says(samples);
            assert_says("while it was read");
        }
}

TEST_MAIN(fill, NULL)
