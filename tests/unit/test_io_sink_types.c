/* Checks outputs of 8 and 16 bits in every format and as stacks: values are read back within half
 * a step, no incomplete output is left, and an interrupted run is resumed. */
#include "unit/some_volume.h"
#include "unit/tiff_header.h"

#include "array/array.h"
#include "array/file/format.h"
#include "array/format/tiff.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#define STEM  FBP_TEST_DIR "/io_sink_types"
#define STACK STEM "_stack"

static fbp_status open_sink(fbp_sink **s, const char *path, enum fbp_type type, uint64_t print,
                            bool resume)
{
    const struct fbp_array_info info = some_info();
    const struct fbp_sink_params p = {.struct_size = sizeof p,
                                      .resume = resume,
                                      .fingerprint = print,
                                      .type = type,
                                      .range = {-0.01, 0.008}};
    return fbp_sink_open(s, path, &info, &p);
}

static fbp_sink *sink(const char *path, enum fbp_type type, uint64_t print, bool resume)
{
    fbp_sink *s = NULL;
    OK(open_sink(&s, path, type, print, resume));
    return s;
}

static void clear_folder(void)
{
    assert_int_equal(system("rm -rf " STACK), 0); // NOLINT(cert-env33-c): a constant
}

static size_t visible_files(const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        n += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

/* The values within half a number; those beyond the range at its ends. */
static void assert_holds_volume(const char *path, enum fbp_type type, bool place)
{
    const struct fbp_array_info wanted = some_info();
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    const struct fbp_array_info *i = fbp_source_info(src);
    const double top = type == FBP_U8 ? 255 : 65535, step = 0.018 / top;
    const double offset = type == FBP_I16 ? -0.01 + 32768 * step : -0.01;
    float out[N];
    assert_memory_equal(i->n, wanted.n, sizeof i->n);
    assert_int_equal(i->type, type);
    assert_int_equal(i->row_order, FBP_ROWS_BOTTOM_UP);
    if (type != FBP_F32)
        assert_true(fabs(i->scale - step) < 1e-12 && fabs(i->offset - offset) < 1e-9);
    if (place) {
        assert_true(i->has_spacing);
        assert_memory_equal(i->spacing_mm, wanted.spacing_mm, sizeof i->spacing_mm);
        assert_memory_equal(i->origin_mm, wanted.origin_mm, sizeof i->origin_mm);
        assert_string_equal(i->unit, wanted.unit);
    }
    OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, out));
    for (size_t k = 0; k < N; k++) {
        const double want =
            type == FBP_F32 ? (double)volume[k] : fmin(fmax((double)volume[k], -0.01), 0.008);
        if (!(fabs((double)out[k] - want) <= (type == FBP_F32 ? 0 : step / 2 + 1e-9)))
            fail_msg("%s: %zu: %g instead of %g", path, k, (double)out[k], want);
    }
}

TEST(every_type_and_format)
{
    static const struct {
        const char *path, *read;
        bool no_float, place_of_float;
    } cases[] = {
        {STEM ".mha", STEM ".mha", false, true},
        {STEM ".mhd", STEM ".mhd", false, true},
        {STEM ".npy", STEM ".npy", false, false},
        {STEM ".raw", STEM ".raw", true, false}, /* float32 has no description beside it */
        {STEM ".nrrd", STEM ".nrrd", false, true},
        {STEM ".nhdr", STEM ".nhdr", false, true},
        {STEM ".tif", STEM ".tif", false, true},
        {STEM ".h5", STEM ".h5", false, true},
        {STACK "/s_%03d.tif", STACK, false, true},
        {STACK "/%d.png", STACK "/%d.png 0 5", true, true},
    };
    static const enum fbp_type types[] = {FBP_F32, FBP_U8, FBP_U16, FBP_I16};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t t = 0; t < 4; t++)
            for (uint64_t print = 0; print < 2; print++) {
                if ((cases[i].no_float && types[t] == FBP_F32) ||
                    (types[t] == FBP_I16 && strstr(cases[i].path, ".png")))
                    continue;
                clear_folder();
                fbp_sink *s = sink(cases[i].path, types[t], print, false);
                put(s, 4, 2);
                put(s, 0, 3);
                assert_false(fbp_sink_has(s, 3, 1));
                put(s, 3, 1);
                uint64_t beyond = 0;
                for (size_t k = 0; k < N && types[t] != FBP_F32;
                     k++) /* by more than half a number */
                    beyond +=
                        (double)volume[k] > 0.008 + 0.009 / (types[t] == FBP_U8 ? 255 : 65535);
                assert_int_equal(fbp_sink_clipped(s), beyond);
                assert_true(beyond > 0 || types[t] == FBP_F32);
                finish(&s);
                assert_holds_volume(cases[i].read, types[t],
                                    types[t] != FBP_F32 || cases[i].place_of_float);
                if (strncmp(cases[i].path, STACK, strlen(STACK)) == 0)
                    assert_int_equal(visible_files(STACK), NZ);
            }
    assert_true(is_there(STEM ".npy.json"));
}

