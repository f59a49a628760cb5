/* Checks OME-Zarr: every byte lies where Zarr requires it, levels and coordinates, compression,
 * completion after a kill, refusals, and arrays of other programs. */
#include "unit/io_util.h"

#include "array/array.h"
#include "array/file/format.h"
#include "array/names.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <zlib.h>

#define FOLDER FBP_TEST_DIR "/io_zarr"

/* No axis is a whole number of chunks; two levels. */
enum {
    NX = 37,
    NY = 22,
    NZ = 41,
    SLICE = NX * NY,
    N = SLICE * NZ,
    EDGE = 8,
    CHUNK = EDGE * EDGE * EDGE
};

/* What a disk is said to have left, in place of the C library's. */
static uint64_t room = (uint64_t)1 << 50;

int fstatvfs(int fd, struct statvfs *out)
{
    *out = (struct statvfs){.f_frsize = 1, .f_blocks = 1, .f_bavail = room};
    return 0;
}

static const size_t sizes[2][3] = {{NX, NY, NZ}, {19, 11, 21}};
static float volume[N];

static const struct fbp_array_info info = {.struct_size = sizeof info,
                                           .n = {NX, NY, NZ},
                                           .has_spacing = true,
                                           .spacing_mm = {1, 2, 4},
                                           .origin_mm = {10, 20, 30},
                                           .unit = "1/mm"};

static int begin(void **state)
{
    for (size_t i = 0; i < N; i++)
        volume[i] = i % 97 == 5 ? NAN : 0.5f + 0.5f * sinf((float)i);
    (void)!system("rm -rf " FOLDER);
    setenv("FBP_CHUNK", "8", 1);
    return mkdir(FOLDER, 0777) == 0 && chdir(FOLDER) == 0 ? 0 : -1;
}

static struct fbp_sink_params params_of(enum fbp_type type, bool compress)
{
    struct fbp_sink_params p = {
        .struct_size = sizeof p, .type = type, .compress = compress, .fingerprint = 7};

    p.range[1] = type == FBP_U8 || type == FBP_U16 || type == FBP_I16;
    return p;
}

static fbp_sink *open_sink(const char *path, const struct fbp_sink_params *params)
{
    return create_sink(path, &info, params);
}

static void write_slice(fbp_sink *s, size_t z)
{
    if (!fbp_sink_has(s, z, 1))
        OK(fbp_sink_write(s, z, 1, FBP_F32, volume + z * SLICE));
}

static void finish(fbp_sink *s)
{
    OK(fbp_sink_finish(s));
    fbp_sink_close(&s);
}

static void write_all(const char *path, enum fbp_type type, bool compress)
{
    const struct fbp_sink_params params = params_of(type, compress);
    fbp_sink *s = open_sink(path, &params);

    OK(fbp_sink_write(s, 0, NZ, FBP_F32, volume));
    finish(s);
}

static void put_text(const char *path, const char *text)
{
    put_file(path, text, strlen(text));
}

static void assert_text(const char *path, const char *what)
{
    size_t n;
    AUTO_FREE char *text = get_file(path, &n);

    if (!strstr(text, what))
        fail_msg("%s does not say %s: %s", path, what, text);
}

/* A sample of a level, out of its file: as the specification says, and nothing of fbp's. */
static void get_sample(const char *path, int level, const size_t at[3], size_t size, void *out)
{
    size_t n;

    AUTO_FREE char *name =
        printed("%s/%d/%zu/%zu/%zu", path, level, at[2] / EDGE, at[1] / EDGE, at[0] / EDGE);
    AUTO_FREE char *chunk = get_file(name, &n);
    assert_int_equal(n, CHUNK * size);
    memcpy(out, chunk + ((at[2] % EDGE * EDGE + at[1] % EDGE) * EDGE + at[0] % EDGE) * size, size);
}

/* Samples of all chunks of a level, with those beyond its end; free() it. */
static unsigned char *get_level(const char *path, int level, size_t size, size_t n[3])
{
    unsigned char *all;

    for (int i = 0; i < 3; i++)
        n[i] = (sizes[level][i] + EDGE - 1) / EDGE * EDGE;
    all = calloc(n[0] * n[1] * n[2], size);
    for (size_t k = 0; k < n[0] * n[1] * n[2] / CHUNK; k++) {
        const size_t kx = k % (n[0] / EDGE), ky = k / (n[0] / EDGE) % (n[1] / EDGE),
                     kz = k / (n[0] / EDGE) / (n[1] / EDGE);
        size_t bytes;
        AUTO_FREE char *name = printed("%s/%d/%zu/%zu/%zu", path, level, kz, ky, kx);
        AUTO_FREE char *chunk = get_file(name, &bytes);
        assert_int_equal(bytes, CHUNK * size);
        for (size_t i = 0; i < EDGE * EDGE; i++)
            memcpy(all +
                       (((kz * EDGE + i / EDGE) * n[1] + ky * EDGE + i % EDGE) * n[0] + kx * EDGE) *
                           size,
                   chunk + i * EDGE * size, EDGE * size);
    }
    return all;
}

