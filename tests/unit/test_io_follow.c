/* Checks sources that are still being written (--follow): present data are read, missing data are
 * waited for, and a file that cannot become complete is an error. */
#include "unit/io_util.h"

#include "array/file/format.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

enum { NX = 6, NY = 4, N_VIEWS = 10, VIEW = NX * NY };

#define FILE_RAW  FBP_TEST_DIR "/io_follow.raw"
#define FILE_MHA  FBP_TEST_DIR "/io_follow.mha"
#define FILE_MHD  FBP_TEST_DIR "/io_follow.mhd"
#define FILE_NHDR FBP_TEST_DIR "/io_follow.nhdr"
#define FILE_NRRD FBP_TEST_DIR "/io_follow.nrrd"
#define FILE_NPY  FBP_TEST_DIR "/io_follow.npy"
#define OTHER     FBP_TEST_DIR "/io_follow.other"
#define PATTERN   FBP_TEST_DIR "/io_follow_%d.raw 0 9"

static const struct fbp_raw raw = {FBP_F32, {NX, NY, N_VIEWS}, false, 0};
static const char mha[] = "NDims = 3\nDimSize = 6 4 10\nElementType = MET_FLOAT\n"
                          "ElementDataFile = LOCAL\n";
static float views[N_VIEWS * VIEW];

static fbp_source *follow(const char *path, const struct fbp_raw *r, double timeout_s)
{
    fbp_source *src = NULL;
    OK(fbp_source_follow(&src, path, r, timeout_s));
    assert_true(fbp_source_grows(src));
    return src;
}

static void append(const char *path, const void *data, size_t n)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, n), n);
    close(fd);
}

static void pause_ms(long ms)
{
    const struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

/* Half a view at a time, so that views are seen incomplete. */
static void *write_slowly(void *path)
{
    for (size_t i = 0; i < 2 * N_VIEWS; i++) {
        pause_ms(3);
        append(path, views + i * VIEW / 2, sizeof(float) * VIEW / 2);
    }
    return NULL;
}

static void check_all(fbp_source *src)
{
    float out[N_VIEWS * VIEW] = {0};
    for (size_t k = 0; k < N_VIEWS; k++)
        OK(fbp_source_read(src, k, 1, 1, NY - 1, FBP_F32, out + k * VIEW + NX));
    for (size_t i = 0; i < N_VIEWS * VIEW; i++)
        assert_true(out[i] == (i % VIEW < NX ? 0 : views[i]));
    assert_true(fbp_source_complete_at(src) > 0);
    OK(fbp_source_unchanged(src));
    fbp_source_close(&src);
}

static void check_growing(const char *path, const struct fbp_raw *r)
{
    pthread_t writer;
    fbp_source *src = follow(path, r, 10);
    assert_true(fbp_source_complete_at(src) <= 0);
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, (void *)(uintptr_t)path), 0);
    check_all(src);
    pthread_join(writer, NULL);
    check_all(follow(path, r, 10)); /* one that is complete */
}

TEST(waits_for_views)
{
    char npy[128] = "\x93NUMPY\x01\x00\x76\x00";
    remove(FILE_RAW); /* it comes later */
    check_growing(FILE_RAW, &raw);
    put_file(FILE_RAW, "", 0);
    check_growing(FILE_RAW, &raw);
    put_file(FILE_MHA, mha, sizeof mha - 1);
    check_growing(FILE_MHA, NULL);
    memset(npy + 10, ' ', sizeof npy - 10);
    const char dict[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (10, 4, 6), }";
    memcpy(npy + 10, dict, sizeof dict - 1);
    npy[127] = '\n';
    put_file(FILE_NPY, npy, sizeof npy);
    check_growing(FILE_NPY, NULL);
}

/* Header and samples in two files. */
TEST(waits_for_samples_beside_a_header)
{
    pthread_t writer;
    put_file(FILE_MHD,
             "NDims = 3\nDimSize = 6 4 10\nElementType = MET_FLOAT\n"
             "ElementDataFile = io_follow.raw\n",
             83);
    put_file(FILE_RAW, "", 0);
    fbp_source *src = follow(FILE_MHD, NULL, 10);
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, (void *)(uintptr_t)FILE_RAW), 0);
    check_all(src);
    pthread_join(writer, NULL);
}

TEST(waits_for_samples_beside_an_nrrd_header)
{
    static const char header[] = "NRRD0004\ntype: float\ndimension: 3\nsizes: 6 4 10\n"
                                 "endian: little\nencoding: raw\ndata file: io_follow.raw\n";
    pthread_t writer;
    put_file(FILE_NHDR, header, sizeof header - 1);
    put_file(FILE_RAW, "", 0);
    fbp_source *src = follow(FILE_NHDR, NULL, 10);
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, (void *)(uintptr_t)FILE_RAW), 0);
    check_all(src);
    pthread_join(writer, NULL);
}

static void name_view(char *out, size_t n, size_t k)
{
    snprintf(out, n, FBP_TEST_DIR "/io_follow_%zu.raw", k);
}