static void write_whole(const char *path, enum fbp_type type)
{
    fbp_sink *s = sink(path, type, 0, false);
    put(s, 0, NZ);
    finish(&s);
}

/* A description goes with the array that it is of, and is not believed beside another one. */
TEST(stale_description)
{
    static const struct {
        const char *path, *described;
    } cases[] = {
        {STEM ".npy", STEM ".npy"}, {STEM ".raw", STEM ".raw"}, {STEM ".mhd", STEM ".raw"}};
    char json[600];
    size_t n;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(json, sizeof json, "%s.json", cases[i].described);
        write_whole(cases[i].described, FBP_U16);
        assert_true(is_there(json));
        AUTO_FREE char *text = get_file(json, &n);
        write_whole(cases[i].path, FBP_F32);
        assert_false(is_there(json));
        put_file(json, text, n);
        if (i == 1) /* of which nothing else is known */
            continue;
        CLEANUP(fbp_source_close) fbp_source *src = open_source(cases[i].path, NULL);
        assert_true(fbp_source_info(src)->scale == 0);
    }
    put_file(json, "{\"mine\": 1}", 11); /* somebody else's */
    write_whole(STEM ".mhd", FBP_F32);
    assert_true(is_there(json));
    remove(json);
}

/* Numbers never stand under their name without what they mean: neither of two files is there if
 * the other one cannot be. */
TEST(both_files_or_none)
{
    static const struct {
        const char *path, *second;
    } cases[] = {{STEM "_two.npy", STEM "_two.npy.json"},
                 {STEM "_two.raw", STEM "_two.raw.json"},
                 {STEM "_two.mhd", STEM "_two.raw"},
                 {STEM "_two.nhdr", STEM "_two.raw"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int late = 0; late < 2; late++) {
            fbp_sink *s = NULL;

            AUTO_FREE char *part = printed("%s.part", cases[i].path);
            if (!late)
                assert_int_equal(mkdir(cases[i].second, 0777), 0);
            const fbp_status st = open_sink(&s, cases[i].path, FBP_U16, 7, false);
            assert_int_equal(st, late ? FBP_OK : FBP_ERR_INVALID);
            if (!late)
                assert_says("not a regular file");
            if (late) { /* between opening and finishing */
                put(s, 0, NZ);
                assert_int_equal(mkdir(cases[i].second, 0777), 0);
                assert_int_equal(fbp_sink_finish(s), FBP_ERR_IO);
            }
            fbp_sink_close(&s);
            assert_false(is_there(cases[i].path));
            assert_int_equal(is_there(part), late);
            assert_int_equal(rmdir(cases[i].second), 0);
            if (late) { /* nothing is lost */
                s = sink(cases[i].path, FBP_U16, 7, true);
                assert_true(fbp_sink_has(s, 0, NZ));
                finish(&s);
                assert_holds_volume(cases[i].path, FBP_U16, true);
                remove(cases[i].path);
                remove(cases[i].second);
            }
        }
}

/* One slice whose name is taken: no slice gets its name. */
TEST(all_slices_or_none)
{
    fbp_sink *s = NULL;
    clear_folder();
    assert_int_equal(mkdir(STACK, 0777), 0);
    assert_int_equal(mkdir(STACK "/3.tif", 0777), 0);
    assert_fails(open_sink(&s, STACK "/%d.tif", FBP_F32, 0, false), FBP_ERR_INVALID,
                 "3.tif: exists and is not a regular file");
    assert_int_equal(visible_files(STACK), 1);
    assert_int_equal(rmdir(STACK "/3.tif"), 0);
    s = sink(STACK "/%d.tif", FBP_F32, 0, false);
    put(s, 0, NZ);
    assert_int_equal(mkdir(STACK "/3.tif", 0777), 0);
    assert_int_equal(fbp_sink_finish(s), FBP_ERR_INVALID);
    fbp_sink_close(&s);
    assert_int_equal(visible_files(STACK), 1);
    clear_folder();
}

TEST(not_a_number)
{
    const float odd[6] = {NAN, INFINITY, -INFINITY, -1, 0.5f, 2};
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {6, 1, 1}};
    const struct fbp_sink_params p = {.struct_size = sizeof p, .type = FBP_U8, .range = {0, 1}};
    float out[6];
    fbp_sink *s = create_sink(STEM "_odd.tif", &info, &p);
    OK(fbp_sink_write(s, 0, 1, FBP_F32, odd));
    assert_int_equal(fbp_sink_clipped(s), 5);
    finish(&s);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(STEM "_odd.tif", NULL);
    OK(fbp_source_read(src, 0, 1, 0, 1, FBP_F32, out));
    assert_true(out[0] == 0 && out[1] == 1 && out[2] == 0 && out[3] == 0 && out[5] == 1);
    assert_true(fabsf(out[4] - 0.5f) < 0.003f);
}

