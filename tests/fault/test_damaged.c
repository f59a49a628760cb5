/* Damaged arrays: every one is refused with a sentence that names it, or read if it is whole.
 * Nothing allocates what a header claims: the address space is limited. */
#include "unit/io_util.h"

#include "base/system.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define LIMITED 0 /* sanitizers reserve terabytes */
#else
#    define LIMITED 1
#endif

#define STEM FBP_TEST_DIR "/damaged"
#define MHA  STEM ".mha"
#define MHD  STEM ".mhd"
#define DAT  STEM ".dat"
#define NPY  STEM ".npy"

enum { NX = 24, NY = 10, NZ = 3, N = NX * NY * NZ };

static const char sizes_mha[] = "NDims = 3\nDimSize = 24 10 3\nElementType = MET_FLOAT\n";

/* Open and read everything: N elements at most. */
static fbp_status read_all(const char *path, float *out)
{
    CLEANUP(fbp_source_close) fbp_source *src = NULL;
    fbp_status st = fbp_source_open(&src, path, NULL);
    if (st != FBP_OK) {
        assert_null(src);
        return st;
    }
    const size_t *n = fbp_source_info(src)->n, total = n[0] * n[1] * n[2];
    float *more = NULL;
    if (total > N) /* a compressed file may claim a thousand times its size */
        out = more = total < (size_t)1 << 25 ? malloc(total * sizeof *more) : NULL;
    if (!out)
        fail_msg("%s: opened with %zu x %zu x %zu elements", path, n[0], n[1], n[2]);
    for (size_t z = 0; z < n[2] && st == FBP_OK; z++)
        st = fbp_source_read(src, z, 1, 0, n[1], FBP_F32, out + z * n[0] * n[1]);
    if (more && st == FBP_OK)
        fail_msg("%s: %zu x %zu x %zu elements were read", path, n[0], n[1], n[2]);
    free(more);
    return st;
}

static void refused(const char *path)
{
    float out[N];
    if (read_all(path, out) == FBP_OK)
        fail_msg("%s was read", path);
    assert_says(path);
    assert_true(strlen(fbp_message()) > strlen(path) + 10);
}

static void fill(float *v)
{
    for (size_t i = 0; i < N; i++)
        v[i] = (float)(i * i % 1009);
}

static void refused_or_whole(const char *path, const float *v)
{
    float out[N];
    memset(out, 0, sizeof out);
    if (read_all(path, out) == FBP_OK)
        assert_memory_equal(out, v, sizeof out);
    else
        assert_says(path);
}

static void write_by_sink(const char *path, bool pack, float *v)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {NX, NY, NZ}, .spacing_mm = {1, 2, 3}, .unit = "1/mm"};
    const struct fbp_sink_params p = {.struct_size = sizeof p, .compress = pack};
    fill(v);
    save_array(path, &info, &p, v);
}

/* Every length: only the whole file is read. */
static void cut_everywhere(const char *path, const char *cut, bool pack)
{
    float v[N];
    size_t n;
    write_by_sink(path, pack, v);
    AUTO_FREE char *whole = get_file(cut, &n);
    for (size_t k = 0; k < n; k += k < 800 || n - k < 40 ? 1 : 13) {
        put_file(cut, whole, k);
        refused(path);
    }
    put_file(cut, whole, n);
    refused_or_whole(path, v);
    OK(read_all(path, v));
}

TEST(cut_files)
{
    cut_everywhere(MHA, MHA, false);
    cut_everywhere(MHA, MHA, true);
    cut_everywhere(NPY, NPY, false);
    cut_everywhere(MHD, STEM ".raw", false);
    cut_everywhere(MHD, STEM ".zraw", true);
}

/* A header beside its samples may end in a name that is shorter, and the newline is not needed. */
TEST(cut_mhd_header)
{
    float v[N];
    size_t n;
    write_by_sink(MHD, false, v);
    AUTO_FREE char *whole = get_file(MHD, &n);
    for (size_t k = 0; k < n - 1; k++) {
        put_file(MHD, whole, k);
        refused(MHD);
    }
    put_file(MHD, whole, n - 1);
    OK(read_all(MHD, v));
}

/* Every byte of a header changed in several ways: no crash, and no array larger than the file. */
static void change_header(const char *path, size_t header)
{
    static const unsigned char with[] = {0, ' ', '\n', '9', '-', '=', '(', 0xff};
    size_t n;
    AUTO_FREE char *whole = get_file(path, &n);
    float out[N];
    for (size_t k = 0; k < header; k++) {
        const char keep = whole[k];
        for (size_t i = 0; i < sizeof with; i++) {
            whole[k] = (char)with[i];
            put_file(path, whole, n);
            if (read_all(path, out) != FBP_OK)
                assert_true(fbp_message()[0] != '\0');
        }
        whole[k] = keep;
    }
}