TEST(every_sample_is_at_its_place)
{
    size_t n[3];
    float one;

    write_all("v.ome.zarr", FBP_F32, false);
    AUTO_FREE float *all = (float *)(void *)get_level("v.ome.zarr", 0, sizeof *all, n);
    for (size_t z = 0; z < n[2]; z++)
        for (size_t y = 0; y < n[1]; y++)
            for (size_t x = 0; x < n[0]; x++) {
                const bool inside = x < NX && y < NY && z < NZ;
                const float wanted = inside ? volume[(z * NY + y) * NX + x] : 0;
                assert_memory_equal(&all[(z * n[1] + y) * n[0] + x], &wanted, sizeof wanted);
            }
    get_sample("v.ome.zarr", 0, (const size_t[]){36, 21, 40}, sizeof one, &one);
    assert_memory_equal(&one, &volume[N - 1], sizeof one);
    assert_false(is_there("v.ome.zarr.part") || is_there("v.ome.zarr.part.log") ||
                 is_there("v.ome.zarr/2") || is_there("v.ome.zarr/0/6"));
}

TEST(the_text_files_say_what_it_is)
{
    static const char *const of_array[] = {
        "\"zarr_format\": 2", "\"shape\": [41, 22, 37]", "\"chunks\": [8, 8, 8]",
        "\"dtype\": \"<f4\"", "\"order\": \"C\"",        "\"compressor\": null",
        "\"filters\": null",  "\"fill_value\": 0",       "\"dimension_separator\": \"/\""};
    static const char *const of_image[] = {
        "\"version\": \"0.4\"", "{\"name\": \"z\", \"type\": \"space\", \"unit\": \"millimeter\"}",
        "\"path\": \"0\"", "\"scale\": [4, 2, 1]", "\"translation\": [30, 20, 10]",
        /* the mean of voxels 0 and 1 is half a voxel on */
        "\"path\": \"1\"", "\"scale\": [8, 4, 2]", "\"translation\": [32, 21, 10.5]"};

    write_all("v.ome.zarr", FBP_F32, false);
    assert_text("v.ome.zarr/.zgroup", "\"zarr_format\": 2");
    for (size_t i = 0; i < sizeof of_array / sizeof *of_array; i++)
        assert_text("v.ome.zarr/0/.zarray", of_array[i]);
    for (size_t i = 0; i < sizeof of_image / sizeof *of_image; i++)
        assert_text("v.ome.zarr/.zattrs", of_image[i]);
    assert_text("v.ome.zarr/0/.zattrs", "\"units\": \"1/mm\"");
    assert_text("v.ome.zarr/1/.zarray", "\"shape\": [21, 11, 19]");
    write_all("u.zarr", FBP_U8, true);
    assert_text("u.zarr/1/.zarray", "\"dtype\": \"|u1\"");
    assert_text("u.zarr/1/.zarray", "\"compressor\": {\"id\": \"zlib\", \"level\": 1}");
    assert_text("u.zarr/1/.zattrs", "\"scale_factor\": 0.00392156862745098");
}

/* What C's quotes and JSON's mean something in is a unit like others. */
TEST(a_unit_may_be_any_text)
{
    static const char *const units[] = {"\"a\\b\"", "tab\tx\n/", "\xc2\xb5m\xc2\xb2", "\x01", "%s"};
    const struct fbp_sink_params params = params_of(FBP_F32, false);

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct fbp_array_info odd = info;
        fbp_sink *s = NULL;
        snprintf(odd.unit, sizeof odd.unit, "%s", units[i]);
        OK(fbp_sink_open(&s, "unit.zarr", &odd, &params));
        OK(fbp_sink_write(s, 0, NZ, FBP_F32, volume));
        finish(s);
        CLEANUP(fbp_source_close) fbp_source *src = open_source("unit.zarr", NULL);
        assert_string_equal(fbp_source_info(src)->unit, units[i]);
    }
    assert_text("unit.zarr/0/.zattrs", "\"units\": \"%s\"");
}

/* A series has an axis more, which such a volume has not. */
TEST(a_series_is_refused)
{
    const struct fbp_sink_params params = params_of(FBP_F32, false);
    struct fbp_array_info series = info;
    fbp_sink *s = NULL;

    series.n[2] = 42;
    series.time_points = 3;
    assert_fails(fbp_sink_open(&s, "t.ome.zarr", &series, &params), FBP_ERR_UNSUPPORTED,
                 "t.ome.zarr: this format cannot store a series of 3 frames; write .mha");
}