/* To even at halves, both ends included, as rint() does. */
TEST(halves_to_even)
{
    static const enum fbp_type types[] = {FBP_U8, FBP_U16, FBP_I16};

    for (int t = 0; t < 3; t++) {
        const int low = t == 2 ? INT16_MIN : 0;
        const int top = t == 2 ? INT16_MAX : t ? UINT16_MAX : UINT8_MAX;
        const struct fbp_array_info info = {.type = types[t], .scale = 1};
        for (int i = 4 * low - 8; i < 4 * (top + 3); i++) {
            const float value = (float)i / 4;
            const float least = nextafterf(value, -INFINITY), most = nextafterf(value, INFINITY);
            const float near[3] = {least, value, most};
            uint16_t wide[3] = {0};
            uint8_t out[3] = {0};
            const uint64_t clipped = fbp_from_float(&info, near, 3, t ? (void *)wide : out);
            uint64_t beyond = 0;
            for (int k = 0; k < 3; k++) {
                const double right = fmin(fmax(rint((double)near[k]), low), top);
                assert_int_equal(t == 2 ? (int16_t)wide[k] : t ? wide[k] : out[k], (int)right);
                beyond += (double)near[k] < low - 0.5 || (double)near[k] > top + 0.5;
            }
            assert_int_equal(clipped, beyond);
        }
    }
}

TEST(refused)
{
    static const struct {
        const char *path;
        enum fbp_type type;
        double lo, hi;
        const char *says;
    } cases[] = {
        {STACK "/%d.png", FBP_F32, 0, 0, "PNG cannot store float32; choose uint8 or uint16"},
        {STEM "_one.png", FBP_U8, 0, 1, "a PNG file holds one slice, but the volume has 6"},
        {STEM ".tif", FBP_U8, 1, 1, "the range 1 to 1 cannot be mapped to uint8"},
        {STEM ".tif", FBP_U16, 0, NAN, "sink: range[1]: found nan"},
        {STEM ".tif", FBP_U16, -1e308, 1e308, ""},
        {STEM ".tif", FBP_I8, 0, 1,
         "int8 is not supported; choose float32, float64, uint16, int16 or uint8"},
        {"hash:", FBP_U8, 0, 1, "omit the output type"},
        {STACK "/no/%d.tif", FBP_F32, 0, 0, "create its parent folders first"},
        {STEM "_plain.xyz", FBP_U8, 0, 1, "that ends in one of"},
    };
    const struct fbp_array_info info = some_info();
    clear_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fbp_sink_params p = {
            .struct_size = sizeof p, .type = cases[i].type, .range = {cases[i].lo, cases[i].hi}};
        fbp_sink *s = NULL;
        assert_int_not_equal(fbp_sink_open(&s, cases[i].path, &info, &p), FBP_OK);
        assert_null(s);
        assert_says(cases[i].says);
    }
    assert_false(is_there(STACK)); /* nothing is left of a refusal */
}

