/* Checks that the table of array formats states what the readers and writers do, that
 * docs/formats.md agrees with it, and that one struct and a line of list.h add a format. */
#include "unit/io_util.h"
#include "unit/one_array.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "base/base.h"
#include "base/text.h"
#include "choices.h"

#include <sys/stat.h>

#define DIR_ FBP_TEST_DIR "/io_formats"

enum { NX = 5, NY = 4, NZ = 3, N = NX * NY * NZ };

/* A made-up format: 16 bytes of header, "TOY", a digit for the type, and three sizes; then the
 * samples, little-endian.  This and a line in array/format/list.h is all that a format takes. */

enum { TOY_BYTES = 16 };

static bool toy_detect(const char *path, const unsigned char *head, size_t n)
{
    return n >= TOY_BYTES && memcmp(head, "TOY", 3) == 0;
}

static fbp_status toy_open(fbp_source *src)
{
    uint32_t head[TOY_BYTES / 4];

    FBP_TRY(fbp_read_at(src->fd, src->path, 0, head, sizeof head));
    src->info.type = (enum fbp_type)((const char *)head)[3];
    for (int i = 0; i < 3; i++)
        src->info.n[i] = head[i + 1];
    src->offset = TOY_BYTES;
    return FBP_OK;
}

static void toy_header(const struct fbp_array_info *info, char head[TOY_BYTES])
{
    const uint32_t n[3] = {(uint32_t)info->n[0], (uint32_t)info->n[1], (uint32_t)info->n[2]};

    memcpy(head, "TOY", 3);
    head[3] = (char)info->type;
    memcpy(head + 4, n, sizeof n);
}

static fbp_status toy_layout(const char *path, const struct fbp_array_info *info,
                             uint64_t compressed_bytes, struct fbp_layout *out)
{
    FBP_TRY(fbp_calloc((void **)&out->header, TOY_BYTES, 1, "a header"));
    toy_header(info, out->header);
    out->header_bytes = TOY_BYTES;
    return fbp_layout_one(out, path);
}

static fbp_status toy_encode(struct fbp_write_buffer *p, const struct fbp_array_info *slice,
                             const void *values, uint64_t *clipped)
{
    char head[TOY_BYTES];

    toy_header(slice, head);
    FBP_TRY(fbp_write_buffer_put(p, head, sizeof head));
    return fbp_write_buffer_put_values(p, slice, values, slice->n[0] * slice->n[1], clipped);
}

static const struct fbp_sink_format toy_files[] = {{.extensions = ".toy", .layout = toy_layout},
                                                   {0}};
static const struct fbp_slice_format toy_slices = {.extensions = ".toy", .encode = toy_encode};
static const struct fbp_format toy = {
    .name = "toy",
    .title = "Toy",
    .extensions = ".toy",
    .detect = toy_detect,
    .open = toy_open,
    .files = toy_files,
    .slices = &toy_slices,
};

static const struct fbp_array_info volume = {.struct_size = sizeof volume, .n = {NX, NY, NZ}};

static void fill(float *values)
{
    for (int i = 0; i < N; i++)
        values[i] = (float)(i % 11);
}

static int set_up(void **state)
{
    mkdir(DIR_, 0777);
    return fbp_formats_add(&toy) ? 0 : -1; /* before anything is asked of the table */
}

static const struct fbp_array_format *find(const char *name)
{
    for (const struct fbp_array_format *const *f = fbp_array_formats(); *f; f++)
        if (strcmp((*f)->name, name) == 0)
            return *f;
    return NULL;
}

TEST(test_a_format_more_is_listed)
{
    const struct fbp_array_format *f = not_null(find("toy"));
    char text[400];

    assert_string_equal(f->title, "Toy");
    assert_string_equal(f->read, ".toy");
    assert_string_equal(f->written, ".toy");
    assert_string_equal(f->slices, ".toy");
    assert_string_equal(f->compressed, "");
    assert_false(f->headerless || f->has_members || f->integers_only);
    /* The command: options, helps and errors. */
    assert_true(cli_is_volume("volume.TOY"));
    assert_false(cli_can_compress("volume.toy"));
    assert_contains(cli_volumes(), " or .toy");
    cli_with_formats("one of {written}; or {read}", text, sizeof text);
    assert_contains(text, ", .toy; or .mha, ");
}

TEST(test_a_format_more_is_written_and_read)
{
    const char *path = DIR_ "/volume.toy";
    float values[N], back[N] = {0};
    struct fbp_array_info info;

    fill(values);
    assert_true(array_write(path, &volume, values));
    assert_true(array_read(path, &info, back));
    assert_string_equal(info.format, "toy");
    assert_int_equal(info.type, FBP_F32);
    assert_memory_equal(values, back, sizeof values);
    assert_int_equal(rename(path, DIR_ "/nameless"), 0); /* it is known by its content */
    assert_true(array_read(DIR_ "/nameless", &info, back));
    assert_string_equal(info.format, "toy");
    unlink(DIR_ "/nameless");
}

