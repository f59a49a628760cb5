/* Pages: what they hold against the volume that they were made of, histograms, texts of files. */
#include "page/page.h"

#include "cli/page_parts.h"
#include "test.h"

enum { MOST = 1 << 22 };

/* A volume in memory and its page. */
struct made {
    fbp_source *source;
    struct page page;
    struct reduced reduced;
    cJSON *meta;
    size_t n[3], join[3], bins[3], frames;
};

static double number(const cJSON *object, const char *key, int i)
{
    const cJSON *item = not_null(cJSON_GetObjectItemCaseSensitive(object, key));

    return cJSON_IsArray(item) ? cJSON_GetArrayItem(item, i)->valuedouble : item->valuedouble;
}

static void make(struct made *m, const void *samples, const struct fbp_array_info *info,
                 uint64_t bytes)
{
    const struct page_wish wish = {
        .volume = {.name = "a volume", .frame = SIZE_MAX, .bytes = bytes, .quiet = true},
        .window = {NAN, NAN}};

    *m = (struct made){.page = {.title = "t"}};
    OK(fbp_source_memory(&m->source, samples, info));
    assert_int_equal(page_view(&m->page, m->source, &wish, &m->reduced), 0);
    assert_false(m->page.data.failed || m->page.viewer.failed);
    const char *text = not_null(element(m->page.viewer.bytes, "id=\"meta\">", 0));
    m->meta = cJSON_Parse(text);
    assert_non_null(m->meta);
    for (int a = 0; a < 3; a++) {
        m->n[a] = (size_t)number(m->meta, "size", a);
        m->join[a] = (size_t)number(m->meta, "join", a);
        m->bins[a] = (size_t)number(m->meta, "bins", a);
    }
    m->frames = (size_t)number(m->meta, "frames", 0);
}

static void drop(struct made *m)
{
    cJSON_Delete(m->meta);
    page_clear(&m->page);
    reduced_clear(&m->reduced);
    fbp_source_close(&m->source);
}

static int width_of(const struct made *m)
{
    const char *type = cJSON_GetObjectItem(m->meta, "type")->valuestring;

    return strcmp(type, "u8") == 0 ? 1 : strcmp(type, "u16") == 0 ? 2 : 4;
}

static double value_of(const cJSON *scale, double number_)
{
    return number_ >= 0 && !(number_ < number(scale, "none", 0)) &&
                   !(number_ > number(scale, "none", 0))
               ? NAN
               : number(scale, "offset", 0) + number(scale, "scale", 0) * number_;
}

/* All samples of a page: [frames][bins z][y][x]; free(). */
static double *samples_of(const struct made *m)
{
    const size_t layer = m->bins[0] * m->bins[1], all = m->frames * layer * m->bins[2];
    const size_t layers = (size_t)number(m->meta, "layers", 0);
    const int width = width_of(m);
    double *out = malloc(all * sizeof *out);
    size_t done = 0;

    for (size_t f = 0, e = 0; f < m->frames; f++)
        for (size_t z = 0; z < m->bins[2]; z += layers, e++) {
            const char *at = not_null(element(m->page.data.bytes, "class=\"samples\">", e));
            size_t n;
            AUTO_FREE uint8_t *bytes = unpacked(at, MOST, &n);
            n /= (size_t)width;
            assert_int_equal(n % layer, 0);
            for (size_t i = 0; i < n; i++)
                out[done++] = value_of(m->meta, number_at(bytes, n, i, width, m->bins[0]));
        }
    assert_int_equal(done, all);
    assert_null(element(m->page.data.bytes, "class=\"samples\">",
                        (all + layer * layers * m->frames - 1) / layer));
    return out;
}

/* The mean of the finite voxels of a bin, and the greatest of voxels [from, to) x ... */
static double mean_of(const struct made *m, const float *volume, size_t f, const size_t b[3],
                      bool down)
{
    double sum = 0, n = 0;

    for (size_t z = b[2] * m->join[2]; z < (b[2] + 1) * m->join[2] && z < m->n[2]; z++)
        for (size_t y = b[1] * m->join[1]; y < (b[1] + 1) * m->join[1] && y < m->n[1]; y++)
            for (size_t x = b[0] * m->join[0]; x < (b[0] + 1) * m->join[0] && x < m->n[0]; x++) {
                const size_t row = down ? m->n[1] - 1 - y : y;
                const float v = volume[((f * m->n[2] + z) * m->n[1] + row) * m->n[0] + x];
                if (isfinite(v)) {
                    sum += (double)v;
                    n++;
                }
            }
    return n > 0 ? sum / n : NAN;
}