/* Chunks of 4 GiB would not be read again: 64 then. */
TEST(sides_of_chunks_have_a_limit)
{
    static const struct {
        const char *side, *chunks;
    } sides[] = {{"512", "[1, 1, 512]"}, {"514", "[1, 1, 64]"}, {"1024", "[1, 1, 64]"}};
    const struct fbp_array_info row = {.struct_size = sizeof row, .n = {600, 1, 1}};
    static float samples[600];

    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        setenv("FBP_CHUNK", sides[i].side, 1);
        fbp_sink *s = create_sink("row.zarr", &row, NULL);
        OK(fbp_sink_write(s, 0, 1, FBP_F32, samples));
        finish(s);
        assert_text("row.zarr/0/.zarray", sides[i].chunks);
    }
    setenv("FBP_CHUNK", "8", 1);
}

static double sample(const unsigned char *all, enum fbp_type type, size_t i)
{
    return type == FBP_F32   ? (double)((const float *)(const void *)all)[i]
           : type == FBP_F64 ? ((const double *)(const void *)all)[i]
           : type == FBP_U16 ? ((const uint16_t *)(const void *)all)[i]
           : type == FBP_I16 ? ((const int16_t *)(const void *)all)[i]
                             : all[i];
}

/* The mean of what there is of 2 x 2 x 2 samples from (2x, 2y, 2z) on. */
static double mean_at(const unsigned char *all, enum fbp_type type, const size_t n[3], size_t x,
                      size_t y, size_t z)
{
    double sum = 0, count = 0;

    for (size_t i = 0; i < 8; i++) {
        const size_t at[3] = {2 * x + i % 2, 2 * y + i / 2 % 2, 2 * z + i / 4};
        if (at[0] >= NX || at[1] >= NY || at[2] >= NZ)
            continue;
        const double v = sample(all, type, (at[2] * n[1] + at[1]) * n[0] + at[0]);
        if (!isnan(v)) {
            sum += v;
            count++;
        }
    }
    return type != FBP_F32 && type != FBP_F64 ? floor(sum / count + 0.5) : sum / count;
}

static void check_level(enum fbp_type type)
{
    const size_t size = fbp_type_size(type);
    size_t n0[3], n1[3];

    write_all("levels.zarr", type, false);
    AUTO_FREE unsigned char *below = get_level("levels.zarr", 0, size, n0);
    AUTO_FREE unsigned char *above = get_level("levels.zarr", 1, size, n1);
    for (size_t z = 0; z < n1[2]; z++)
        for (size_t y = 0; y < n1[1]; y++)
            for (size_t x = 0; x < n1[0]; x++) {
                const bool inside = x < sizes[1][0] && y < sizes[1][1] && z < sizes[1][2];
                const double wanted = inside ? mean_at(below, type, n0, x, y, z) : 0;
                const double found = sample(above, type, (z * n1[1] + y) * n1[0] + x);
                if (!(fabs(found - wanted) <= (type == FBP_F32 ? 6e-8 : 1e-16)))
                    fail_msg("level 1 at %zu %zu %zu: %g, not %g", x, y, z, found, wanted);
            }
}

TEST(levels_are_means)
{
    check_level(FBP_F32);
    check_level(FBP_F64);
    check_level(FBP_U16);
    check_level(FBP_U8);
    check_level(FBP_I16);
}

TEST(compressed_chunks_are_streams_of_zlib)
{
    static const char *const names[] = {"0/0/0/0", "0/5/2/4", "1/2/1/2", "1/0/0/0"};

    write_all("plain.zarr", FBP_F32, false);
    write_all("packed.zarr", FBP_F32, true);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char a[100], b[100], out[CHUNK * 4];
        uLongf got = sizeof out;
        size_t n, m;
        snprintf(a, sizeof a, "plain.zarr/%s", names[i]);
        snprintf(b, sizeof b, "packed.zarr/%s", names[i]);
        AUTO_FREE char *plain = get_file(a, &n), *packed = get_file(b, &m);
        assert_int_equal(uncompress((Bytef *)out, &got, (Bytef *)packed, m), Z_OK);
        assert_int_equal(got, n);
        assert_memory_equal(out, plain, n);
    }
    assert_int_not_equal(system("find packed.zarr -name '*.part' | grep -q ."), 0);
}

static void assert_same(const char *a, const char *b)
{
    AUTO_FREE char *line = printed("diff -r %s %s", a, b);
    assert_int_equal(system(line), 0);
}

TEST(slices_come_in_any_order_and_number)
{
    for (int compress = 0; compress < 2; compress++) {
        const struct fbp_sink_params params = params_of(FBP_U16, compress);
        write_all("a.zarr", FBP_U16, compress);
        fbp_sink *s = open_sink("b.zarr", &params);
        for (size_t i = 0; i < NZ; i++)
            write_slice(s, i * 17 % NZ);
        finish(s);
        assert_same("a.zarr", "b.zarr");
        s = open_sink("b.zarr", &params); /* and replaces what is there */
        for (size_t z = NZ; z > 0;) {
            const size_t n = z < 7 ? z : 7;
            z -= n;
            OK(fbp_sink_write(s, z, n, FBP_F32, volume + z * SLICE));
        }
        finish(s);
        assert_same("a.zarr", "b.zarr");
    }
}

