/* Checks that files of Bruker's EPR spectrometers (BES3T, .dsc and .dta) are read: samples of all
 * types, images as scans, and the published helix in ../shared/data if it is present. */
#include "unit/io_util.h"

#include "fbp/scan.h"
#include "scan/file/scan.h"
enum { NX = 6, NY = 4, NZ = 2, N = NX * NY * NZ };

#define STEM    FBP_TEST_DIR "/io_bes3t"
#define DSC     STEM ".DSC"
#define DTA     STEM ".DTA"
#define FUSILLO FBP_SHARED_DATA "/epr_fusillo/fusillo-20091002"

#define POINTS "XPTS\t6\r\nYPTS\t4\r\nZPTS\t2\r\n"

static void put_text(const char *path, const char *text)
{
    put_file(path, text, strlen(text));
}

/* Number i of a type, as its bytes in this order. */
static size_t put_number(char format, bool big, int i, unsigned char *out)
{
    const int8_t c = (int8_t)i;
    const int16_t s = (int16_t)(300 * i);
    const int32_t l = 100000 * i;
    const float f = (float)i / 4;
    const double d = i / 8.;
    const void *from = format == 'C'   ? (const void *)&c
                       : format == 'S' ? (const void *)&s
                       : format == 'I' ? (const void *)&l
                       : format == 'F' ? (const void *)&f
                                       : (const void *)&d;
    const size_t n = format == 'C' ? 1 : format == 'S' ? 2 : format == 'D' ? 8 : 4;

    for (size_t k = 0; k < n; k++)
        out[big ? n - 1 - k : k] = ((const unsigned char *)from)[k];
    return n;
}

static float number(char format, int i)
{
    return format == 'C'   ? (float)i
           : format == 'S' ? (float)(300 * i)
           : format == 'I' ? (float)(100000 * i)
           : format == 'F' ? (float)i / 4
                           : (float)i / 8;
}

/* parts: 2 of complex numbers, of which the imaginary ones are negative. */
static void put_files(char format, bool big, int parts)
{
    unsigned char bytes[2 * N * 8];
    char text[300];
    size_t n = 0;

    for (int i = 0; i < N; i++)
        for (int p = 0; p < parts; p++)
            n += put_number(format, big, p ? -i : i, bytes + n);
    snprintf(text, sizeof text,
             "#DESC\t1.2 * DESCRIPTOR\r\n*\r\nBSEQ\t%s\r\nIKKF\t%s\r\nIRFMT\t%c\r\n" POINTS,
             big ? "BIG" : "LIT", parts == 2 ? "CPLX" : "REAL", format);
    put_file(DTA, bytes, n);
    put_text(DSC, text);
}

static void assert_holds(const char *path, char format, int sign, const size_t n[3])
{
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    float out[N];

    assert_memory_equal(fbp_source_info(src)->n, n, 3 * sizeof *n);
    OK(fbp_source_read(src, 0, n[2], 0, n[1], FBP_F32, out));
    for (int i = 0; i < N; i++)
        assert_true(out[i] == number(format, sign * i));
    OK(fbp_source_read(src, n[2] - 1, 1, n[1] - 1, 1, FBP_F32, out));
    assert_true(out[NX - 1] == number(format, sign * (N - 1)));
}

TEST(all_types_and_orders_are_read)
{
    static const size_t whole[3] = {NX, NY, NZ}, rows[3] = {NX, 1, NY * NZ};

    for (const char *f = "CSIFD"; *f; f++)
        for (int big = 0; big < 2; big++)
            for (int parts = 1; parts <= 2; parts++) {
                put_files(*f, big, parts);
                assert_holds(DSC, *f, 1, whole);
                assert_holds(DTA, *f, 1, whole);
                assert_holds(DSC ":sinogram", *f, 1, rows);
                if (parts == 2)
                    assert_holds(DSC ":imaginary", *f, -1, whole);
            }
}

static void refused(const char *path, const char *word)
{
    fbp_source *src = NULL;

    assert_int_not_equal(fbp_source_open(&src, path, NULL), FBP_OK);
    assert_says(word);
}

