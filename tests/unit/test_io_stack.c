/* Checks stacks of one file per view, or of several views per file: patterns of names, and refusal
 * of files whose sizes, types or orders differ. */
#include "unit/io_util.h"

#include "array/names.h"

enum { NX = 5, NY = 3, N_VIEWS = 11, VIEW = NX * NY };

#define NAME(k) FBP_TEST_DIR "/io_stack" k ".raw"
#define PATTERN FBP_TEST_DIR "/io_stack%02d.raw 3 13"

static uint16_t value(size_t view, size_t i)
{
    return (uint16_t)(1000 * view + i);
}

static const char *name_of(size_t k)
{
    static char name[sizeof FBP_TEST_DIR + 40];
    snprintf(name, sizeof name, NAME("%02zu"), k + 3);
    return name;
}

static void put_views(const char *header, bool big)
{
    uint16_t v[VIEW];
    for (size_t k = 0; k < N_VIEWS; k++) {
        for (size_t i = 0; i < VIEW; i++)
            v[i] = big ? __builtin_bswap16(value(k, i)) : value(k, i);
        put_array(name_of(k), header, v, sizeof v);
    }
}

static void check_views(fbp_source *src)
{
    const struct fbp_array_info *info = fbp_source_info(src);
    float out[N_VIEWS * VIEW];
    assert_true(info->n[0] == NX && info->n[1] == NY && info->n[2] == N_VIEWS);
    assert_int_equal(info->type, FBP_U16);
    OK(fbp_source_read(src, 0, N_VIEWS, 0, NY, FBP_F32, out));
    for (size_t i = 0; i < N_VIEWS * VIEW; i++)
        assert_true(out[i] == (float)value(i / VIEW, i % VIEW));
    OK(fbp_source_read(src, 4, 3, 1, 2, FBP_F32, out));
    for (size_t i = 0; i < 3 * 2 * NX; i++)
        assert_true(out[i] == (float)value(4 + i / (2 * NX), NX + i % (2 * NX)));
    fbp_source_close(&src);
}

static const struct fbp_raw raw = {FBP_U16, {NX, NY, N_VIEWS}, true, 7};

TEST(reads_headerless_files)
{
    struct fbp_raw r = raw;
    put_views("header!", true);
    check_views(open_source(PATTERN, &r));
    r.n[2] = 0; /* as many as there are names */
    check_views(open_source(PATTERN, &r));
    r.n[2] = N_VIEWS + 1;
    fbp_source *src;
    assert_fails(fbp_source_open(&src, PATTERN, &r), FBP_ERR_INVALID,
                 "raw\" describes 12 views, but 11 files are named");
}

TEST(reads_files_with_headers)
{
    put_views("NDims = 3\nDimSize = 5 3 1\nElementType = MET_USHORT\nElementByteOrderMSB = True\n"
              "ElementDataFile = LOCAL\n",
              true);
    check_views(open_source(PATTERN, NULL));
    put_views("NDims = 2\nDimSize = 5 3\nElementType = MET_USHORT\nElementDataFile = LOCAL\n",
              false);
    check_views(open_source(PATTERN, NULL));
}

/* Files of several views each, the last one shorter: as a pattern and with '*', of formats whose
 * samples are contiguous, in pages, and compressed. */