/* A child that is gone after some slices. */
static void die(const struct fbp_sink_params *params, size_t slices)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        fbp_sink *s = open_sink("c.zarr", params);
        for (size_t i = 0, done = 0; i < NZ && done < slices; i++)
            if (!fbp_sink_has(s, i * 3 % NZ, 1)) {
                write_slice(s, i * 3 % NZ);
                done++;
            }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(what_a_kill_leaves_is_finished)
{
    for (int compress = 0; compress < 2; compress++) {
        struct fbp_sink_params params = params_of(FBP_F32, compress);
        write_all("a.zarr", FBP_F32, compress);
        (void)!system("rm -rf c.zarr*");
        die(&params, 12);
        assert_false(is_there("c.zarr"));
        params.resume = true;
        die(&params, 11);
        fbp_sink *s = open_sink("c.zarr", &params);
        size_t have = 0;
        for (size_t z = 0; z < NZ; z++)
            have += fbp_sink_has(s, z, 1);
        assert_int_equal(have, 23);
        for (size_t z = 0; z < NZ; z++)
            write_slice(s, z);
        finish(s);
        assert_same("a.zarr", "c.zarr");
        params.resume = false;
        die(&params, 5);
        fbp_sink *other = open_sink("c.zarr", &params); /* anew: nothing of it counts */
        assert_false(fbp_sink_has(other, 0, 1));
        fbp_sink_close(&other);
        assert_false(is_there("c.zarr.part") || is_there("c.zarr.part.log"));
        assert_same("a.zarr", "c.zarr"); /* the older one */
    }
}

/* Samples that the journal names, and that are not in the chunks. */
TEST(damaged_chunks_are_written_again)
{
    struct fbp_sink_params params = params_of(FBP_F32, false);

    write_all("a.zarr", FBP_F32, false);
    (void)!system("rm -rf c.zarr*");
    die(&params, NZ);
    (void)!system("rm c.zarr.part/0/2/1/1; : >c.zarr.part/0/4/0/0");
    params.resume = true;
    fbp_sink *s = open_sink("c.zarr", &params);
    for (size_t z = 0; z < NZ; z++)
        assert_int_equal(fbp_sink_has(s, z, 1), z / EDGE != 2 && z / EDGE != 4);
    for (size_t z = 0; z < NZ; z++)
        write_slice(s, z);
    finish(s);
    assert_same("a.zarr", "c.zarr");
}

struct writer {
    fbp_sink *sink;
    pthread_barrier_t *together;
    size_t z;
};

static void *write_one(void *arg)
{
    const struct writer *w = arg;

    pthread_barrier_wait(w->together);
    write_slice(w->sink, w->z);
    return NULL;
}

static void negate(void)
{
    for (size_t i = 0; i < N; i++)
        volume[i] = -volume[i];
}

/* As after a power failure: layers are packed of which the journal has lost all lines, and several
 * threads write into them. */
TEST(packed_chunks_are_written_again_by_several)
{
    struct fbp_sink_params params = params_of(FBP_F32, true);

    write_all("a.zarr", FBP_F32, true);
    for (int again = 0; again < 10; again++) {
        (void)!system("rm -rf c.zarr*");
        params.resume = false;
        negate();
        die(&params, NZ);
        negate();
        (void)!system("sed -i 1q c.zarr.part.log");
        params.resume = true;
        fbp_sink *s = open_sink("c.zarr", &params);
        assert_false(fbp_sink_has(s, 0, 1));
        /* The slices of the first layer, by a thread each. */
        pthread_barrier_t together;
        pthread_t threads[EDGE];
        struct writer w[EDGE];
        pthread_barrier_init(&together, NULL, EDGE);
        for (size_t z = 0; z < EDGE; z++) {
            w[z] = (struct writer){s, &together, z};
            assert_int_equal(pthread_create(&threads[z], NULL, write_one, &w[z]), 0);
        }
        for (size_t z = 0; z < EDGE; z++)
            pthread_join(threads[z], NULL);
        pthread_barrier_destroy(&together);
        for (size_t z = 0; z < NZ; z++)
            write_slice(s, z);
        finish(s);
        assert_same("a.zarr", "c.zarr");
    }
}

static void assert_refused(const char *path, const char *why)
{
    const struct fbp_sink_params params = params_of(FBP_F32, false);
    fbp_sink *s = NULL;

    assert_int_not_equal(fbp_sink_open(&s, path, &info, &params), FBP_OK);
    assert_null(s);
    assert_says(path);
    assert_says(why);
}