TEST(real_parts_are_said)
{
    put_files('F', false, 2);
    fbp_source *src = open_source(DSC, NULL);
    assert_contains(fbp_source_info(src)->taken, "real parts");
    fbp_source_close(&src);
    put_files('F', false, 1);
    src = open_source(DSC, NULL);
    assert_string_equal(fbp_source_info(src)->taken, "");
    fbp_source_close(&src);
    refused(DSC ":imaginary", "not complex");
    refused(DSC ":spectrum", "no array spectrum");
    assert_int_equal(remove(DTA), 0);
    refused(DSC, "copy the .DTA file");
    put_files('F', false, 1);
    assert_int_equal(remove(DSC), 0);
    refused(DTA, "io_bes3t.DSC");
}

#define IMAGE                                                                                    \
    "#DESC\t1.2\nBSEQ\tLIT\nIKKF\tREAL\nIRFMT\tC\nXTYP\tIDX\nXPTS\t6\nXMIN\t300\nXWID\t%s\n"     \
    "YPTS\t8\nXUNI\t'%s'\n#SPL\t1.2\nGRAD\t20\nIMTY\t3D\n#DSL\t1.0\n\n.DVC     grdUnit, 1.0\n\n" \
    "FieldOfView        2 cm\nFirstAlpha         22.5 deg\nNPixel             5\n"               \
    "NrOfAlpha          4\nNrOfBeta           2\n"

static struct fbp_scan load_image(const char *width, const char *unit)
{
    put_files('C', false, 1);
    AUTO_FREE char *text = printed(IMAGE, width, unit);
    put_text(DSC, text);
    return open_scan(DSC);
}

/* 10 G in 5 steps under 20 G/cm are 1 mm a step; against the gradient as the field rises. */
TEST(an_image_is_a_scan)
{
    static const struct {
        const char *width, *unit;
        double sign;
    } cases[] = {{"10", "G", -1}, {"-10", "G", 1}, {"1", "mT", -1}, {"1e-3", "T", -1}};
    const double degree = acos(-1) / 180;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_CLEAR struct fbp_scan scan = load_image(cases[i].width, cases[i].unit);
        assert_int_equal(scan.kind, FBP_PLANES);
        assert_int_equal(scan.n_views, 8);
        assert_int_equal(scan.panel.n_columns, 6);
        assert_int_equal(scan.panel.n_rows, 1);
        assert_int_equal(scan.volume.n[2], 5);
        assert_true(fabs(scan.volume.voxel_mm[0] - 4) < 1e-12);
        assert_true(fbp_scan_reads(&scan, DTA) && fbp_scan_reads(&scan, DSC));
        assert_int_equal(scan.n_assumed, 1);
        for (size_t k = 0; k < 8; k++) {
            const double a = 22.5 * degree * (double)(1 + 2 * (k % 4)),
                         b = 45 * degree * (double)(1 + 2 * (k / 4));
            const double n[3] = {cos(a) * sin(b), sin(a) * sin(b), cos(b)};
            for (int c = 0; c < 3; c++)
                assert_true(fabs(scan.views[k].u[c] - cases[i].sign * n[c]) < 1e-12 &&
                            fabs(scan.views[k].d[c]) < 1e-12);
        }
    }
}

#define XGF STEM ".XGF"

/* The image above, whose field stands in a file of its own. */
static void put_listed(char format, bool big, const double *field, size_t n)
{
    unsigned char bytes[16 * 8];
    char text[700], head[40];

    put_files('C', false, 1);
    for (size_t i = 0, at = 0; i < n; i++) {
        const float f = (float)field[i];
        const int32_t l = (int32_t)field[i];
        const void *from = format == 'D'   ? (const void *)&field[i]
                           : format == 'F' ? (const void *)&f
                                           : (const void *)&l;
        const size_t size = format == 'D' ? 8 : 4;
        for (size_t k = 0; k < size; k++)
            bytes[at + (big ? size - 1 - k : k)] = ((const unsigned char *)from)[k];
        at += size;
    }
    put_file(XGF, bytes, n * (format == 'D' ? 8 : 4));
    snprintf(text, sizeof text, IMAGE, "77", "G"); /* a width that nobody reads */
    memcpy(strstr(text, "XTYP\tIDX"), "XTYP\tIGD", 8);
    memcpy(strstr(text, "BSEQ\tLIT"), big ? "BSEQ\tBIG" : "BSEQ\tLIT", 8);
    snprintf(head, sizeof head, "XFMT\t%c\n#SPL", format);
    char *spl = strstr(text, "#SPL");
    memmove(spl + strlen(head) - 4, spl, strlen(spl) + 1);
    memcpy(spl, head, strlen(head));
    put_text(DSC, text);
}

