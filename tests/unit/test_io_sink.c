/* Checks sinks: written slices are read back, a failed or ended run leaves no incomplete output,
 * and an interrupted run is resumed from its journal. */
#include "unit/some_volume.h"

#include "array/sink.h"
#include "fbp/callback.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define STEM  FBP_TEST_DIR "/io_sink"
#define PLAIN STEM "_plain.mha"

static fbp_status open_sink(fbp_sink **s, const char *path, uint64_t print, bool resume, bool pack)
{
    return open_sink_with(
        s, path,
        &(const struct fbp_sink_params){.struct_size = sizeof(struct fbp_sink_params),
                                        .resume = resume,
                                        .compress = pack,
                                        .fingerprint = print});
}

static fbp_sink *sink(const char *path, uint64_t print, bool resume, bool pack)
{
    fbp_sink *s = NULL;
    OK(open_sink(&s, path, print, resume, pack));
    return s;
}

static void assert_no_leftovers(const char *path)
{
    static const char *const ends[] = {".part", ".part.log", ".part.z", ".part.side"};
    char name[400];
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        assert_false(is_there(name));
    }
}

static void assert_holds_volume(const char *path, bool place)
{
    const struct fbp_array_info wanted = some_info();
    const struct fbp_raw raw = {FBP_F32, {NX, NY, NZ}, false, 0};
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, &raw);
    const struct fbp_array_info *info = fbp_source_info(src);
    float out[N];
    assert_memory_equal(info->n, wanted.n, sizeof info->n);
    assert_int_equal(info->type, FBP_F32);
    assert_int_equal(info->has_spacing, place);
    if (place) {
        assert_memory_equal(info->spacing_mm, wanted.spacing_mm, sizeof info->spacing_mm);
        assert_memory_equal(info->origin_mm, wanted.origin_mm, sizeof info->origin_mm);
        assert_string_equal(info->unit, wanted.unit);
    }
    OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, out));
    assert_memory_equal(out, volume, sizeof out);
}