TEST(what_is_in_the_way_is_refused)
{
    const struct fbp_sink_params params = params_of(FBP_F32, false);

    (void)!system("rm -rf *; mkdir views && : >views/a.tif && : >file.zarr && ln -s views "
                  "link.ome.zarr && mkdir theirs.zarr.part empty.zarr && : >theirs.zarr.part/x");
    assert_refused("file.zarr", "not a folder");
    assert_refused("link.ome.zarr", "other files than an image (a.tif)");
    assert_refused("theirs.zarr", "not a temporary file of fbp");
    assert_refused("nowhere/v.zarr", "create its folder first");
    write_all("v.zarr", FBP_F32, false);
    (void)!system("mkdir -p runs.zarr/1 && : >runs.zarr/1/data");
    assert_refused("runs.zarr", "not an OME-Zarr image");
    assert_true(is_there("runs.zarr/1/data"));
    (void)!system("mkdir v.zarr/labels");
    assert_refused("v.zarr", "labels");
    assert_true(is_there("v.zarr/0/.zarray") && is_there("views/a.tif"));
    assert_int_equal(rmdir("v.zarr/labels"), 0);
    const char *keep = "v.zarr/1";
    struct fbp_sink_params reads = params;
    reads.keep = &keep;
    reads.n_keep = 1;
    fbp_sink *s = NULL;
    assert_fails(fbp_sink_open(&s, "v.zarr", &info, &reads), FBP_ERR_INVALID, "input v.zarr/1");
    write_all("empty.zarr", FBP_F32, false);
    assert_same("empty.zarr", "v.zarr");
}

/* Who resumes needs no room for what is there. */
TEST(room_is_needed_for_what_is_not_there)
{
    enum { CHUNKS = 5 * 3 * 6 + 3 * 2 * 3 };
    struct fbp_sink_params params = params_of(FBP_F32, false);

    (void)!system("rm -rf *");
    room = CHUNKS * CHUNK * sizeof(float) - 1;
    assert_refused("c.zarr", "not enough disk space");
    room++;
    die(&params, NZ);
    params.resume = true;
    room = 0;
    fbp_sink *s = open_sink("c.zarr", &params);
    finish(s);
    room = (uint64_t)1 << 50;
    write_all("a.zarr", FBP_F32, false);
    assert_same("a.zarr", "c.zarr");
}

/* Killed when the old image had stepped aside, and the new one had not its name yet. */
TEST(an_image_that_stepped_aside_comes_back)
{
    const struct fbp_sink_params params = params_of(FBP_F32, false);

    (void)!system("rm -rf *");
    write_all("v.zarr", FBP_F32, false);
    (void)!system("cp -r v.zarr was && mv v.zarr v.zarr.part.old && mkdir v.zarr.part && "
                  "echo 'fbp-journal 2 7 size 1 1 1 header 0' >v.zarr.part.log");
    fbp_sink *s = open_sink("v.zarr", &params);
    fbp_sink_close(&s);
    assert_same("was", "v.zarr");
    assert_false(is_there("v.zarr.part.old") || is_there("v.zarr.part"));
}

static void assert_volume(const char *path, enum fbp_type type)
{
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    const struct fbp_array_info *i = fbp_source_info(src);
    AUTO_FREE float *all = calloc(N, sizeof *all);

    assert_memory_equal(i->n, info.n, sizeof info.n);
    assert_int_equal(i->type, type);
    assert_memory_equal(i->spacing_mm, info.spacing_mm, sizeof info.spacing_mm);
    assert_memory_equal(i->origin_mm, info.origin_mm, sizeof info.origin_mm);
    assert_string_equal(i->unit, "1/mm");
    OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, all));
    for (size_t k = 0; k < N && type == FBP_F32; k++)
        assert_memory_equal(&all[k], &volume[k], sizeof *all);
    for (size_t k = 0; k < N && type == FBP_U16; k++)
        assert_true(isnan(volume[k]) ? all[k] == 0 : fabsf(all[k] - volume[k]) < 8e-6f);
    OK(fbp_source_read(src, 9, 2, 5, 6, FBP_F32, all)); /* back, and a part */
    if (type == FBP_F32)
        assert_memory_equal(all + 6 * NX, volume + 10 * SLICE + 5 * NX, 6 * NX * sizeof *all);
}

TEST(what_was_written_is_read)
{
    fbp_source *src;

    for (int compress = 0; compress < 2; compress++) {
        write_all("v.ome.zarr", FBP_F32, compress);
        assert_volume("v.ome.zarr", FBP_F32);
        assert_volume("v.ome.zarr/", FBP_F32);
        assert_volume("v.ome.zarr/0", FBP_F32);
        write_all("v.ome.zarr", FBP_U16, compress);
        assert_volume("v.ome.zarr", FBP_U16);
    }
    src = open_source("v.ome.zarr/1", NULL);
    assert_int_equal(fbp_source_info(src)->n[2], 21);
    assert_true(fbp_source_info(src)->origin_mm[2] == 32);
    fbp_source_close(&src);
    assert_true(fbp_array_reads("v.ome.zarr", "v.ome.zarr"));
}