TEST(listed_places_are_read)
{
    static const double even[6] = {300, 302, 304, 306, 308, 310};

    for (const char *f = "DFI"; *f; f++)
        for (int big = 0; big < 2; big++) {
            AUTO_CLEAR struct fbp_scan scan = {.struct_size = sizeof scan};
            put_listed(*f, big, even, 6);
            if (fbp_scan_load(&scan, DSC, NULL) != FBP_OK)
                fail_msg("%c, %d: %s", *f, big, fbp_message());
            AUTO_CLEAR struct fbp_scan usual = load_image("10", "G");
            assert_memory_equal(scan.views, usual.views, 8 * sizeof *scan.views);
            assert_true(fbp_scan_reads(&scan, XGF));
        }
    remove(XGF);
}

static void listed_refused(char format, const double *field, size_t n, const char *says)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    put_listed(format, false, field, n);
    assert_int_not_equal(fbp_scan_load(&scan, DSC, NULL), FBP_OK);
    if (!strstr(fbp_message(), says) || !strstr(fbp_message(), "io_bes3t.DSC"))
        fail_msg("\"%s\" does not say \"%s\"", fbp_message(), says);
}

/* Unequal steps are resampled where that is asked for, and else refused. */
TEST(listed_places_may_be_uneven)
{
    static const double uneven[7] = {300, 301, 304, 306, 308, 310, 311};
    static const double falls[6] = {300, 302, 301, 306, 308, 310};
    static const double nan_[6] = {300, 302, NAN, 306, 308, 310};
    const struct fbp_preparation even = {.struct_size = sizeof even, .resample = 1};
    const struct fbp_scan_known known = {.struct_size = sizeof known, .preparation = &even};
    struct fbp_scan scan = {.struct_size = sizeof scan};

    listed_refused('D', uneven, 6, "has unequal steps; resample the data to equal steps");
    OK(fbp_scan_load(&scan, DSC, &known));
    assert_true(scan.preparation->places[1] == 301 && scan.preparation->n_samples == 6);
    struct fbp_scan usual = load_image("10", "G");
    assert_memory_equal(scan.views, usual.views, 8 * sizeof *scan.views);
    fbp_scan_clear(&scan);
    fbp_scan_clear(&usual);
    listed_refused('D', falls, 6, "is not monotonic: number 2 is 301");
    listed_refused('D', nan_, 6, "number 2 is not finite");
    listed_refused('D', uneven, 5, "the .XGF file has 40 bytes, but XPTS and XFMT describe 48");
    listed_refused('F', uneven, 7, "the .XGF file has 28 bytes, but XPTS and XFMT describe 24");
    listed_refused('Z', uneven, 6, "XFMT: found \"Z\"");
    put_listed('D', false, uneven, 6);
    assert_int_equal(remove(XGF), 0);
    assert_fails(fbp_scan_load(&scan, DSC, NULL), FBP_ERR_IO, "io_bes3t.XGF, is missing");
}

/* The shipped table of gradients, [961][3] floats (a Fortran array) behind 128 bytes. */
TEST(the_helix_has_its_gradients)
{
    static float table[961][3];
    double most = 0;
    FILE *f = fopen(FUSILLO "-fgrad.npy", "rb");

    if (!f)
        skip();
    assert_int_equal(fseek(f, 128, SEEK_SET), 0);
    assert_int_equal(fread(table, sizeof table, 1, f), 1);
    fclose(f);
    AUTO_CLEAR struct fbp_scan scan = open_scan(FUSILLO "-proj.DSC");
    assert_int_equal(scan.n_views, 961);
    assert_int_equal(scan.panel.n_columns, 500);
    for (size_t k = 0; k < 961; k++) {
        const double *u = scan.views[k].u, step = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        assert_true(fabs(step - 10 * .265 / 14) < 1e-9);
        for (int i = 0; i < 3; i++)
            most = fmax(most, fabs(-14 * u[i] / step - table[k][i]));
    }
    assert_true(most < 5e-7);
}

TEST_MAIN(NULL, NULL)