TEST(reads_files_of_several_views)
{
    static const char *const ends[] = {"npy", "tif", "nrrd"};
    static const size_t first[] = {0, 4, 8, 9, N_VIEWS}; /* 4, 4, 1 and 2 views */
    float v[4 * VIEW];

    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        const struct fbp_sink_params params = {.struct_size = sizeof params, .compress = e == 2};
        AUTO_FREE char *pattern = printed(FBP_TEST_DIR "/pages%%d.%s 1 4", ends[e]);
        AUTO_FREE char *star = printed(FBP_TEST_DIR "/pages*.%s", ends[e]);
        AUTO_FREE char *once = printed(FBP_TEST_DIR "/pages%%d.%s 3 4", ends[e]);
        for (size_t k = 0; k < 4; k++) {
            const struct fbp_array_info info = {.struct_size = sizeof info,
                                                .n = {NX, NY, first[k + 1] - first[k]},
                                                .type = FBP_U16,
                                                .scale = 1};
            AUTO_FREE char *name = printed(FBP_TEST_DIR "/pages%zu.%s", k + 1, ends[e]);
            for (size_t i = 0; i < info.n[2] * VIEW; i++)
                v[i] = (float)value(first[k] + i / VIEW, i % VIEW);
            save_array(name, &info, &params, v);
        }
        const char *const names[] = {pattern, star};
        for (size_t i = 0; i < 2; i++) {
            fbp_source *src = open_source(names[i], NULL);
            assert_non_null(strstr(fbp_source_info(src)->taken, "11 views in 4 files"));
            assert_true(fbp_source_in_order(src) == (e == 2));
            float out[N_VIEWS * VIEW];
            OK(fbp_source_read(src, 0, N_VIEWS, 0, NY, FBP_F32, out));
            for (size_t k = 0; k < N_VIEWS * VIEW; k++)
                assert_true(out[k] == (float)value(k / VIEW, k % VIEW));
            for (size_t k = N_VIEWS; k-- > 0;) { /* backwards */
                OK(fbp_source_read(src, k, 1, 1, 2, FBP_F32, out));
                for (size_t j = 0; j < 2 * NX; j++)
                    assert_true(out[j] == (float)value(k, NX + j));
            }
            fbp_source_close(&src);
        }
        fbp_source *src; /* the first file has one view */
        assert_fails(fbp_source_open(&src, once, NULL), FBP_ERR_INVALID, "but the first file");
        for (size_t k = 1; k <= 4; k++) {
            AUTO_FREE char *name = printed(FBP_TEST_DIR "/pages%zu.%s", k, ends[e]);
            AUTO_FREE char *beside = printed("%s.json", name);
            remove(name);
            remove(beside);
        }
    }
}

TEST(says_which_file_is_wrong)
{
    fbp_source *src;
    put_views("header!", true);
    assert_int_equal(truncate(name_of(4), 20), 0);
    assert_fails(fbp_source_open(&src, PATTERN, &raw), FBP_ERR_INVALID, "io_stack07.raw");
    remove(name_of(4));
    assert_fails(fbp_source_open(&src, PATTERN, &raw), FBP_ERR_IO, "io_stack07.raw");
    put_views("NDims = 2\nDimSize = 5 3\nElementType = MET_USHORT\nElementDataFile = LOCAL\n",
              false);
    put_array(name_of(9),
              "NDims = 2\nDimSize = 3 5\nElementType = MET_USHORT\nElementDataFile = LOCAL\n",
              "0123456789012345678901234567890", 30);
    assert_fails(fbp_source_open(&src, PATTERN, NULL), FBP_ERR_INVALID,
                 "io_stack12.raw: contains 3 x 5 x 1 uint16, but the first file 5 x 3 x 1 uint16");
    put_array(name_of(0),
              "NDims = 3\nDimSize = 5 1 3\nElementType = MET_USHORT\nElementDataFile = LOCAL\n",
              "0123456789012345678901234567890", 30);
    assert_fails(fbp_source_open(&src, PATTERN, NULL), FBP_ERR_INVALID,
                 "io_stack04.raw: contains 5 x 3 x 1 uint16, but the first file 5 x 1 x 1");
    assert_fails(fbp_source_open(&src, FBP_TEST_DIR "/io_stack%d.raw 9 8", &raw), FBP_ERR_INVALID,
                 "the last number is below the first");
}