TEST(changed_headers)
{
    float v[N];
    size_t n;
    for (int pack = 0; pack < 2; pack++) {
        write_by_sink(MHA, pack, v);
        AUTO_FREE char *text = get_file(MHA, &n);
        change_header(MHA, (size_t)(strstr(text, "LOCAL") + 6 - text));
    }
    write_by_sink(NPY, false, v);
    change_header(NPY, 128);
}

/* Every byte of a stream flipped: found by zlib or its checksum. */
TEST(flipped_bytes)
{
    float v[N];
    size_t n;
    write_by_sink(MHA, true, v);
    AUTO_FREE char *whole = get_file(MHA, &n);
    const size_t start = (size_t)(strstr(whole, "LOCAL") + 6 - whole);
    for (size_t k = start; k < n; k++)
        for (int bit = 0; bit < 8; bit += 3) {
            whole[k] ^= (char)(1 << bit);
            put_file(MHA, whole, n);
            refused_or_whole(MHA, v);
            whole[k] ^= (char)(1 << bit);
        }
}

/* Stored blocks have nothing but the checksum. */
TEST(checksum_is_read)
{
    float v[N];
    unsigned char z[N * 4 + 100];
    uLongf nz = sizeof z;
    char head[200];
    fill(v);
    assert_int_equal(compress2(z, &nz, (unsigned char *)v, sizeof v, 0), Z_OK);
    snprintf(head, sizeof head, "%sCompressedData = True\nElementDataFile = LOCAL\n", sizes_mha);
    put_array(MHA, head, z, nz);
    refused_or_whole(MHA, v);
    z[nz / 2] ^= 1;
    put_array(MHA, head, z, nz);
    refused(MHA);
    assert_says("damaged");
    snprintf(head, sizeof head,
             "NDims = 3\nDimSize = 24 10 2\nElementType = MET_FLOAT\nCompressedData = True\n"
             "ElementDataFile = LOCAL\n");
    z[nz / 2] ^= 1;
    put_array(MHA, head, z, nz);
    refused(MHA);
    assert_says("more compressed samples");
}

#define T "ElementType = MET_FLOAT\n"
#define L "ElementDataFile = LOCAL\n"
#define S "NDims = 3\nDimSize = 24 10 3\n"
static const char *const lying_headers[] = {
    "NDims = 3\nDimSize = 0 10 3\n" T L,
    "NDims = 3\nDimSize = 24 -10 3\n" T L,
    "NDims = 3\nDimSize = 24 10 1e300\n" T L,
    "NDims = 3\nDimSize = 24 10 3.5\n" T L,
    "NDims = 3\nDimSize = 24 10 nan\n" T L,
    "NDims = 3\nDimSize = 24 10 99999999999999999999999\n" T L,
    "NDims = 3\nDimSize = 18446744073709551615 1 1\n" T L,
    "NDims = 3\nDimSize = 4294967296 4294967296 1\n" T L,
    "NDims = 3\nDimSize = 4294967296 4294967296 4294967296\n" T L,
    "NDims = 3\nDimSize = 6148914691236517206 3 1\n" T L,
    "NDims = 3\nDimSize = 1000000 1000000 1000\n" T L,
    "NDims = 3\nDimSize = 1000000000000 1 1\nCompressedData = True\n" T L,
    "NDims = 3\nDimSize = 1 1000000 1000000\nCompressedData = True\n" T L,
    "NDims = 3\nDimSize = 24 10 3 1\n" T L,
    "NDims = 3\nDimSize = 24 10\n" T L,
    "NDims = 2\nDimSize = 24 10 3\n" T L,
    "NDims = 4\nDimSize = 24 10 3\n" T L,
    "NDims = -3\nDimSize = 24 10 3\n" T L,
    "NDims = three\nDimSize = 24 10 3\n" T L,
    "NDims =\nDimSize = 24 10 3\n" T L,
    "NDims = 3\nDimSize =\n" T L,
    "NDims = 3\n" T L,
    "DimSize = 24 10 3\n" T L,
    S L,
    S T,
    S "ElementType = MET_COMPLEX\n" L,
    S "ElementType =\n" L,
    S T "ElementSpacing = nan 1 1\n" L,
    S T "ElementSpacing = 1 inf 1\n" L,
    S T "ElementSpacing = 1 1 0\n" L,
    S T "ElementSpacing = 1 -1 1\n" L,
    S T "ElementSpacing = 1 1 1e999\n" L,
    S T "ElementSpacing = 1 1\n" L,
    S T "ElementSpacing = 1 1 1 1\n" L,
    S T "ElementSpacing = one 1 1\n" L,
    S T "Offset = 0 nan 0\n" L,
    S T "Offset = 0\n" L,
    S T "HeaderSize = 1000000\n" L,
    S T "HeaderSize = -2\n" L,
    S T "HeaderSize = 9223372036854775807\n" L,
    S T "HeaderSize = 99999999999999999999\n" L,
    S T "HeaderSize = many\n" L,
    S T "HeaderSize = 9223372036854775807\nCompressedData = True\n" L,
    S T "HeaderSize = -1\nCompressedData = True\n" L,
    S T "CompressedData = True\nCompressedDataSize = 10000000\n" L,
    S T "CompressedData = True\nCompressedDataSize = -1\n" L,
    S T "CompressedData = True\n" L, /* the samples are not */
    S T "CompressedData = perhaps\n" L,
    S T "BinaryData = False\n" L,
    S T "BinaryDataByteOrderMSB = 2\n" L,
    S T "ElementNumberOfChannels = 3\n" L,
    S T "ElementDataFile =\n",
    S T "ElementDataFile = LIST\nlocal.raw\n",
    S T "ElementDataFile = LIST 2\nlocal.raw\n",
    S T "ElementDataFile = slice%03d.raw 1 3 1\n",
    S T "ElementDataFile = no/such/file.raw\n",
    S T "ElementDataFile = .\n",
    S T "ElementDataFile = /\n",
    S T "ElementDataFile = damaged.empty\n",
    S T "a line without meaning\n" L,
};