TEST(stack_leaves_nothing)
{
    clear_folder();
    fbp_sink *s = sink(STACK "/%d.tif", FBP_F32, 0, false), *other = NULL;
    put(s, 1, 2);
    assert_int_equal(visible_files(STACK), 3); /* and the lock */
    assert_true(is_there(STACK "/1.tif.part"));
    assert_fails(open_sink(&other, STACK "/%d.tif", FBP_F32, 0, false), FBP_ERR_IO,
                 "another process is writing this output");
    assert_fails(fbp_sink_finish(s), FBP_ERR_INVALID,
                 "4 of 6 slices were never written, the first is 0");
    fbp_sink_close(&s);
    assert_false(is_there(STACK));

    mkdir(STACK, 0777); /* slices of a larger volume, and a number written otherwise */
    put_file(STACK "/6.tif", "x", 1);
    assert_fails(open_sink(&s, STACK "/%d.tif", FBP_F32, 0, false), FBP_ERR_INVALID,
                 "6.tif, which is not one of the 6 slices of this volume");
    remove(STACK "/6.tif");
    put_file(STACK "/02.tif", "x", 1);
    assert_int_equal(open_sink(&s, STACK "/%d.tif", FBP_F32, 0, false), FBP_ERR_INVALID);
    remove(STACK "/02.tif");
    put_file(STACK "/2.tif", "x", 1); /* replaced */
    s = sink(STACK "/%d.tif", FBP_F32, 0, false);
    put(s, 0, NZ);
    finish(&s);
    assert_int_equal(visible_files(STACK), NZ);
    assert_holds_volume(STACK, FBP_F32, true);
}

/* A killed run of more slices leaves them unfinished; the next one of this name removes them, by
 * the journal of this release or the one before.  Without a journal they are somebody else's. */
TEST(stack_of_a_killed_run)
{
    static const char *const left[] = {"/s_0.tif.part", "/s_7.tif.part", "/s_12.tif.part"};
    static const char *const others[] = {"/s_007.tif.part", "/s_x.tif.part", "/t_7.tif.part",
                                         "/s_7.png.part"};

    for (int resume = 0; resume < 2; resume++) {
        clear_folder();
        assert_int_equal(mkdir(STACK, 0777), 0);
        for (size_t i = 0; i < 3; i++) {
            char path[600];
            snprintf(path, sizeof path, STACK "%s", left[i]);
            put_file(path, "x", 1);
        }
        for (size_t i = 0; i < 4; i++) {
            char path[600];
            snprintf(path, sizeof path, STACK "%s", others[i]);
            put_file(path, "x", 1);
        }
        fbp_sink *s = NULL;
        assert_fails(open_sink(&s, STACK "/s_%d.tif", FBP_F32, 5, resume), FBP_ERR_INVALID,
                     "is not a temporary file of fbp (it has no journal)");
        assert_int_equal(visible_files(STACK), 3 + 4);
        char journal[100];
        snprintf(journal, sizeof journal,
                 "fbp-journal %d 0000000000000005 size %d %d 13 header 0\n", 1 + resume, NX, NY);
        put_file(STACK "/s_%d.tif.part.log", journal, strlen(journal));
        s = sink(STACK "/s_%d.tif", FBP_F32, 5, false);
        put(s, 0, NZ);
        finish(&s);
        assert_int_equal(visible_files(STACK), NZ + 4);
        assert_true(is_there(STACK "/s_7.png.part") && is_there(STACK "/s_0.tif"));
    }
    clear_folder();
}