TEST(write_and_read_back)
{
    static const struct {
        const char *path;
        bool pack, place;
    } cases[] = {
        {PLAIN, false, true},
        {STEM "_packed.mha", true, true},
        {STEM "_beside.MHD", false, true},
        {STEM "_packed.mhd", true, true},
        {STEM "_100%.mhd", false, true},
        {STEM ".nrrd", false, true},
        {STEM "_packed.nrrd", true, true},
        {STEM "_beside_it.nhdr", false, true},
        {STEM "_packed.nhdr", true, true},
        {STEM ".npy", true, false},
        {STEM ".raw", true, false},
        {STEM ".BIN", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t print = 0; print < 2; print++) {
            fbp_sink *s = sink(cases[i].path, print, false, cases[i].pack);
            put(s, 4, 2);
            put(s, 0, 3);
            put(s, 3, 0);
            assert_false(fbp_sink_has(s, 3, 1));
            assert_false(fbp_sink_has(s, 2, 2));
            assert_true(fbp_sink_has(s, 0, 3) && fbp_sink_has(s, 4, 2));
            assert_false(fbp_sink_has(s, 4, 3));
            assert_false(fbp_sink_has(s, 1, (size_t)-1));
            put(s, 3, 1);
            OK(fbp_sink_finish(s));
            assert_int_equal(fbp_sink_write(s, 0, 1, FBP_F32, volume), FBP_ERR_INVALID);
            finish(&s);
            assert_no_leftovers(cases[i].path);
            assert_holds_volume(cases[i].path, cases[i].place);
        }
    assert_true(is_there(STEM "_beside.raw") && is_there(STEM "_packed.zraw"));
    assert_true(is_there(STEM "_beside_it.raw") && is_there(STEM "_packed.raw.gz"));
}

TEST(names_and_sizes_refused)
{
    struct fbp_array_info info = some_info();
    fbp_sink *s = NULL;
    assert_fails(fbp_sink_open(&s, STEM ".xyz", &info, NULL), FBP_ERR_INVALID,
                 "that ends in one of");
    assert_fails(fbp_sink_open(&s, STEM "_no/such/folder.mha", &info, NULL), FBP_ERR_IO,
                 "create its folder");
    info.n[1] = 0;
    assert_int_equal(fbp_sink_open(&s, PLAIN, &info, NULL), FBP_ERR_INVALID);
    info = some_info();
    info.n[0] = info.n[1] = (size_t)1 << 40;
    assert_int_equal(fbp_sink_open(&s, PLAIN, &info, NULL), FBP_ERR_INVALID);
    info = some_info();
    info.n[0] = info.n[1] = (size_t)1 << 25;
    assert_fails(fbp_sink_open(&s, STEM "_huge.mha", &info, NULL), FBP_ERR_IO,
                 "not enough disk space");
    assert_no_leftovers(STEM "_huge.mha");
    info = some_info();
    info.spacing_mm[1] = NAN;
    assert_int_equal(fbp_sink_open(&s, STEM "_nan.mha", &info, NULL), FBP_ERR_INVALID);
    assert_no_leftovers(STEM "_nan.mha");
    assert_null(s);
    assert_fails(open_sink(&s, PLAIN, 0, true, false), FBP_ERR_INVALID, "fingerprint");
}

TEST(missing_slices)
{
    fbp_sink *s = sink(STEM "_missing.mha", 0, false, false);
    put(s, 0, 2);
    put(s, 3, 3);
    assert_fails(fbp_sink_finish(s), FBP_ERR_INVALID, "1 of 6 slices");
    assert_says("first is 2");
    assert_int_equal(fbp_sink_write(s, 5, 2, FBP_F32, volume), FBP_ERR_INVALID);
    assert_int_equal(fbp_sink_write(s, 1, (size_t)-1, FBP_F32, volume), FBP_ERR_INVALID);
    fbp_sink_close(&s);
    assert_no_leftovers(STEM "_missing.mha");
    assert_false(is_there(STEM "_missing.mha"));
    s = sink(STEM "_missing.mha", 9, false, false); /* nothing to resume from */
    fbp_sink_close(&s);
    assert_no_leftovers(STEM "_missing.mha");
}

/* An unfinished file that can be resumed holds slices 0, 1 and 4. */
static void interrupt(const char *path, bool pack)
{
    fbp_sink *s = sink(path, 0xabcdef, false, pack);
    put(s, 4, 1);
    put(s, 0, 2);
    fbp_sink_close(&s);
}

#define RESUME STEM "_resume.mha"

static void assert_same_file(const char *a, const char *b)
{
    size_t na, nb;
    AUTO_FREE char *ta = get_file(a, &na), *tb = get_file(b, &nb);
    assert_int_equal(na, nb);
    assert_memory_equal(ta, tb, na);
}

static void write_plain(const char *path, bool pack)
{
    fbp_sink *s = sink(path, 0, false, pack);
    put(s, 0, NZ);
    finish(&s);
}

TEST(resume_goes_on)
{
    for (int pack = 0; pack < 2; pack++) {
        unlink(RESUME);
        interrupt(RESUME, pack);
        assert_true(is_there(RESUME ".part") && is_there(RESUME ".part.log"));
        assert_false(is_there(RESUME));
        for (int again = 0; again < 2; again++) { /* and interrupted once more */
            fbp_sink *s = sink(RESUME, 0xabcdef, true, pack);
            for (size_t z = 0; z < NZ; z++)
                assert_int_equal(fbp_sink_has(s, z, 1), z < 2 || z == 4 || (again && z == 2));
            if (again) {
                put(s, 3, 1);
                put(s, 5, 1);
                finish(&s);
            } else {
                put(s, 2, 1);
                fbp_sink_close(&s);
            }
        }
        write_plain(PLAIN, pack);
        assert_same_file(RESUME, PLAIN);
        assert_no_leftovers(RESUME);
    }
}

static void flip_byte(const char *path, size_t from_end)
{
    size_t n;
    AUTO_FREE char *text = get_file(path, &n);
    text[n - from_end] ^= 1;
    put_file(path, text, n);
}

TEST(damage_is_found)
{
    write_plain(PLAIN, false);
    interrupt(RESUME, false);
    flip_byte(RESUME ".part", (NZ - 4) * SLICE * 4 - 11); /* in slice 4 */
    fbp_sink *s = sink(RESUME, 0xabcdef, true, false);
    assert_true(fbp_sink_has(s, 0, 2));
    assert_false(fbp_sink_has(s, 4, 1));
    put(s, 2, 4);
    finish(&s);
    assert_same_file(RESUME, PLAIN);

    interrupt(RESUME, false); /* cut short: slices 0 and 1 are whole */
    assert_int_equal(truncate(RESUME ".part", 900), 0);
    s = sink(RESUME, 0xabcdef, true, false);
    assert_string_equal(fbp_message(), "");
    assert_false(fbp_sink_has(s, 4, 1));
    put(s, 0, NZ);
    finish(&s);
    assert_same_file(RESUME, PLAIN);

    interrupt(RESUME, false); /* nothing of use is left: nothing is kept */
    put_file(RESUME ".part", "", 0);
    s = sink(RESUME, 0xabcdef, true, false);
    assert_false(fbp_sink_has(s, 0, 1));
    fbp_sink_close(&s);
    assert_no_leftovers(RESUME);
}

/* The journal cut after every byte: whole lines count, and a resumed one can be resumed again. */
TEST(torn_journal)
{
    size_t n;
    interrupt(RESUME, false);
    AUTO_FREE char *whole = get_file(RESUME ".part.log", &n);
    const char *first = strchr(whole, '\n') + 1, *second = strchr(first, '\n') + 1;
    size_t np;
    AUTO_FREE char *part = get_file(RESUME ".part", &np);
    write_plain(PLAIN, false);
    for (size_t cut = 0; cut <= n; cut++) {
        put_file(RESUME ".part.log", whole, cut);
        put_file(RESUME ".part", part, np);
        fbp_sink *s = NULL;
        if (cut < strlen("fbp-journal ")) { /* whose that is nobody knows */
            assert_fails(open_sink(&s, RESUME, 0xabcdef, true, false), FBP_ERR_INVALID,
                         "not a temporary file of fbp");
            continue;
        }
        s = sink(RESUME, 0xabcdef, true, false);
        assert_int_equal(fbp_sink_has(s, 4, 1), cut >= (size_t)(second - whole));
        assert_int_equal(fbp_sink_has(s, 0, 2), cut == n);
        put(s, 5, 1);
        fbp_sink_close(&s);
        s = sink(RESUME, 0xabcdef, true, false);
        assert_true(fbp_sink_has(s, 5, 1));
        assert_int_equal(fbp_sink_has(s, 4, 1), cut >= (size_t)(second - whole));
        put(s, 0, NZ);
        finish(&s);
        assert_same_file(RESUME, PLAIN);
    }
}

/* Lines that no run of ours wrote are not believed. */
TEST(strange_journal)
{
    static const char *const lines[] = {
        "0 0 0\n",
        "6 1 0\n",
        "0 18446744073709551615 0\n",
        "99999999999999999999 1 0\n",
        "-1 1 0123456789\n",
        "x y z\n",
        "\n",
        "0 1\n",
    };
    size_t n;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        interrupt(RESUME, false);
        AUTO_FREE char *whole = get_file(RESUME ".part.log", &n);
        put_array(RESUME ".part.log", whole, lines[i], strlen(lines[i]));
        fbp_sink *s = sink(RESUME, 0xabcdef, true, false);
        for (size_t z = 0; z < NZ; z++)
            assert_int_equal(fbp_sink_has(s, z, 1), z < 2 || z == 4);
        fbp_sink_close(&s);
    }
    fbp_sink *s = sink(RESUME, 1, false, false);
    fbp_sink_close(&s);
    assert_no_leftovers(RESUME);
}