TEST(lying_metaimage)
{
    float v[N];

    fill(v);
    put_file(STEM ".empty", "", 0);
    put_array(MHA, S T L, v, sizeof v);
    refused_or_whole(MHA, v);
    OK(read_all(MHA, v));
    for (size_t i = 0; i < sizeof lying_headers / sizeof *lying_headers; i++) {
        put_array(MHA, lying_headers[i], v, sizeof v);
        refused(MHA);
    }
}

/* The last of two equal keys counts: either way the sizes agree with the samples. */
TEST(repeated_metaimage_keys)
{
    float v[N];

    fill(v);
    put_array(MHA, "DimSize = 1 1 1\n" S T L, v, sizeof v);
    refused_or_whole(MHA, v);
    put_array(MHA, S T "DimSize = 1 1 100000\n" L, v, sizeof v);
    refused(MHA);
    put_array(MHA, S T "NDims = 2\n" L, v, sizeof v);
    refused(MHA);
    put_array(MHA, S T "ElementSpacing = 1 1 1\nElementSpacing = 1 1 0\n" L, v, sizeof v);
    refused(MHA);
}

static void put_npy(const char *dict, unsigned length, unsigned version)
{
    char file[12 + 400 + N * 4] = "\x93NUMPY";
    const size_t n = strlen(dict);
    assert_true(n < 400);
    file[6] = (char)version;
    file[8] = (char)(length & 0xff);
    file[9] = (char)(length >> 8 & 0xff);
    memcpy(file + 10, dict, n);
    put_file(NPY, file, 10 + n + N * 4);
}

TEST(lying_npy)
{
#define D "{'descr': '<f4', 'fortran_order': False, 'shape': "
    static const char *const dicts[] = {
        "",
        "{}",
        D "(0, 10, 24)}",
        D "(3, -10, 24)}",
        D "(3, 10, 24.5)}",
        D "(3, 10, 1e300)}",
        D "(3, 10, 99999999999999999999999)}",
        D "(1, 1, 18446744073709551616)}",
        D "(4294967296, 4294967296, 4294967296)}",
        D "(4294967296, 4294967296)}",
        D "(1000, 1000000, 1000000)}",
        D "(1, 1, 3, 10, 24)}",
        D "(2, 3, 10, 24)}",
        D "(18446744073709551615, 3, 10, 24)}",
        D "(720,)}",
        D "()}",
        D "(",
        D "(3, 10, 24",
        D "(3 10 24)}",
        D "(3,, 10)}",
        D "[3, 10, 24]}",
        D "'(3, 10, 24)'}",
        D "}",
        "{'fortran_order': False, 'shape': (3, 10, 24)}",
        "{'descr': '<f4', 'shape': (3, 10, 24)}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 10, 24)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3, 10, 24)}",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (3, 10, 24)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 10, 24)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (3, 10, 24)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (3, 10, 24)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 10, 24)}",
        "{'descr': ''}",
        "{'descr'",
        "descrdescr'descr",
        "\n\n\n\x01\xff",
    };
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++) {
        put_npy(dicts[i], (unsigned)strlen(dicts[i]), 1);
        refused(NPY);
    }
    put_npy(D "(3, 10, 24)}", 0, 1);
    refused(NPY);
    put_npy(D "(3, 10, 24)}", 60000, 1);
    refused(NPY);
    put_npy(D "(3, 10, 24)}", (unsigned)strlen(D "(3, 10, 24)}"), 4);
    refused(NPY);
    put_npy(D "(3, 10, 24)}", (unsigned)strlen(D "(3, 10, 24)}"), 2); /* 4 bytes of length */
    refused(NPY);
    float v[N] = {0};
    put_npy(D "(3, 10, 24)}", (unsigned)strlen(D "(3, 10, 24)}"), 1);
    refused_or_whole(NPY, v);
    OK(read_all(NPY, v));
}