static void check_samples(const struct made *m, const float *volume, bool down, double tolerance)
{
    AUTO_FREE double *samples = samples_of(m);
    size_t i = 0;

    for (size_t f = 0; f < m->frames; f++)
        for (size_t z = 0; z < m->bins[2]; z++)
            for (size_t y = 0; y < m->bins[1]; y++)
                for (size_t x = 0; x < m->bins[0]; x++, i++) {
                    const double want = mean_of(m, volume, f, (size_t[]){x, y, z}, down);
                    if (isnan(want))
                        assert_true(isnan(samples[i]));
                    else if (!(fabs(samples[i] - want) <= tolerance))
                        fail_msg("frame %zu bin %zu %zu %zu: %.9g instead of %.9g (%.3g)", f, x, y,
                                 z, samples[i], want, tolerance);
                }
}

/* The planes of greatest values of frame f against all voxels. */
static void check_greatest(const struct made *m, const float *volume, size_t f, bool down)
{
    const cJSON *scale = cJSON_GetObjectItem(m->meta, "greatest");
    const double tolerance = number(scale, "scale", 0) * 0.51;

    for (int p = 0; p < 3; p++) {
        const int right = reduced_axes[p][0], up = reduced_axes[p][1];
        const size_t w = m->bins[right], all = w * m->bins[up];
        AUTO_FREE double *want = malloc(all * sizeof *want);
        size_t n, i = 0;
        AUTO_FREE uint8_t *bytes = unpacked(
            element(m->page.data.bytes, "class=\"greatest\">", 3 * f + (size_t)p), MOST, &n);
        assert_int_equal(n, 2 * all);
        for (size_t k = 0; k < all; k++)
            want[k] = -INFINITY;
        for (size_t z = 0; z < m->n[2]; z++)
            for (size_t row = 0; row < m->n[1]; row++)
                for (size_t x = 0; x < m->n[0]; x++, i++) {
                    const size_t at[3] = {x, down ? m->n[1] - 1 - row : row, z};
                    double *bin = &want[at[up] / m->join[up] * w + at[right] / m->join[right]];
                    const float v = volume[f * m->n[0] * m->n[1] * m->n[2] + i];
                    if (isfinite(v))
                        *bin = fmax(*bin, (double)v);
                }
        for (size_t k = 0; k < all; k++) {
            const double got = value_of(scale, number_at(bytes, all, k, 2, w));
            if (isinf(want[k]) ? !isnan(got) : !(fabs(got - want[k]) <= tolerance))
                fail_msg("plane %d, %zu: %.9g instead of %.9g", p, k, got, want[k]);
        }
    }
}

/* Values with a part that is no number, and one far from the others. */
static float *some_values(size_t n)
{
    float *v = malloc(n * sizeof *v);

    for (size_t i = 0; i < n; i++)
        v[i] = sinf((float)i * 0.37f) * 5 + (float)(i % 17);
    return v;
}

static struct fbp_array_info floats(size_t x, size_t y, size_t z)
{
    return (struct fbp_array_info){.struct_size = sizeof(struct fbp_array_info),
                                   .n = {x, y, z},
                                   .type = FBP_F32,
                                   .row_order = FBP_ROWS_BOTTOM_UP};
}

/* What fits is stored bit for bit; NaN and infinity are no numbers, and counted. */
TEST(a_small_volume_is_there_as_it_is)
{
    struct made m;
    const struct fbp_array_info info = floats(13, 7, 5);
    AUTO_FREE float *v = some_values(13 * 7 * 5);

    make(&m, v, &info, 1 << 20);
    assert_true(reduced_is_whole(&m.reduced));
    check_samples(&m, v, false, 0);
    check_greatest(&m, v, 0, false);
    assert_int_equal(number(m.meta, "finite", 0), 13 * 7 * 5);
    drop(&m);
}

TEST(a_large_volume_becomes_means)
{
    struct made m;
    const struct fbp_array_info info = floats(41, 30, 23);
    AUTO_FREE float *v = some_values(41 * 30 * 23);

    for (size_t i = 0; i < 41 * 8; i++)
        v[i] = i % 3 ? NAN : INFINITY;
    make(&m, v, &info, 16000);
    assert_false(reduced_is_whole(&m.reduced));
    assert_true(m.page.data.n <= 16000 + 2000);
    check_samples(&m, v, false, number(m.meta, "scale", 0) * 0.51);
    check_greatest(&m, v, 0, false);
    assert_int_equal(number(m.meta, "not_finite", 0), 41 * 8);
    assert_int_equal(number(m.meta, "finite", 0) + 41 * 8, 41 * 30 * 23);
    assert_contains(m.page.viewer.bytes, "<strong>Reduced:</strong>");
    drop(&m);
}

/* Frames lie behind each other, rows of the file may come from the top: then y counts from its
 * end, and positions with it. */