TEST(other_settings)
{
    fbp_sink *s = NULL;
    interrupt(RESUME, false);
    assert_int_equal(open_sink(&s, RESUME, 0xabcdee, true, false), FBP_ERR_INVALID);
    assert_null(s);
    assert_says(RESUME);
    assert_says("without --resume");
    struct fbp_array_info info = some_info();
    const struct fbp_sink_params p = {
        .struct_size = sizeof p, .resume = true, .fingerprint = 0xabcdef};
    info.n[0]++;
    assert_int_equal(fbp_sink_open(&s, RESUME, &info, &p), FBP_ERR_INVALID);
    s = sink(RESUME, 0xabcdef, true, false); /* it was left alone */
    assert_true(fbp_sink_has(s, 0, 2));
    fbp_sink_close(&s);

    s = sink(RESUME, 5, false, false); /* without resume it is replaced */
    for (size_t z = 0; z < NZ; z++)
        assert_false(fbp_sink_has(s, z, 1));
    put(s, 1, 1);
    fbp_sink_close(&s);
    s = sink(RESUME, 5, true, false);
    assert_true(fbp_sink_has(s, 1, 1));
    assert_false(fbp_sink_has(s, 0, 1));
    put(s, 0, NZ);
    finish(&s);
    assert_holds_volume(RESUME, true);
}