/* Random bytes behind every beginning that some reader takes for its own. */
TEST(garbage)
{
    static const char *const starts[] = {"",
                                         "\x93NUMPY\x01",
                                         "\x93NUMPY\x03",
                                         "NDims = 3\n",
                                         "ObjectType = Image\nNDims = 3\nDimSize = 4 4 4\n",
                                         "NDims = 3\nDimSize = "};
    static const char *const names[] = {MHA, MHD, NPY, STEM ".xyz"};
    unsigned char noise[5000];
    unsigned seed = 1;
    for (int k = 0; k < 40; k++) {
        for (size_t i = 0; i < sizeof noise; i++) {
            seed = seed * 1664525u + 1013904223u;
            noise[i] = (unsigned char)(seed >> 24);
        }
        for (size_t i = 0; i < 6; i++)
            for (size_t j = 0; j < 4; j++) {
                put_array(names[j], starts[i], noise, sizeof noise);
                refused(names[j]);
            }
    }
}

/* One line of 64 MiB, with and without an '=', and 64 MiB of short lines. */
TEST(endless)
{
    const size_t n = (size_t)64 << 20;
    const double t0 = fbp_seconds();
    for (int kind = 0; kind < 4; kind++) {
        FILE *f = not_null(fopen(MHA, "w"));
        fputs(kind == 0 ? "NDims = 3" : kind == 1 ? "NDims" : kind == 2 ? "NDims = 3\n" : "", f);
        fflush(f);
        assert_int_equal(ftruncate(fileno(f), (off_t)n), 0);
        fclose(f);
        refused(MHA);
    }
    char *text = not_null(malloc(n));
    memset(text, ' ', n);
    put_array(MHA, "NDims = ", text, n);
    refused(MHA);
    for (size_t i = 0; i + 4 <= n; i += 4)
        memcpy(text + i, "a=b\n", 4);
    put_array(MHA, "NDims = 3\n", text, n);
    refused(MHA);
    memset(text, '3', n);
    put_array(MHA, "NDims = 3\nDimSize = ", text, n);
    refused(MHA);
    put_array(NPY, "\x93NUMPY\x02", text, n);
    refused(NPY);
    free(text);
    unlink(MHA);
    unlink(NPY);
    assert_true(fbp_seconds() - t0 < 60);
}

TEST(not_files)
{
    static const char *const names[] = {MHA, MHD, NPY, STEM ".xyz"};
    for (size_t i = 0; i < 4; i++) {
        unlink(names[i]);
        refused(names[i]); /* missing */
        put_file(names[i], "", 0);
        refused(names[i]); /* empty */
        unlink(names[i]);
        assert_int_equal(mkdir(names[i], 0777), 0);
        refused(names[i]);
        assert_int_equal(rmdir(names[i]), 0);
        assert_int_equal(mkfifo(names[i], 0666), 0);
        refused(names[i]); /* and does not wait for a writer */
        unlink(names[i]);
        assert_int_equal(symlink(names[i], names[i]), 0);
        refused(names[i]);
        unlink(names[i]);
    }
    refused("/dev/zero");
    refused(STEM ".mha/below.mha");
}

TEST(unreadable)
{
    float v[N];
    write_by_sink(MHA, false, v);
    assert_int_equal(chmod(MHA, 0), 0);
    const bool root = geteuid() == 0;
    if (root)
        assert_int_equal(seteuid(65534), 0);
    refused(MHA);
    if (root)
        assert_int_equal(seteuid(0), 0);
    unlink(MHA);
}

/* 256 MiB more than the program (and a checker that runs it) has now. */
static int limit_memory(void **state)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!LIMITED || !f || fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    const rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)1 << 28);
    const struct rlimit limit = {bytes, RLIM_INFINITY};
    return pages ? setrlimit(RLIMIT_AS, &limit) : 0;
}

TEST_MAIN(limit_memory, NULL)