TEST(knows_a_pattern)
{
    static const char *const patterns[] = {"a%d.raw 0 1", "%04d 1 360", "a %d b.mha 1 2",
                                           "50%/v%09d.npy 12 12"};
    static const char *const names[] = {"a.raw",         "a%d.raw",         "a%d.raw 1",
                                        "a.raw 1 2",     "a%s.raw 1 2",     "a%4d.raw 1 2",
                                        "a%d.raw 1 2 x", "a%d.raw 1 x2",    "",
                                        "a%0d.raw 1 2",  "a%012d.raw 1 2 ", "%d1 2"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (!fbp_names_many_files(patterns[i]))
            fail_msg("\"%s\" is a pattern", patterns[i]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fbp_names_many_files(names[i]))
            fail_msg("\"%s\" is no pattern", names[i]);
}

static bool is_input(const char *input, const char *file)
{
    bool is = false;

    OK(fbp_input_is(input, file, &is));
    return is;
}

static uint64_t hash_of(uint64_t h, const char *path)
{
    OK(fbp_stack_hash(&h, path));
    return h;
}

/* An output must not replace a view, and a changed view is another scan. */
TEST(knows_its_files)
{
    const char *link = FBP_TEST_DIR "/io_stack_link.raw";
    put_views("header!", true);
    remove(link);
    assert_int_equal(symlink(name_of(5), link), 0);
    assert_true(is_input(PATTERN, name_of(0)));
    assert_true(is_input(PATTERN, name_of(10)));
    assert_true(is_input(PATTERN, link));
    assert_true(is_input(PATTERN, name_of(11))); /* of the series */
    assert_false(is_input(PATTERN, FBP_TEST_DIR "/io_stack_of_another_name.raw"));

    const char *const keep[] = {PATTERN};
    const struct fbp_sink_params params = {.struct_size = sizeof params, .keep = keep, .n_keep = 1};
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {1, 1, 1}};
    fbp_sink *sink;
    assert_fails(fbp_sink_open(&sink, link, &info, &params), FBP_ERR_INVALID, "would overwrite");
    remove(link);

    AUTO_FREE char *first = printed("%s", name_of(0));
    assert_true(is_input(first, name_of(0)));
    assert_false(is_input(first, name_of(1)));

    const uint64_t h = hash_of(1, PATTERN);
    assert_true(h == hash_of(1, PATTERN) && h != hash_of(2, PATTERN));
    assert_int_equal(truncate(name_of(7), 20), 0);
    assert_true(h != hash_of(1, PATTERN));
    assert_true(hash_of(1, name_of(1)) != hash_of(1, name_of(7)));
    for (size_t k = 0; k < N_VIEWS; k++)
        remove(name_of(k));
}

/* Names, in order; the places of the files if numbers are missing; two numbers of different orders
 * are refused. */
TEST(numbers_order_names)
{
    static const struct {
        const char *names[6];
        size_t places[6]; /* of the last 0: no number is missing */
        bool ambiguous;
    } rows[] = {
        {.names = {"p0.25.tif", "p0.5.tif", "p10.75.tif"}},
        {.names = {"p_1.tif", "p_2.tif", "p_5.tif", "p_10.tif"}},
        {.names = {"p_1.tif", "p_2.tif", "p_3.tif", "p_5.tif"}, .places = {0, 1, 2, 4}},
        {.names = {"p_-2.tif", "p_-1.tif", "p_0.tif", "p_1.tif"}},
        {.names = {"s_90.5_0.tif", "s_0.25_1.tif", "s_33_2.tif"}},
        {.names = {"a1.9.tif", "a1.10.tif", "a1.11.tif"}},
        {.names = {"a0.5mm_9.5.tif", "a0.5mm_10.25.tif", "a0.5mm_11.tif"}},
        {.names = {"v_20251231_235959.tif", "v_20260101_000001.tif", "v_20260101_001500.tif"}},
        {.names = {"b_1.tif", "b_2.tif", "c_1.tif"}},
        {.names = {"r1_0001.tif", "r1_0002.tif", "r2_0001.tif", "r2_0002.tif"}},
        {.names = {"p_0_1.tif", "p_1_2.tif", "p_2_0.tif"}, .ambiguous = true},
        {.names = {"p_0.5_120003.tif", "p_1.25_120000.tif", "p_9.75_120017.tif"},
         .ambiguous = true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fbp_numbering numbering;
        char *paths[6];
        size_t n = 0;
        for (; n < 6 && rows[i].names[n]; n++)
            paths[n] = (char *)(uintptr_t)rows[i].names[n];
        char *first = paths[0]; /* in another order */
        paths[0] = paths[n - 1];
        paths[n - 1] = first;
        const fbp_status st = fbp_number_files(paths, n, "here", &numbering);
        assert_int_equal(st, rows[i].ambiguous ? FBP_ERR_INVALID : FBP_OK);
        if (rows[i].ambiguous)
            assert_says("the order of the files is ambiguous, because the numbers");
        for (size_t k = 0; k < n && !rows[i].ambiguous; k++) {
            assert_string_equal(paths[k], rows[i].names[k]);
            if (numbering.places && numbering.places[k] != rows[i].places[k])
                fail_msg("%s: place %zu", paths[k], numbering.places[k]);
        }
        if (i == 0)
            assert_contains(numbering.gaps, "the file numbers have more gaps than there are");
        if (!numbering.places && rows[i].places[n - 1] > 0)
            fail_msg("%s: no number is missing", paths[0]);
        fbp_numbering_clear(&numbering);
    }
}

TEST_MAIN(NULL, NULL)