TEST(one_writer_at_a_time)
{
    fbp_sink *s = sink(RESUME, 3, false, false), *other = NULL;
    put(s, 0, 3);
    for (int resume = 0; resume < 2; resume++) {
        assert_fails(open_sink(&other, RESUME, 3, resume, false), FBP_ERR_IO, "another process");
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(open_sink(&other, RESUME, 3, resume, false) == FBP_ERR_IO ? 0 : 1);
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    put(s, 3, 3);
    finish(&s);
    assert_holds_volume(RESUME, true);
}

/* A final name that cannot be taken: an error, and what can be resumed is still there. */
TEST(publishing_fails)
{
    unlink(STEM "_taken.mhd.part.z"); /* of a test that failed earlier */
    for (int pack = 0; pack < 2; pack++) {
        const char *path = pack ? STEM "_taken.mhd" : STEM "_taken.mha";
        const char *taken = pack ? STEM "_taken.zraw" : path;
        fbp_sink *s = sink(path, 3, false, pack);
        put(s, 0, NZ);
        assert_int_equal(mkdir(taken, 0777), 0);
        assert_fails(fbp_sink_finish(s), FBP_ERR_IO, pack ? "cannot replace" : "cannot be renamed");
        fbp_sink_close(&s);
        assert_int_equal(rmdir(taken), 0);
        assert_false(is_there(STEM "_taken.mhd.part.z"));
        assert_false(is_there(STEM "_taken.mhd.part.side"));
        assert_false(is_there(path));
        s = sink(path, 3, true, pack);
        assert_true(fbp_sink_has(s, 0, NZ));
        finish(&s);
        assert_holds_volume(path, true);
        assert_no_leftovers(path);
        unlink(path);
        unlink(taken);
    }
    assert_int_equal(mkdir(STEM "_folder.mha", 0777), 0);
    fbp_sink *s = NULL;
    assert_fails(open_sink(&s, STEM "_folder.mha", 3, false, false), FBP_ERR_INVALID,
                 "not a regular file");
    assert_int_equal(rmdir(STEM "_folder.mha"), 0);
}

static void assert_link(const char *link, const char *target)
{
    char found[600];
    const ssize_t n = readlink(link, found, sizeof found - 1);
    assert_true(n > 0);
    found[n] = '\0';
    assert_string_equal(found, target);
}

/* A link leads to the file that is written; it stays, whether the file is there or not. */
TEST(links_are_followed)
{
    static const struct {
        const char *link, *target, *file;
    } cases[] = {{STEM "_link.mha", "io_sink_far/v.mha", STEM "_far/v.mha"},
                 {STEM "_link.npy", STEM "_far/v.npy", STEM "_far/v.npy"},
                 {STEM "_link.nrrd", STEM "_link2.nrrd", STEM "_far/v.nrrd"},
                 {STEM "_link.h5", "io_sink_far/v.h5", STEM "_far/v.h5"}};
    fbp_sink *two = NULL;
    assert_int_equal(system("rm -rf " STEM "_link* " STEM "_far"), 0); // NOLINT(cert-env33-c)
    mkdir(STEM "_far", 0777);
    assert_int_equal(symlink("io_sink_far/v.nrrd", STEM "_link2.nrrd"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unlink(cases[i].link);
        assert_int_equal(symlink(cases[i].target, cases[i].link), 0);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(is_there(cases[i].file), again);
            fbp_sink *s = sink(cases[i].link, 5, false, false);
            put(s, 0, NZ);
            finish(&s);
            assert_link(cases[i].link, cases[i].target);
            assert_holds_volume(cases[i].file, i != 1);
            assert_holds_volume(cases[i].link, i != 1);
            assert_no_leftovers(cases[i].link);
            assert_no_leftovers(cases[i].file);
        }
    }
    assert_link(STEM "_link2.nrrd", "io_sink_far/v.nrrd");
    assert_int_equal(symlink("io_sink_far/v.mhd", STEM "_link.mhd"), 0);
    assert_fails(open_sink(&two, STEM "_link.mhd", 0, false, false), FBP_ERR_INVALID,
                 "_link.mhd: is a link, but this format needs two files");
    fbp_sink *s = NULL;
    unlink(STEM "_link.mha");
    assert_int_equal(symlink("io_sink_far/v.txt", STEM "_link.mha"), 0);
    assert_fails(open_sink(&s, STEM "_link.mha", 0, false, false), FBP_ERR_INVALID,
                 "v.txt, whose name does not end in .mha");
    unlink(STEM "_link.mha");
    assert_int_equal(symlink("io_sink_link.mha", STEM "_link.mha"), 0);
    assert_fails(open_sink(&s, STEM "_link.mha", 0, false, false), FBP_ERR_INVALID,
                 "too many links");
    unlink(STEM "_link.mha");
    assert_int_equal(symlink("io_sink_nowhere/v.mha", STEM "_link.mha"), 0);
    assert_fails(open_sink(&s, STEM "_link.mha", 0, false, false), FBP_ERR_IO,
                 "io_sink_nowhere/v.mha: cannot create its temporary file: ");
    assert_int_equal(system("rm -rf " STEM "_link* " STEM "_far"), 0); // NOLINT(cert-env33-c)
}

static uint64_t hash_of(const size_t order[NZ], bool grouped)
{
    fbp_sink *s = sink("hash:", 0, false, false);
    if (grouped) {
        put(s, 2, 4);
        put(s, 0, 2);
    }
    for (size_t i = 0; !grouped && i < NZ; i++)
        put(s, order[i], 1);
    OK(fbp_sink_finish(s));
    const uint64_t h = fbp_sink_hash(s);
    fbp_sink_close(&s);
    return h;
}

TEST(hashes)
{
    const size_t up[NZ] = {0, 1, 2, 3, 4, 5}, mixed[NZ] = {3, 5, 0, 1, 4, 2};
    const uint64_t h = hash_of(up, false);
    assert_true(h != 0);
    assert_true(hash_of(mixed, false) == h);
    assert_true(hash_of(NULL, true) == h);
    for (size_t i = 0; i < N; i += 13) { /* the last bit of any value */
        const float keep = volume[i];
        volume[i] = nextafterf(keep, 1);
        assert_true(hash_of(up, false) != h);
        volume[i] = keep;
    }
    float swap[SLICE]; /* the same slices in another order */
    memcpy(swap, volume, sizeof swap);
    memcpy(volume, volume + SLICE, sizeof swap);
    memcpy(volume + SLICE, swap, sizeof swap);
    assert_true(hash_of(up, false) != h);
    fill(NULL);
    assert_true(hash_of(up, false) == h);
}

TEST(nothing)
{
    fbp_sink *s = sink("null:", 3, true, true);
    put(s, 0, 3);
    assert_true(fbp_sink_has(s, 0, 3));
    assert_int_equal(fbp_sink_finish(s), FBP_ERR_INVALID);
    put(s, 3, 3);
    OK(fbp_sink_finish(s));
    assert_true(fbp_sink_hash(s) == 0);
    fbp_sink_close(&s);
    fbp_sink_close(&s);
    assert_no_leftovers("null:");
}

static int take_slices(void *user, size_t z0, size_t nz, const float *slices, char *why, size_t n)
{
    (void)user, (void)z0, (void)nz, (void)slices, (void)why, (void)n;
    return 0;
}

/* Descriptors 0 to 63 that are open, as bits. */
static uint64_t open_descriptors(void)
{
    uint64_t open = 0;

    for (int fd = 0; fd < 64; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            open |= (uint64_t)1 << fd;
    return open;
}

/* Sinks without files close no descriptor: 0 is the program's standard input. */
TEST(the_callers_descriptors_stay_open)
{
    const struct fbp_sink_functions functions = {.struct_size = sizeof functions,
                                                 .write = take_slices};
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {4, 3, 2}};
    const int input = open("/dev/null", O_RDONLY); /* 0, should it be closed */
    const uint64_t before = open_descriptors();
    float samples[24];
    fbp_sink *sink;

    assert_true(input >= 0 && (before & 1));
    OK(fbp_sink_memory(&sink, samples, FBP_F32, info.n));
    fbp_sink_close(&sink);
    assert_int_equal(open_descriptors(), before);
    OK(fbp_sink_callback(&sink, &functions, info.n));
    fbp_sink_close(&sink);
    assert_int_equal(open_descriptors(), before);
    for (int i = 0; i < 2; i++) {
        OK(fbp_sink_open(&sink, i ? "hash:" : "null:", &info, NULL));
        fbp_sink_close(&sink);
        assert_int_equal(open_descriptors(), before);
    }
    close(input);
}

TEST_MAIN(fill, NULL)