static void remove_views(void)
{
    char name[sizeof FBP_TEST_DIR + 40];
    for (size_t k = 0; k < N_VIEWS; k++) {
        name_view(name, sizeof name, k);
        remove(name);
    }
}

/* Renamed when complete, or written in two parts under its name; out of order, too. */
static void *write_files(void *user)
{
    static const size_t order[N_VIEWS] = {0, 1, 3, 2, 4, 5, 8, 7, 6, 9};
    char name[sizeof FBP_TEST_DIR + 40];
    for (size_t i = 0; i < N_VIEWS; i++) {
        const size_t k = order[i];
        const char *v = (const char *)(views + k * VIEW);
        const size_t n = sizeof(float) * VIEW;
        name_view(name, sizeof name, k);
        pause_ms(3);
        if (i % 2) {
            put_file(OTHER, v, n);
            rename(OTHER, name);
        } else {
            append(name, v, n / 2);
            pause_ms(3);
            append(name, v + n / 2, n - n / 2);
        }
    }
    return NULL;
}

TEST(waits_for_files)
{
    pthread_t writer;
    remove_views();
    fbp_source *src = follow(PATTERN, &raw, 10);
    assert_int_equal(pthread_create(&writer, NULL, write_files, NULL), 0);
    check_all(src);
    pthread_join(writer, NULL);

    /* One of them is replaced after it was read. */
    char name[sizeof FBP_TEST_DIR + 40];
    src = follow(PATTERN, &raw, 10);
    OK(fbp_source_await(src, N_VIEWS, NULL, NULL, NULL));
    name_view(name, sizeof name, 4);
    put_file(OTHER, views, sizeof(float) * VIEW);
    rename(OTHER, name);
    assert_fails(fbp_source_unchanged(src), FBP_ERR_IO, "the file of view 4 was changed");
    fbp_source_close(&src);

    append(name, "too much", 8);
    src = follow(PATTERN, &raw, 10);
    assert_fails(fbp_source_await(src, N_VIEWS, NULL, NULL, NULL), FBP_ERR_INVALID,
                 "the file of view 4 has 104 bytes, but \"raw\" describes 96");
    fbp_source_close(&src);
    remove_views();
}

/* How many views were there, and what the next one lacks. */
TEST(gives_up)
{
    float out[VIEW];
    size_t n_there;
    put_file(FILE_RAW, views, sizeof(float) * (3 * VIEW + 1));
    fbp_source *src = follow(FILE_RAW, &raw, 0.05);
    OK(fbp_source_await(src, 2, NULL, NULL, &n_there));
    assert_int_equal(n_there, 3);
    assert_fails(fbp_source_read(src, 3, 1, 0, NY, FBP_F32, out), FBP_ERR_IO,
                 "no new view for 0.05 s; 3 of 10 views have arrived");
    assert_says("--follow-timeout");
    OK(fbp_source_read(src, 2, 1, 0, NY, FBP_F32, out));
    fbp_source_close(&src);

    char name[sizeof FBP_TEST_DIR + 40];
    name_view(name, sizeof name, 0);
    put_file(name, views, sizeof(float) * VIEW);
    name_view(name, sizeof name, 1);
    put_file(name, views, 20);
    src = follow(PATTERN, &raw, 0.05);
    assert_fails(fbp_source_read(src, 1, 1, 0, NY, FBP_F32, out), FBP_ERR_IO,
                 "1 of 10 views have arrived; the file of view 1 has 20 of 96 bytes");
    fbp_source_close(&src);
    remove_views();
    src = follow(PATTERN, &raw, 0.05);
    assert_fails(fbp_source_read(src, 0, 1, 0, NY, FBP_F32, out), FBP_ERR_IO,
                 "0 of 10 views have arrived; the file of view 0: No such file");
    fbp_source_close(&src);
}

static int stop_at_third(void *user, size_t n_there)
{
    int *calls = user;
    assert_int_equal(n_there, 0);
    return ++*calls == 3;
}

TEST(can_be_interrupted)
{
    int calls = 0;
    remove(FILE_RAW);
    CLEANUP(fbp_source_close) fbp_source *src = follow(FILE_RAW, &raw, 0);
    assert_int_equal(fbp_source_await(src, 1, stop_at_third, &calls, NULL), FBP_ERR_CANCELLED);
    assert_int_equal(calls, 3);
}

/* Something is done to a file of three views while the fourth is awaited. */
static void check_fault(void (*fault)(void), const char *message)
{
    float out[VIEW];
    put_array(FILE_MHA, mha, views, sizeof(float) * 3 * VIEW);
    CLEANUP(fbp_source_close) fbp_source *src = follow(FILE_MHA, NULL, 10);
    OK(fbp_source_read(src, 2, 1, 0, NY, FBP_F32, out));
    fault();
    assert_fails(fbp_source_read(src, 9, 1, 0, NY, FBP_F32, out), FBP_ERR_IO, message);
}

static void shrink(void)
{
    assert_int_equal(truncate(FILE_MHA, sizeof mha + 10), 0);
}