TEST(stack_spares_inputs)
{
    const struct fbp_array_info info = some_info();
    static const struct {
        const char *keep, *output;
        bool refused;
    } cases[] = {{STACK, STACK "/new_%d.tif", true},
                 {STACK "/v%d.tif 0 1", STACK "/new_%d.tif", true},
                 {STACK "/v1.tif", STACK "/v%d.tif", true},
                 {STACK "/v1.tif", STACK "/w%d.tif", false},
                 {STACK, STEM "_elsewhere/%d.tif", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const keep[] = {NULL, cases[i].keep};
        const struct fbp_sink_params p = {.struct_size = sizeof p, .keep = keep, .n_keep = 2};
        fbp_sink *s = NULL;
        clear_folder();
        mkdir(STACK, 0777);
        put_file(STACK "/v0.tif", "x", 1);
        put_file(STACK "/v1.tif", "x", 1);
        const fbp_status st = fbp_sink_open(&s, cases[i].output, &info, &p);
        if (st != (cases[i].refused ? FBP_ERR_INVALID : FBP_OK))
            fail_msg("%s: %s", cases[i].output, fbp_message());
        if (cases[i].refused)
            assert_says("choose another folder");
        fbp_sink_close(&s);
        assert_int_equal(visible_files(STACK), 2);
    }
}

/* Of a single file of numbers, and of stacks: what is there and whole need not be written again. */
TEST(resume_goes_on)
{
    static const struct {
        const char *path, *read;
        enum fbp_type type;
    } cases[] = {{STEM "_resume.tif", STEM "_resume.tif", FBP_U16},
                 {STACK "/%d.tif", STACK, FBP_F32},
                 {STACK "/%d.tif", STACK, FBP_U8},
                 {STACK "/%d.png", STACK, FBP_U16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clear_folder();
        fbp_sink *s = sink(cases[i].path, cases[i].type, 77, false);
        put(s, 4, 1);
        put(s, 0, 2);
        fbp_sink_close(&s);
        assert_int_not_equal(
            open_sink(&s, cases[i].path, cases[i].type == FBP_U8 ? FBP_U16 : FBP_U8, 77, true),
            FBP_OK); /* another type is another run */
        assert_null(s);
        if (i > 0) { /* a damaged slice is made again, one that has its name already is taken */
            const bool png = i == 3;
            put_file(png ? STACK "/1.png.part" : STACK "/1.tif.part", "x", 1);
            assert_int_equal(rename(png ? STACK "/0.png.part" : STACK "/0.tif.part",
                                    png ? STACK "/0.png" : STACK "/0.tif"),
                             0);
        }
        s = sink(cases[i].path, cases[i].type, 77, true);
        for (size_t z = 0; z < NZ; z++)
            assert_int_equal(fbp_sink_has(s, z, 1), z == 0 || z == 4 || (z == 1 && i == 0));
        put(s, 1, 3);
        put(s, 5, 1);
        finish(&s);
        assert_holds_volume(cases[i].read, cases[i].type, true);
        if (i > 0)
            assert_int_equal(visible_files(STACK), NZ);
    }
}

struct writer {
    pthread_t thread;
    fbp_sink *sink;
    size_t first;
};

static void *write_some(void *arg)
{
    const struct writer *w = arg;
    for (size_t z = w->first; z < NZ; z += 3)
        if (fbp_sink_write(w->sink, z, 1, FBP_F32, volume + z * SLICE) != FBP_OK)
            return arg;
    return NULL;
}

TEST(several_threads)
{
    static const char *const paths[] = {STEM "_threads.tif", STACK "/%d.tif", STACK "/%d.png"};
    for (size_t i = 0; i < 3; i++) {
        struct writer w[3];
        clear_folder();
        fbp_sink *s = sink(paths[i], FBP_U16, 5, false);
        for (size_t k = 0; k < 3; k++) {
            w[k] = (struct writer){.sink = s, .first = k};
            assert_int_equal(pthread_create(&w[k].thread, NULL, write_some, &w[k]), 0);
        }
        for (size_t k = 0; k < 3; k++) {
            void *failed;
            pthread_join(w[k].thread, &failed);
            assert_null(failed);
        }
        finish(&s);
        assert_holds_volume(i ? STACK : paths[i], FBP_U16, true);
    }
}

/* Beyond 4 GiB all offsets have 64 bits; the header says where each page lies. */
TEST(big_tiff)
{
    static const struct {
        size_t nz;
        char version;
    } cases[] = {{1, 42}, {1023, 42}, {1024, 43}, {3000, 43}};
    for (size_t i = 0; i < 4; i++) {
        const struct fbp_array_info info = {.struct_size = sizeof info,
                                            .n = {1024, 1024, cases[i].nz},
                                            .type = FBP_F32,
                                            .spacing_mm = {1, 1, 1}};
        struct fbp_layout l = {0};
        OK(fbp_tiff_layout(STEM "_big.tif", &info, 0, &l));
        assert_int_equal(l.header_bytes % 64, 0);
        const size_t header_bytes = l.header_bytes;
        const int fd = open(STEM "_big.tif", O_RDWR | O_CREAT | O_TRUNC, 0666);
        assert_true(fd >= 0);
        put_header(&l, &info, fd, STEM "_big.tif"); /* samples: a hole */
        char head[4] = "";
        assert_int_equal(pread(fd, head, sizeof head, 0), sizeof head);
        assert_int_equal(head[2], cases[i].version);
        close(fd);
        const off_t bytes = (off_t)header_bytes + (off_t)cases[i].nz * (4 << 20);
        if (truncate(STEM "_big.tif", bytes) == 0) {
            CLEANUP(fbp_source_close) fbp_source *src = open_source(STEM "_big.tif", NULL);
            assert_int_equal(fbp_source_info(src)->n[2], cases[i].nz);
            assert_null(src->read); /* one run */
            assert_int_equal(src->offset, header_bytes);
        }
    }
    remove(STEM "_big.tif");
}

TEST_MAIN(fill, NULL)