TEST(test_a_format_more_is_written_as_integers_and_as_slices)
{
    const struct fbp_sink_params params = {
        .struct_size = sizeof params, .type = FBP_U8, .range = {0, 255}};
    float values[N], back[N] = {0};
    struct fbp_array_info info;

    fill(values);
    save_array(DIR_ "/slices/s_%02d.toy", &volume, &params, values);
    assert_true(array_read(DIR_ "/slices/s_%02d.toy 0 2", &info, back));
    assert_int_equal(info.type, FBP_U8);
    assert_memory_equal(values, back, sizeof values);
    memset(back, 0, sizeof back);
    assert_true(array_read(DIR_ "/slices", &info, back)); /* by the names in a folder */
    assert_memory_equal(values, back, sizeof values);
    assert_contains(info.taken, "3 toy files");
}

/* Write and read as the table says; PNG holds one slice a file and no floats. */
static void round_trip(const struct fbp_array_format *f, const char *extension, const char *name)
{
    const struct fbp_sink_params params = {.struct_size = sizeof params,
                                           .type = f->integers_only ? FBP_U16 : FBP_F32,
                                           .range = {0, 65535}};
    const struct fbp_raw raw = {.type = f->headerless ? FBP_F32 : FBP_TYPE_NONE, .n = {NX, NY, NZ}};
    float values[N], back[N] = {0};

    fill(values);
    AUTO_FREE char *path = printed(DIR_ "/%s%s", name, extension);
    save_array(path, &volume, &params, values);
    AUTO_FREE char *numbered = printed(strchr(name, '%') ? "%s 0 2" : "%s", path);
    fbp_source *src = open_source(numbered, &raw);
    OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, back));
    fbp_source_close(&src);
    assert_memory_equal(values, back, sizeof values);
    assert_true(cli_is_volume(numbered) || strchr(name, '%'));
}

static void each(const struct fbp_array_format *f, const char *extensions, const char *name)
{
    for (const char *p = extensions; *p;) {
        const size_t n = strcspn(p, " ");

        AUTO_FREE char *extension = printed("%.*s", (int)n, p);
        round_trip(f, extension, name);
        if (!f->headerless)
            assert_true(fbp_has_extension(extension, f->read));
        p += n + strspn(p + n, " ");
    }
}

TEST(test_what_is_listed_as_written_is)
{
    for (const struct fbp_array_format *const *f = fbp_array_formats(); *f; f++) {
        each(*f, (*f)->written, "volume");
        each(*f, (*f)->slices, "stack_%02d");
    }
}

/* "`.mha` `.mhd`" */
static void cell(const char *extensions, char *buf, size_t n)
{
    buf[0] = '\0';
    for (const char *p = extensions; *p;) {
        const size_t length = strcspn(p, " "), at = strlen(buf);
        snprintf(buf + at, n - at, "%s`%.*s`", at ? " " : "", (int)length, p);
        p += length + strspn(p + length, " ");
    }
}

/* The row's first five columns; what stands behind them is for people. */
static void row(const struct fbp_array_format *f, char *buf, size_t n)
{
    char read[120], written[120], compressed[120], slices[120];

    cell(f->read, read, sizeof read);
    cell(f->written, written, sizeof written);
    cell(f->compressed, compressed, sizeof compressed);
    cell(f->slices, slices, sizeof slices);
    snprintf(buf, n, "\n| %s | %s | %s | %s | %s |", f->title,
             f->headerless ? "by a description" : read, written, compressed, slices);
}

TEST(test_the_docs_have_the_table)
{
    size_t n, rows = 0, listed = 0;
    char *page = get_file(FBP_DOCS "/formats.md", &n), expected[600];

    for (const struct fbp_array_format *const *f = fbp_array_formats(); *f; f++) {
        if (strcmp((*f)->name, "toy") == 0)
            continue;
        row(*f, expected, sizeof expected);
        if (!strstr(page, expected))
            fail_msg("docs/formats.md lacks the row%s …", expected);
        listed++;
    }
    const char *p = strstr(page, "|---|---|---|---|---|---|\n");
    assert_non_null(p);
    for (p = strchr(p, '\n') + 1; *p == '|'; p = strchr(p, '\n') + 1)
        rows++;
    assert_int_equal(rows, listed);
    free(page);
}

/* Names and extensions say which format is meant, so that no two formats have one. */
TEST(test_names_are_one_formats)
{
    const struct fbp_array_format *const *all = fbp_array_formats();

    for (size_t i = 0; all[i]; i++)
        for (size_t k = 0; all[k]; k++) {
            if (i == k)
                continue;
            assert_string_not_equal(all[i]->name, all[k]->name);
            for (const char *p = all[i]->read; *p;) {
                const size_t n = strcspn(p, " ");

                AUTO_FREE char *one = printed("%.*s", (int)n, p);
                assert_false(fbp_has_extension(one, all[k]->read));
                p += n + strspn(p + n, " ");
            }
        }
}

TEST_MAIN(set_up, NULL)