#define ARRAY(shape, chunks, type, more)                                                    \
    "{\"zarr_format\": 2, \"shape\": " shape ", \"chunks\": " chunks ", \"dtype\": \"" type \
    "\", \"order\": \"C\", \"filters\": null" more "}"
#define NO_PACKING ", \"compressor\": null, \"fill_value\": -3"

/* [2][3] of big-endian int16 in chunks of [1][2], named with dots; one is not there. */
TEST(arrays_of_others_are_read)
{
    const unsigned char a[] = {0, 1, 0, 2}, b[] = {0, 3, 9, 9}, c[] = {0xff, 0xff, 0, 5};
    const float wanted[] = {1, 2, 3, -1, 5, -3};
    float got[6];

    (void)!system("rm -rf *; mkdir -p o.zarr/s0");
    put_text("o.zarr/.zattrs",
             "{\"multiscales\": [{\"version\": \"0.4\", \"axes\": [{\"name\": \"c\"}, {\"name\": "
             "\"z\", \"unit\": \"micrometer\"}, {\"name\": \"y\", \"unit\": \"micrometer\"}, "
             "{\"name\": \"x\", \"unit\": \"micrometer\"}], \"datasets\": [{\"path\": \"s0\", "
             "\"coordinateTransformations\": [{\"type\": \"scale\", \"scale\": [1, 500, 250, "
             "2000]}]}]}]}");
    put_text("o.zarr/s0/.zarray", ARRAY("[1, 2, 1, 3]", "[1, 1, 1, 2]", ">i2", NO_PACKING));
    put_file("o.zarr/s0/0.0.0.0", a, sizeof a);
    put_file("o.zarr/s0/0.0.0.1", b, sizeof b);
    put_file("o.zarr/s0/0.1.0.0", c, sizeof c);
    CLEANUP(fbp_source_close) fbp_source *src = open_source("o.zarr", NULL);
    OK(fbp_source_read(src, 0, 2, 0, 1, FBP_F32, got));
    assert_memory_equal(got, wanted, sizeof wanted);
    assert_true(fbp_source_info(src)->has_spacing);
    assert_true(fbp_source_info(src)->spacing_mm[0] == 2 &&
                fbp_source_info(src)->spacing_mm[2] == 0.5);
}

/* Where no chunk was written; a picture, whose third axis has no place. */
TEST(fill_values_and_pictures)
{
    static const struct {
        const char *json;
        float value;
    } fills[] = {{"\"Infinity\"", INFINITY},
                 {"\"-Infinity\"", -INFINITY},
                 {"1.5", 1.5f},
                 {"null", 0},
                 {"true", 1}};
    char text[300];
    float got[5];

    (void)!system("rm -rf *; mkdir -p p.zarr/0");
    put_text("p.zarr/.zattrs",
             "{\"multiscales\": [{\"axes\": [{\"name\": \"y\", \"unit\": \"millimeter\"}, "
             "{\"name\": \"x\", \"unit\": \"millimeter\"}], \"datasets\": [{\"path\": \"0\", "
             "\"coordinateTransformations\": [{\"type\": \"scale\", \"scale\": [2, 3]}]}]}]}");
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
        snprintf(text, sizeof text,
                 "{\"zarr_format\": 2, \"shape\": [7, 5], \"chunks\": [4, 5], \"dtype\": \"<f4\", "
                 "\"order\": \"C\", \"compressor\": null, \"fill_value\": %s}",
                 fills[i].json);
        put_text("p.zarr/0/.zarray", text);
        CLEANUP(fbp_source_close) fbp_source *src = open_source("p.zarr", NULL);
        const struct fbp_array_info *is = fbp_source_info(src);
        OK(fbp_source_read(src, 0, 1, 6, 1, FBP_F32, got));
        assert_true(got[4] == fills[i].value);
        assert_true(is->has_spacing && is->spacing_mm[0] == 3 && is->spacing_mm[1] == 2 &&
                    is->spacing_mm[2] == 1);
        assert_true(fbp_source_bytes(src, 1) - fbp_source_bytes(src, 0) >= 4 * sizeof got);
    }
}

static void assert_missing(const char *path, const char *what)
{
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    const char *is = fbp_source_info(src)->missing;

    if (what ? !strstr(is, what) : *is)
        fail_msg("%s: \"%s\" instead of \"%s\"", path, is, what ? what : "");
}