static void take_away(void)
{
    remove(FILE_MHA);
}

static void replace(void)
{
    put_array(OTHER, mha, views, sizeof views);
    rename(OTHER, FILE_MHA);
}

static void change_header(void)
{
    const int fd = open(FILE_MHA, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "NDims = 3\nDimSize = 6 4 09", 26, 0), 26);
    close(fd);
    append(FILE_MHA, views + 3 * VIEW, sizeof(float) * VIEW * (N_VIEWS - 3));
}

/* A header of any format, if the samples stand behind it in one file; what stands before headerless
 * samples belongs to the scanner. */
TEST(headers_are_those_that_were_read)
{
    static const char nrrd[] = "NRRD0004\ntype: float\ndimension: 3\nsizes: 6 4 10\n"
                               "encoding: raw\nendian: little\n\n";
    const struct fbp_raw behind = {FBP_F32, {NX, NY, N_VIEWS}, false, sizeof nrrd - 1};
    float out[VIEW];

    for (int headerless = 0; headerless < 2; headerless++) {
        const char *path = headerless ? FILE_RAW : FILE_NRRD;
        put_file(path, headerless ? nrrd + 1 : nrrd, sizeof nrrd - 1);
        append(path, views, sizeof(float) * 3 * VIEW);
        CLEANUP(fbp_source_close) fbp_source *src = follow(path, headerless ? &behind : NULL, 10);
        OK(fbp_source_read(src, 2, 1, 0, NY, FBP_F32, out));
        const int fd = open(path, O_WRONLY);
        assert_int_equal(pwrite(fd, "x", 1, sizeof nrrd - 3), 1);
        close(fd);
        append(path, views + 3 * VIEW, sizeof(float) * VIEW * (N_VIEWS - 3));
        assert_int_equal(fbp_source_read(src, 9, 1, 0, NY, FBP_F32, out),
                         headerless ? FBP_OK : FBP_ERR_IO);
        if (!headerless)
            assert_says("was given a different header");
    }
}

TEST(notices_faults)
{
    check_fault(shrink, "shrank");
    check_fault(take_away, "was removed while --follow was reading it");
    check_fault(replace, "was replaced by another file");
    check_fault(change_header, "was given a different header");
}

/* Views of a few megabytes, as holes are whole blocks. */
TEST(notices_files_enlarged_first)
{
    const struct fbp_raw large = {FBP_F32, {512, 1024, 3}, false, 0};
    float out[512];
    put_file(FILE_RAW, views, sizeof views);
    assert_int_equal(truncate(FILE_RAW, 3L * 512 * 1024 * 4), 0);
    fbp_source *src = follow(FILE_RAW, &large, 10);
    struct stat file;
    assert_int_equal(stat(FILE_RAW, &file), 0);
    if (file.st_blocks * 512 < file.st_size) { /* this file system has holes */
        assert_fails(fbp_source_read(src, 0, 1, 0, 1, FBP_F32, out), FBP_ERR_IO,
                     "its last view is missing");
    }
    fbp_source_close(&src);
    put_file(FILE_RAW, views, sizeof views);
    append(FILE_RAW, views, 4);
    assert_int_equal(fbp_source_follow(&src, FILE_RAW, &raw, 1), FBP_ERR_INVALID);
    put_file(FILE_RAW, views, 40);
    src = follow(FILE_RAW, &raw, 10);
    append(FILE_RAW, views, sizeof views);
    assert_fails(fbp_source_read(src, 9, 1, 0, 1, FBP_F32, out), FBP_ERR_INVALID,
                 "grew to 1000 bytes, but \"raw\" in the scan file describes 960");
    fbp_source_close(&src);
}

TEST(refuses)
{
    fbp_source *src = NULL;
    put_array(FILE_MHA,
              "NDims = 3\nDimSize = 6 4 10\nCompressedData = True\nElementType = MET_FLOAT\n"
              "ElementDataFile = LOCAL\n",
              "", 0);
    assert_fails(fbp_source_follow(&src, FILE_MHA, NULL, 1), FBP_ERR_UNSUPPORTED,
                 "--follow cannot read compressed samples");
    assert_null(src);
    put_array(FILE_MHA,
              "NDims = 3\nDimSize = 6 4 10\nHeaderSize = -1\nElementType = MET_FLOAT\n"
              "ElementDataFile = LOCAL\n",
              "", 0);
    assert_fails(fbp_source_follow(&src, FILE_MHA, NULL, 1), FBP_ERR_UNSUPPORTED,
                 "HeaderSize = -1");
    remove(FILE_MHA);
    assert_fails(fbp_source_follow(&src, FILE_MHA, NULL, 1), FBP_ERR_IO, "cannot open");
}

static int clean(void **state)
{
    remove(FILE_RAW);
    remove(FILE_MHA);
    remove(FILE_MHD);
    remove(FILE_NHDR);
    remove(FILE_NPY);
    remove(OTHER);
    return 0;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < N_VIEWS * VIEW; i++)
        views[i] = (float)i + 1;
    return run_file_tests(argc, argv, NULL, clean);
}