TEST(frames_and_rows_from_the_top)
{
    struct made m;
    struct fbp_array_info info = floats(9, 8, 21);
    AUTO_FREE float *v = some_values(9 * 8 * 21);

    info.time_points = 3;
    info.row_order = FBP_ROWS_TOP_DOWN;
    make(&m, v, &info, 1 << 20);
    assert_int_equal(m.frames, 3);
    assert_int_equal(m.n[2], 7);
    check_samples(&m, v, true, 0);
    for (size_t f = 0; f < 3; f++)
        check_greatest(&m, v, f, true);
    drop(&m);
    make(&m, v, &info, 2500);
    check_samples(&m, v, true, number(m.meta, "scale", 0) * 0.51);
    drop(&m);
}

/* Integers of 8 and 16 bits, with and without sign: all of them are there, the greatest exactly. */
TEST(integers_are_exact)
{
    static const enum fbp_type types[] = {FBP_U8, FBP_I8, FBP_U16, FBP_I16};
    enum { N = 40 };

    for (size_t t = 0; t < 4; t++) {
        struct made m;
        struct fbp_array_info info = floats(N, 3, 2);
        uint8_t bytes[N * 3 * 2 * 2];
        float want[N * 3 * 2];
        info.type = types[t];
        for (size_t i = 0; i < N * 3 * 2; i++) {
            const int v = (int)(i * 7919 % 65536);
            const uint16_t u = (uint16_t)v;
            const int16_t s = (int16_t)(v - 32768);
            if (t < 2)
                bytes[i] = (uint8_t)v;
            else
                memcpy(bytes + 2 * i, t == 2 ? (const void *)&u : (const void *)&s, 2);
            want[i] = t == 0 ? (float)(uint8_t)v : t == 1 ? (float)(int8_t)v : t == 2 ? u : s;
        }
        make(&m, bytes, &info, 1 << 20);
        check_samples(&m, want, false, 0);
        check_greatest(&m, want, 0, false);
        assert_int_equal(width_of(&m), t < 2 ? 1 : 2);
        drop(&m);
    }
}

/* Nothing but what is no number, one value, one voxel. */
TEST(hardly_a_volume)
{
    const float values[3][8] = {
        {NAN, NAN, INFINITY, NAN, NAN, NAN, NAN, NAN}, {3, 3, 3, 3, 3, 3, 3, 3}, {-2}};

    for (size_t i = 0; i < 3; i++) {
        struct made m;
        const struct fbp_array_info info = i == 2 ? floats(1, 1, 1) : floats(2, 2, 2);
        make(&m, values[i], &info, 1 << 20);
        check_samples(&m, values[i], false, 0);
        assert_true(number(m.meta, "window", 0) < number(m.meta, "window", 1));
        assert_true(number(m.meta, "histogram", 0) >= 0 || true);
        drop(&m);
    }
}

static uint64_t told(const struct histogram *h, size_t most, double *lo, double *width, size_t *n)
{
    static uint64_t counts[HISTOGRAM_BINS];
    uint64_t all = 0;

    *n = histogram_tell(h, most, lo, width, counts);
    for (size_t i = 0; i < *n; i++)
        all += counts[i];
    return all;
}

/* However the range grows, every value is counted, in the bin that it lies in. */
TEST(histograms_count_all)
{
    static const float steps[] = {1, 1, 1.0001f, 1.5f, -3, 100, 1e6f, -1e30f, NAN, 3e38f};
    AUTO_FREE struct histogram *h = calloc(1, sizeof *h);
    double lo, width;
    size_t n;

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        histogram_add(h, &steps[i], 1);
    assert_int_equal(told(h, 512, &lo, &width, &n), 9);
    assert_true(n <= 512);
    assert_true(lo <= -1e30 && lo + width * (double)n >= 3e38);
    *h = (struct histogram){.step = 1};
    for (int v = 0; v < 256; v++)
        histogram_add(h, (float[]){(float)(v * 37 % 256), (float)(v * 37 % 256)}, 2);
    assert_int_equal(told(h, 512, &lo, &width, &n), 512);
    assert_int_equal(n, 256); /* each integer has its own bin, whatever came first */
    assert_true(fabs(lo + 0.5) < 1e-12 && fabs(width - 1) < 1e-12);
}

TEST(texts_are_escaped)
{
    struct markup m = {0};

    markup_escaped(&m, "<script>\"a\" & 'b'</script>\x1b[1m\xff");
    assert_string_equal(m.bytes, "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;"
                                 "\\u001b[1m\\u00ff");
    markup_clear(&m);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "a", "</script><!--&");
    markup_json(&m, object);
    assert_null(strpbrk(m.bytes, "<>&"));
    object = cJSON_Parse(m.bytes);
    assert_string_equal(cJSON_GetObjectItem(object, "a")->valuestring, "</script><!--&");
    cJSON_Delete(object);
    markup_clear(&m);
    markup_base64(&m, "a", 1);
    markup_base64(&m, "ab", 2);
    markup_base64(&m, "abc", 3);
    assert_string_equal(m.bytes, "YQ==YWI=YWJj");
    markup_clear(&m);
}

TEST_MAIN(NULL, NULL)