/* [6][4][4] of 3 x 1 x 2 chunks. */
TEST(missing_chunks_are_counted)
{
    (void)!system("rm -rf *; mkdir a.zarr");
    put_text("a.zarr/.zarray", ARRAY("[6, 4, 4]", "[2, 4, 2]", "<i2", NO_PACKING));
    assert_missing("a.zarr", "6 of 6 chunks are missing (views or slices 0 to 5, counted from 0)");
    (void)!system(
        "for z in 0 1 2; do for x in 0 1; do head -c 32 /dev/zero >a.zarr/$z.0.$x; done; done");
    assert_missing("a.zarr", NULL);
    (void)!system("rm a.zarr/1.0.1; touch a.zarr/1.0.1.tmp a.zarr/1.0 a.zarr/01.0.1 a.zarr/1.0.2 "
                  "a.zarr/.nfs1 a.zarr/1.0.1.0");
    assert_missing("a.zarr", "a.zarr: 1 of 6 chunks are missing (views or slices 2 to 3, counted");
    (void)!system("rm a.zarr/0.0.?");
    assert_missing("a.zarr", "3 of 6 chunks are missing (views or slices 0 to 3, counted");

    (void)!system("rm -rf *; mkdir -p b.zarr/0/0; touch b.zarr/0/0/0 b.zarr/0/0/1 b.zarr/0/x");
    put_text("b.zarr/.zarray",
             ARRAY("[6, 4, 4]", "[2, 4, 2]", "<i2", NO_PACKING ", \"dimension_separator\": \"/\""));
    assert_missing("b.zarr", "4 of 6 chunks are missing (views or slices 2 to 5, counted");
    (void)!system("mkdir -p b.zarr/2/0; touch b.zarr/2/0/1");
    assert_missing("b.zarr", "3 of 6 chunks are missing (views or slices 2 to 5, counted");
}

/* fbp writes all chunks: an image that lacks one is an incomplete copy. */
TEST(an_incomplete_copy_of_an_own_image_is_refused)
{
    fbp_source *src = NULL;

    for (int compress = 0; compress < 2; compress++) {
        (void)!system("rm -rf *");
        write_all("v.ome.zarr", FBP_F32, compress);
        assert_missing("v.ome.zarr", NULL);
        assert_int_equal(unlink("v.ome.zarr/1/0/0/0"), 0);
        assert_missing("v.ome.zarr", NULL); /* which reads level 0 alone */
        assert_int_equal(fbp_source_open(&src, "v.ome.zarr/1", NULL), FBP_ERR_INVALID);
        assert_int_equal(unlink("v.ome.zarr/0/2/1/3"), 0);
        assert_fails(fbp_source_open(&src, "v.ome.zarr", NULL), FBP_ERR_INVALID,
                     "1 of 90 chunks are missing, although fbp wrote all of them");
        assert_int_equal(fbp_source_open(&src, "v.ome.zarr/0", NULL), FBP_ERR_INVALID);
        (void)!system("rm -r v.ome.zarr/0/5");
        assert_fails(fbp_source_open(&src, "v.ome.zarr", NULL), FBP_ERR_INVALID, "16 of 90 chunks");
    }
}

/* Millions of chunks of one sample would be opened one by one. */
TEST(chunks_of_a_sample_are_refused)
{
    fbp_source *src = NULL;

    (void)!system("rm -rf *; mkdir -p many.zarr few.zarr");
    put_text("many.zarr/.zarray", ARRAY("[360, 256, 256]", "[1, 1, 1]", "<u2", NO_PACKING));
    assert_fails(fbp_source_open(&src, "many.zarr", NULL), FBP_ERR_UNSUPPORTED,
                 "2.36e+07 chunks of 2 bytes in separate files take too long to read");
    put_text("few.zarr/.zarray", ARRAY("[36, 25, 25]", "[1, 1, 1]", "<u2", NO_PACKING));
    fbp_source_close(&(fbp_source *){open_source("few.zarr", NULL)});
}

/* [3][1][2] of int16 in three chunks; `at`: which of them is written to while they are read. */
static void assert_change_is_noticed(const char *at, const char *data, const char *how)
{
    float got[2];

    (void)!system("rm -rf w.zarr; mkdir -p w.zarr");
    put_text("w.zarr/.zarray", ARRAY("[3, 1, 2]", "[1, 1, 2]", "<i2", NO_PACKING));
    put_text("w.zarr/0.0.0", "abcd");
    put_text("w.zarr/1.0.0", "efgh");
    const struct timespec before[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, "w.zarr/1.0.0", before, 0), 0);
    CLEANUP(fbp_source_close)
    fbp_source *src = open_source("w.zarr", NULL); /* the third chunk is not there */
    OK(fbp_source_read(src, 1, 1, 0, 1, FBP_F32, got));
    OK(fbp_source_unchanged(src));
    put_text(at, data);
    assert_fails(fbp_source_unchanged(src), FBP_ERR_IO, at);
    assert_says(how);
}

TEST(chunks_that_change_are_noticed)
{
    assert_change_is_noticed("w.zarr/0.0.0", "abcdef", "changed its size");
    assert_change_is_noticed("w.zarr/1.0.0", "efgi", "was written to");
    assert_true(fbp_array_reads("w.zarr", "w.zarr/1.0.0"));
    assert_change_is_noticed("w.zarr/.zarray", "{}", "changed its size");
}

