/* Checks that volumes described by .vgi files are read, and that wrong descriptions are refused. */
#include "unit/foreign_files.h"
#include "unit/foreign_texts.h"

enum { NX = 4, NY = 3, NZ = 2, N = NX * NY * NZ };

/* Write a changed description v.vgi, and n bytes of samples into v.vol. */
static void put(const char *from, const char *to, const void *samples, size_t n)
{
    write_changed("v.vgi", volume_vgi, from, to);
    put_file(in_folder("v.vol"), samples, n);
}

/* The volume has this type and the values first, first + 1, … */
static void has_values(enum fbp_type type, float first)
{
    fbp_source *source = NULL;
    float values[N];

    OK(fbp_source_open(&source, in_folder("v.vgi"), NULL));
    const struct fbp_array_info *info = fbp_source_info(source);
    assert_string_equal(info->format, "vgi");
    assert_int_equal(info->type, type);
    assert_true(info->n[0] == NX && info->n[1] == NY && info->n[2] == NZ);
    OK(fbp_source_read(source, 0, NZ, 0, NY, FBP_F32, values));
    for (int i = 0; i < N; i++)
        assert_true(fabsf(values[i] - (first + (float)i)) < 1e-6f);
    fbp_source_close(&source);
}

static void refuses_volume(const char *from, const char *to, const char *message)
{
    static const unsigned char samples[2 * N];
    fbp_source *source = NULL;

    put(from, to, samples, sizeof samples);
    assert_int_not_equal(fbp_source_open(&source, in_folder("v.vgi"), NULL), FBP_OK);
    assert_null(source);
    assert_contains(fbp_message(), message);
    assert_contains(fbp_message(), "v.vgi");
}

TEST(types)
{
    unsigned char bytes[4 * N + 3] = {0};

    for (unsigned i = 0; i < N; i++)
        bytes[2 * i] = (unsigned char)(7 + i); /* little-endian */
    put(NULL, NULL, bytes, sizeof(uint16_t) * N);
    has_values(FBP_U16, 7);
    put("Datatype = unsigned integer", "Datatype = uint16", bytes, sizeof(uint16_t) * N);
    has_values(FBP_U16, 7);
    memmove(bytes + 3, bytes, 2 * N);
    put("[file1]", "[file1]\r\nSkipHeader = 3", bytes, 2 * N + 3);
    has_values(FBP_U16, 7);

    for (unsigned i = 0; i < N; i++)
        bytes[i] = (unsigned char)(100 + i);
    put("BitsPerElement = 16", "BitsPerElement = 8", bytes, N);
    has_values(FBP_U8, 100);

    float floats[N];
    for (int i = 0; i < N; i++)
        floats[i] = -3 + (float)i;
    put("Datatype = unsigned integer\r\nBitsPerElement = 16", "Datatype = float", floats,
        sizeof floats);
    has_values(FBP_F32, -3);
}

TEST(spacing_and_names)
{
    static const unsigned char samples[2 * N];
    fbp_source *source = NULL;

    put(NULL, NULL, samples, sizeof samples);
    OK(fbp_source_open(&source, in_folder("v.vgi"), NULL));
    const struct fbp_array_info *info = fbp_source_info(source);
    assert_true(info->has_spacing);
    assert_true(fabs(info->spacing_mm[0] - 0.05) < 1e-12);
    assert_true(fabs(info->spacing_mm[2] - 0.06) < 1e-12);
    fbp_source_close(&source);

    put("resolution", "_", samples, sizeof samples);
    OK(fbp_source_open(&source, in_folder("v.vgi"), NULL));
    assert_false(fbp_source_info(source)->has_spacing);
    fbp_source_close(&source);

    /* a path of the computer of the scanner, and a volume turned by half a turn */
    put("Name = v.vol", "Mirror = 0 1 1\r\nName = X:\\24082020 a\\v.vol", samples, sizeof samples);
    OK(fbp_source_open(&source, in_folder("v.vgi"), NULL));
    fbp_source_close(&source);
    put("Name = v.vol", "Name = ./v.vol", samples, sizeof samples);
    OK(fbp_source_open(&source, in_folder("v.vgi"), NULL));
    fbp_source_close(&source);
}

TEST(wrong_descriptions_are_refused)
{
    refuses_volume("Size = 4 3 2", "Size = 4 3", "found Size \"4 3\"");
    refuses_volume("Size = 4 3 2", "Size = 4 3 0", "v.vgi");
    refuses_volume("Size = 4 3 2", "Size = 4 3 3", "truncated");
    refuses_volume("[file1]", "[file1]\r\nSkipHeader = -1", "SkipHeader -1");
    refuses_volume("Datatype = unsigned integer", "Datatype = rgb", "Datatype \"rgb\"");
    refuses_volume("BitsPerElement = 16", "BitsPerElement = 12", "of 12 bits");
    refuses_volume("BitsPerElement = 16", "BitsPerElement = -16", "of -16 bits");
    refuses_volume("BitsPerElement = 16\r\n", "", "of 0 bits");
    refuses_volume("Name = v.vol\r\n", "", "0 files of samples");
    refuses_volume("Name = v.vol", "Name = none.vol", "none.vol");
    refuses_volume("{volumep", "[file2]\r\nName = w.vol\r\n{volumep", "2 files of samples");
    refuses_volume("FileFormat = raw", "FileFormat = tiff", "FileFormat \"tiff\"");
    refuses_volume("[file1]", "[file1]\r\nMirror = 0 0 1", "Mirror = 0 0 1 is not supported");
    refuses_volume("[file1]", "[file1]\r\nMirror = yes", "Mirror = yes is not supported");
    refuses_volume("resolution = 0.05", "resolution = 0", "found resolution \"0 0.05 0.06\", unit \"mm\"");
    refuses_volume("unit = mm", "unit = inch", "0.06\", unit \"inch\", expected three");
}

TEST_MAIN(make_files, drop_files)