static const struct refusal {
    const char *array, *why;
} refusals[] = {
    {ARRAY("[2, 1, 3]", "[1, 1, 2]", "<i2", ", \"compressor\": {\"id\": \"blosc\"}"), "blosc"},
    {ARRAY("[2, 1, 3]", "[1, 1, 2]", "<i8", NO_PACKING), "<i8"},
    {ARRAY("[2, 1, 3]", "[1, 1]", "<i2", NO_PACKING), "another number of dimensions"},
    {ARRAY("[2, 2, 1, 3]", "[1, 1, 1, 2]", "<i2", NO_PACKING), "series"},
    {ARRAY("[2, 0, 3]", "[1, 1, 2]", "<i2", NO_PACKING), "size of 0"},
    {ARRAY("[2, 1, 3]", "[99999, 99999, 2]", "<i2", NO_PACKING), "4 GiB"},
    {ARRAY("[3]", "[3]", "<i2", NO_PACKING), "of 1 dimension, "},
    {"{\"zarr_format\": 2,", "not valid JSON"},
    {"{\"zarr_format\": 2, \"a\": \"b\\u0000c\"}", "not valid JSON"},
    {ARRAY("[2, 1, 3]", "[1, 1, 2]", "<i2", NO_PACKING ", \"dimension_separator\": \"ab\""),
     "dimension_separator"},
    {"{}", "version 2"},
};

static void assert_unread(const char *path, const char *why)
{
    fbp_source *src = NULL;

    assert_int_not_equal(fbp_source_open(&src, path, NULL), FBP_OK);
    assert_says(path);
    assert_says(why);
}

TEST(what_is_not_read_is_said)
{
    float got[3];

    (void)!system("rm -rf *; mkdir a three group; : >file.zarr");
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        put_text("a/.zarray", refusals[i].array);
        assert_unread("a", refusals[i].why);
    }
    put_text("three/zarr.json", "{}");
    assert_unread("three", "version 3");
    put_text("group/.zgroup", "{\"zarr_format\": 2}");
    assert_unread("group", "without an image");
    assert_unread("file.zarr", "is a folder");
    put_text("a/.zarray", ARRAY("[2, 1, 3]", "[1, 1, 3]", "<i2", NO_PACKING));
    put_text("a/0.0.0", "short");
    fbp_source *src = open_source("a", NULL);
    assert_fails(fbp_source_read(src, 0, 1, 0, 1, FBP_F32, got), FBP_ERR_INVALID,
                 "a/0.0.0: has the wrong size for a chunk");
    fbp_source_close(&src);
    put_text("a/.zarray",
             ARRAY("[2, 1, 3]", "[1, 1, 3]", "<i2", ", \"compressor\": {\"id\": \"gzip\"}"));
    src = open_source("a", NULL);
    assert_fails(fbp_source_read(src, 0, 1, 0, 1, FBP_F32, got), FBP_ERR_INVALID,
                 "cannot be decompressed");
    fbp_source_close(&src);
}

/* What writing takes is known from the name, and shrinks with the memory to that of one thread. */
TEST(needs_are_known_before)
{
    static const size_t large[] = {1000, 1000, 1000}, flat[] = {1000, 1000, 3};
    const size_t chunk = CHUNK * sizeof(float);
    struct fbp_output_needs n;

    fbp_output_needs("v.mha", large, FBP_F32, false, UINT64_MAX, &n);
    assert_int_equal(n.layer + n.writer_bytes + n.level_bytes, 0);
    fbp_output_needs(NULL, large, FBP_F32, false, UINT64_MAX, &n);
    assert_int_equal(n.layer + n.writer_bytes + n.level_bytes, 0);
    fbp_output_needs("v.zarr", flat, FBP_U16, false, 0, &n);
    assert_int_equal(n.layer, 3);
    fbp_output_needs("a/v.ome.zarr", large, FBP_F32, false, 0, &n);
    assert_int_equal(n.layer, EDGE);
    assert_int_equal(n.writer_bytes, chunk);
    assert_int_equal(n.level_bytes, 2 * chunk);
    for (uint64_t limit = 1; limit < UINT64_MAX / 4; limit *= 4) {
        fbp_output_needs("a/v.ome.zarr", large, FBP_F32, false, limit, &n);
        assert_true(n.level_bytes == 2 * chunk || n.level_bytes <= limit / 16);
        assert_true(n.level_bytes <= 16 * chunk);
    }
    const uint64_t plain = n.level_bytes;
    fbp_output_needs("a/v.ome.zarr", large, FBP_F32, true, UINT64_MAX, &n);
    assert_true(n.level_bytes > plain);
}

TEST_MAIN(begin, NULL)
