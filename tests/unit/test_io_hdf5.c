/* Checks the HDF5 reader and writer: every type, byte order, layout and filter, links, virtual
 * data sets, names, threads, cut files, and files that the writer must not replace. */
#include "unit/hdf5_files.h"

#include "array/array.h"
#include "array/file/format.h"
#include "base/sandbox.h"
#include "base/text.h"

#include <pthread.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define H5         FBP_TEST_DIR "/io_hdf5.h5"
#define VOL        FBP_TEST_DIR "/io_hdf5_volume.h5"
#define PIECES_DIR FBP_TEST_DIR "/io_hdf5_pieces"
#define DRAFT_DIR  FBP_TEST_DIR "/io_hdf5_draft"
#define DRAFT      DRAFT_DIR "/v.h5"

/* Any part of a volume of value(), as floats and as it is. */
static void check_parts(fbp_source *src)
{
    const struct fbp_array_info *info = fbp_source_info(src);
    float out[N + 1];
    double raw[N];

    assert_int_equal(info->n[0], NX);
    assert_int_equal(info->n[1], NY);
    assert_int_equal(info->n[2], NZ);
    for (size_t z0 = 0; z0 < NZ; z0++)
        for (size_t nz = 1; nz <= NZ - z0; nz++)
            for (size_t r0 = 0; r0 < NY; r0++)
                for (size_t nr = 0; nr <= NY - r0; nr++) {
                    out[nz * nr * NX] = 77;
                    OK(fbp_source_read(src, z0, nz, r0, nr, FBP_F32, out));
                    for (size_t i = 0; i < nz * nr * NX; i++) {
                        const size_t z = z0 + i / (nr * NX), y = r0 + i / NX % nr, x = i % NX;
                        assert_true((double)out[i] == value((z * NY + y) * NX + x));
                    }
                    assert_true(out[nz * nr * NX] == 77);
                }
    OK(fbp_source_read_as_is(src, 1, 2, 1, 2, raw));
    if (info->type == FBP_F64)
        assert_true(raw[2 * NX * 2 - 1] == value((2 * NY + 2) * NX + NX - 1));
    assert_int_equal(fbp_source_read(src, NZ, 1, 0, 1, FBP_F32, out), FBP_ERR_INVALID);
}

static void check_set(const char *name, enum fbp_type type)
{
    AUTO_FREE char *path = printed(H5 ":%s", name);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    assert_int_equal(fbp_source_info(src)->type, type);
    assert_int_equal(fbp_source_info(src)->row_order, FBP_ROWS_TOP_DOWN);
    assert_string_equal(fbp_source_info(src)->format, "hdf5");
    check_parts(src);
}

TEST(every_type)
{
    const struct {
        const char *name;
        hid_t type;
        enum fbp_type read;
    } sets[] = {
        {"u1", H5T_STD_U8LE, FBP_U8},        {"i1", H5T_STD_I8BE, FBP_I8},
        {"u2", H5T_STD_U16LE, FBP_U16},      {"u2b", H5T_STD_U16BE, FBP_U16},
        {"i2", H5T_STD_I16LE, FBP_I16},      {"i2b", H5T_STD_I16BE, FBP_I16},
        {"u4", H5T_STD_U32LE, FBP_U32},      {"u4b", H5T_STD_U32BE, FBP_U32},
        {"i4", H5T_STD_I32LE, FBP_I32},      {"i4b", H5T_STD_I32BE, FBP_I32},
        {"i8", H5T_STD_I64LE, FBP_F64},      {"u8b", H5T_STD_U64BE, FBP_F64},
        {"f4", H5T_IEEE_F32LE, FBP_F32},     {"f4b", H5T_IEEE_F32BE, FBP_F32},
        {"f8", H5T_IEEE_F64LE, FBP_F64},     {"f8b", H5T_IEEE_F64BE, FBP_F64},
        {"ld", H5T_NATIVE_LDOUBLE, FBP_F64},
    };
    const hid_t file = new_file(H5);
    char name[40];

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        put_volume(file, sets[i].name, sets[i].type, H5P_DEFAULT);
        const hid_t how = chunks(2, 3, 4);
        H5Pset_shuffle(how);
        H5Pset_deflate(how, 4);
        snprintf(name, sizeof name, "packed/%s", sets[i].name);
        put_volume(file, name, sets[i].type, how);
    }
    H5Fclose(file);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        check_set(sets[i].name, sets[i].read);
        snprintf(name, sizeof name, "/packed/%s", sets[i].name);
        check_set(name, sets[i].read);
    }
}

/* Chunks that divide the array and that overhang it, views and sinograms, with and without filters
 * that only the library knows. */
TEST(every_layout)
{
    static const hsize_t shapes[][3] = {
        {1, NY, NX}, {NZ, 1, NX}, {2, 2, 2}, {4, 3, 5}, {NZ, NY, NX}};
    const hid_t file = new_file(H5);
    char name[40];

    for (size_t s = 0; s < 5; s++)
        for (int f = 0; f < 6; f++) {
            const hid_t how = chunks(shapes[s][0], shapes[s][1], shapes[s][2]);
            if (f == 1 || f == 3)
                H5Pset_shuffle(how);
            if (f == 2 || f == 3)
                H5Pset_deflate(how, 1);
            if (f == 4)
                H5Pset_fletcher32(how);
            if (f == 5)
                H5Pset_scaleoffset(how, H5Z_SO_INT, 0);
            snprintf(name, sizeof name, "s%zuf%d", s, f);
            put_volume(file, name, H5T_STD_U16LE, how);
        }
    const hid_t compact = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(compact, H5D_COMPACT);
    put_volume(file, "compact", H5T_STD_U16LE, compact);
    H5Lcreate_soft("/s3f3", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    for (size_t s = 0; s < 5; s++)
        for (int f = 0; f < 6; f++) {
            snprintf(name, sizeof name, "s%zuf%d", s, f);
            /* Each block that only the library can read costs a process. */
            check_set(name, FBP_U16);
        }
    check_set("compact", FBP_U16);
    check_set("soft", FBP_U16);
}

/* A user block moves all addresses; a link leads to another file. */
TEST(elsewhere)
{
    const hid_t how = H5Pcreate(H5P_FILE_CREATE);

    H5Pset_userblock(how, 1024);
    hid_t file = H5Fcreate(VOL, H5F_ACC_TRUNC, how, H5P_DEFAULT);
    put_volume(file, "plain", H5T_STD_U16LE, H5P_DEFAULT);
    put_volume(file, "chunked", H5T_STD_U16LE, chunks(2, 2, 3));
    H5Fclose(file);
    H5Pclose(how);
    file = new_file(H5);
    H5Lcreate_external(VOL, "/plain", file, "far", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external(VOL, "/chunked", file, "far_chunked", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    check_set("far", FBP_U16);
    check_set("far_chunked", FBP_U16);
    remove(VOL);
}

static void expect_invalid(const char *set, const char *says)
{
    fbp_source *src = NULL;

    AUTO_FREE char *path = printed(H5 ":%s", set);
    assert_fails(fbp_source_open(&src, path, NULL), FBP_ERR_INVALID, "io_hdf5.h5");
    assert_says(says);
}

/* Links to groups and to data sets, of this file and of another, in circles and to nowhere. */
TEST(links_are_followed)
{
    fbp_source *src;
    hid_t file;

    file = new_file(VOL);
    put_volume(file, "/raw/data", H5T_STD_U16LE, chunks(2, 2, 3));
    H5Lcreate_external(H5, "/", file, "back", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    file = new_file(H5);
    H5Lcreate_external("io_hdf5_volume.h5", "/raw", file, "entry", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/entry", file, "same", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/", file, "circle", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/itself", file, "itself", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("io_hdf5_volume.h5", "/", file, "all", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("gone.h5", "/d", file, "lost", H5P_DEFAULT, H5P_DEFAULT);
    (void)!mkfifo(FBP_TEST_DIR "/pipe.h5", 0600); /* which nobody writes to */
    H5Lcreate_external("pipe.h5", "/d", file, "pipe", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    const time_t start = time(NULL);
    expect_invalid("/pipe", "/pipe (a link to pipe.h5:/d) cannot be opened");
    assert_true(time(NULL) - start < 30); /* not after the 60 s that the library may take */
    check_set("/entry/data", FBP_U16);
    check_set("/same/data", FBP_U16);
    src = open_source(H5, NULL); /* it is one data set by several names */
    check_parts(src);
    fbp_source_close(&src);
    expect_invalid("/entry/dat", "did you mean \"/entry/data\"?");
    expect_invalid("/lost", "/lost (a link to gone.h5:/d) cannot be opened");
    expect_invalid("/itself", "/itself (a link to /itself) cannot be opened");

    file = new_file(VOL);
    H5Lcreate_external("gone.h5", "/d", file, "lost", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    assert_fails(fbp_source_open(&src, VOL, NULL), FBP_ERR_INVALID,
                 "/lost (a link to gone.h5:/d) cannot be opened");
    assert_says("restore the file");

    /* What the file holds itself comes before what links lead to. */
    file = new_file(VOL);
    put_volume(file, "/own", H5T_STD_U8LE, H5P_DEFAULT);
    H5Lcreate_external("gone.h5", "/d", file, "lost", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    src = open_source(VOL, NULL);
    assert_int_equal(fbp_source_info(src)->type, FBP_U8);
    fbp_source_close(&src);
    remove(VOL);
}

/* A data set whose header the library does not know: its version is the byte behind the type of
 * the layout's message, here looked for by what is around it. */
TEST(unread_data_set)
{
    const hid_t file = new_file(H5);
    fbp_source *src;
    size_t n, found = 0;

    put_volume(file, "/d", H5T_STD_U16LE, H5P_DEFAULT);
    H5Fclose(file);
    AUTO_FREE char *bytes = get_file(H5, &n);
    for (size_t i = 0; i + 26 < n; i++) /* layout: type 8, 24 bytes; version 3, contiguous */
        if (memcmp(bytes + i, "\x08\0\x18\0", 4) == 0 && bytes[i + 8] == 3 && bytes[i + 9] == 1) {
            bytes[i + 8] = 99;
            found++;
        }
    assert_int_equal(found, 1);
    put_file(H5, bytes, n);
    for (int named = 0; named < 2; named++) {
        assert_fails(fbp_source_open(&src, named ? H5 ":/d" : H5, NULL), FBP_ERR_INVALID,
                     "/d cannot be opened, the HDF5 library reports: ");
        assert_says("newer HDF5 than");
    }
}

/* As h5py writes an array of truth values. */
TEST(truth_values)
{
    const hsize_t n[3] = {NZ, NY, NX};
    const hid_t type = H5Tenum_create(H5T_STD_I8LE), space = H5Screate_simple(3, n, NULL);
    const hid_t file = new_file(H5);
    signed char v[N];
    float out[N];

    for (signed char k = 0; k < 2; k++)
        H5Tenum_insert(type, k ? "TRUE" : "FALSE", &k);
    for (int i = 0; i < N; i++)
        v[i] = i % 3 == 0;
    for (int packed = 0; packed < 3; packed++) {
        static const char *const names[] = {"/run", "/chunks", "/filter"};
        const hid_t how = packed ? chunks(2, 3, 4) : H5Pcreate(H5P_DATASET_CREATE);
        if (packed == 2)
            H5Pset_fletcher32(how); /* the library reads it */
        const hid_t set =
            H5Dcreate2(file, names[packed], type, space, H5P_DEFAULT, how, H5P_DEFAULT);
        assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
        H5Dclose(set);
        H5Pclose(how);
    }
    H5Fclose(file);
    for (int packed = 0; packed < 3; packed++) {
        CLEANUP(fbp_source_close)
        fbp_source *src = open_source(packed == 0   ? H5 ":/run"
                                      : packed == 1 ? H5 ":/chunks"
                                                    : H5 ":/filter",
                                      NULL);
        assert_int_equal(fbp_source_info(src)->type, FBP_I8);
        OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, out));
        for (int i = 0; i < N; i++)
            assert_true((double)out[i] == (i % 3 == 0));
    }
}

/* The first n slices of a source in slices [at, at + n) of a virtual data set. */
static void map(hid_t how, hsize_t at, hsize_t n, const char *file, const char *set)
{
    const hsize_t whole[3] = {NZ, NY, NX}, taken[3] = {n, NY, NX}, start[3] = {at, 0, 0};
    const hsize_t zero[3] = {0};
    const hid_t to = H5Screate_simple(3, whole, NULL), from = H5Screate_simple(3, whole, NULL);

    H5Sselect_hyperslab(to, H5S_SELECT_SET, start, NULL, taken, NULL);
    H5Sselect_hyperslab(from, H5S_SELECT_SET, zero, NULL, taken, NULL);
    assert_true(H5Pset_virtual(how, to, file, set, from) >= 0);
    H5Sclose(to);
    H5Sclose(from);
}

static void put_part(const char *name, hsize_t n)
{
    const hsize_t size[3] = {n, NY, NX};
    const hid_t file = new_file(name);
    double v[N];

    for (size_t i = 0; i < N; i++)
        v[i] = value(i);
    put_set(file, "/d", H5T_STD_U16LE, 3, size, H5P_DEFAULT, v);
    H5Fclose(file);
}

/* A virtual data set of all slices of `set` in `from`. */
static void put_virtual(hid_t file, const char *name, const char *from, const char *set)
{
    const hsize_t n[3] = {NZ, NY, NX};
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);

    map(how, 0, NZ, from, set);
    put_set(file, name, H5T_STD_U16LE, 3, n, how, NULL);
}

static void put_virtual_sets(void)
{
    const hid_t file = new_file(H5);

    put_volume(file, "/own", H5T_STD_U16LE, H5P_DEFAULT);
    put_virtual(file, "/beside", "io_hdf5_volume.h5", "/d");
    put_virtual(file, "/moved", "/not/there/any/more/io_hdf5_volume.h5", "/d");
    put_virtual(file, "/here", ".", "/own");
    put_virtual(file, "/twice", ".", "/beside");
    put_virtual(file, "/wrong", ".", "/nothing");
    put_virtual(file, "/itself", ".", "/itself");
    /* "part%b": as many slices of one, as there are files. */
    const hsize_t n[3] = {0, NY, NX}, most[3] = {H5S_UNLIMITED, NY, NX}, one[3] = {1, NY, NX};
    const hsize_t many[3] = {H5S_UNLIMITED, 1, 1}, start[3] = {0};
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, n, most);
    const hid_t to = H5Screate_simple(3, n, most), from = H5Screate_simple(3, one, NULL);
    H5Sselect_hyperslab(to, H5S_SELECT_SET, start, one, many, one);
    assert_true(H5Pset_virtual(how, to, "io_hdf5_part%b.h5", "/d", from) >= 0);
    const hid_t set =
        H5Dcreate2(file, "/blocks", H5T_STD_U16LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Sclose(to);
    H5Sclose(from);
    H5Sclose(space);
    H5Pclose(how);
    H5Fclose(file);
}

TEST(virtual_sources_are_found)
{
    put_part(VOL, NZ);
    put_virtual_sets();
    check_set("/beside", FBP_U16);
    check_set("/moved", FBP_U16);
    check_set("/here", FBP_U16);
    check_set("/twice", FBP_U16);
    expect_invalid("/wrong", "no such data set");
    expect_invalid("/itself", "refer to each other");
    remove(VOL);
}

TEST(virtual_sources_of_a_pattern_are_refused)
{
    fbp_source *src = NULL;

    put_virtual_sets();
    put_part(FBP_TEST_DIR "/io_hdf5_part0.h5", 1);
    assert_fails(fbp_source_open(&src, H5 ":/blocks", NULL), FBP_ERR_UNSUPPORTED,
                 "(io_hdf5_part%b.h5:/d), which is not supported");
    remove(FBP_TEST_DIR "/io_hdf5_part0.h5");
}

enum { MANY = 300, MOST_OPEN = 40 };

static void put_pieces(void)
{
    const hsize_t whole[3] = {MANY, NY, NX}, one[3] = {1, NY, NX};
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE), from = H5Screate_simple(3, one, NULL);
    const hid_t to = H5Screate_simple(3, whole, NULL);
    const double nan = NAN;
    char name[200];

    assert_int_equal(mkdir(PIECES_DIR, 0777) | mkdir(PIECES_DIR "/v.h5.0123abcd", 0777), 0);
    for (hsize_t z = 0; z < MANY; z++) {
        const hsize_t start[3] = {z, 0, 0};
        double v[NX * NY];
        for (size_t i = 0; i < (size_t)NX * NY; i++)
            v[i] = (double)z + (double)i;
        snprintf(name, sizeof name, "v.h5.0123abcd/slices_%03d-%03d.h5", (int)z, (int)z);
        H5Sselect_hyperslab(to, H5S_SELECT_SET, start, NULL, one, NULL);
        assert_true(H5Pset_virtual(how, to, name, "volume", from) >= 0);
        snprintf(name, sizeof name, PIECES_DIR "/v.h5.0123abcd/slices_%03d-%03d.h5", (int)z,
                 (int)z);
        const hid_t piece = new_file(name);
        put_set(piece, "/volume", H5T_IEEE_F32LE, 3, one, H5P_DEFAULT, v);
        H5Fclose(piece);
    }
    H5Pset_fill_value(how, H5T_NATIVE_DOUBLE, &nan);
    const hid_t file = new_file(PIECES_DIR "/v.h5");
    put_set(file, "/volume", H5T_IEEE_F32LE, 3, whole, how, NULL);
    H5Fclose(file);
    H5Sclose(from);
    H5Sclose(to);
}

/* As earlier versions wrote it: a file that joins others in a folder beside it, also where few
 * files may be open. */
TEST(volumes_of_several_files_are_read)
{
    const size_t n = (size_t)MANY * NY * NX;
    AUTO_FREE float *out = malloc(n * sizeof *out);
    struct rlimit before, few;
    fbp_source *src = NULL;

    put_pieces();
    assert_int_equal(rename(PIECES_DIR, PIECES_DIR "_moved"), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = MOST_OPEN;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    src = open_source(PIECES_DIR "_moved/v.h5", NULL);
    assert_int_equal(fbp_source_info(src)->n[2], MANY);
    OK(fbp_source_read(src, 0, MANY, 0, NY, FBP_F32, out));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (size_t i = 0; i < n; i++)
        assert_true(out[i] == (float)(i / (NY * NX) + i % (NY * NX)));
    fbp_source_close(&src);
    assert_int_equal(remove(PIECES_DIR "_moved/v.h5.0123abcd/slices_007-007.h5"), 0);
    assert_fails(fbp_source_open(&src, PIECES_DIR "_moved/v.h5", NULL), FBP_ERR_INVALID,
                 "v.h5.0123abcd/slices_007-007.h5:volume, but that file is missing");
    assert_int_equal(system("rm -r " PIECES_DIR "_moved"), 0);
}

/* Where a source of a virtual data set is missing the library reads zeros; here it is named. */
TEST(virtual_sources_must_be_there)
{
    float out[N];

    put_virtual_sets();
    put_part(VOL, NZ - 1);
    expect_invalid("/beside", "smaller than the selected part");
    put_part(VOL, NZ);
    fbp_source *src = open_source(H5 ":/beside", NULL);
    remove(VOL); /* while it is being read */
    assert_fails(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, out), FBP_ERR_INVALID,
                 "io_hdf5_volume.h5");
    fbp_source_close(&src);
    expect_invalid("/beside", "io_hdf5_volume.h5:/d, but that file is missing");
    expect_invalid("/moved", "/not/there/any/more/io_hdf5_volume.h5");
    expect_invalid("/twice", "io_hdf5_volume.h5:/d, but that file is missing");
}

static void assert_missing(const char *set, const char *what)
{
    AUTO_FREE char *path = printed("%s:%s", H5, set);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    const char *is = fbp_source_info(src)->missing;
    if (what ? !strstr(is, what) : *is)
        fail_msg("%s: \"%s\" instead of \"%s\"", set, is, what ? what : "");
}

/* A data set of NZ slices of which [first, first + n) are written. */
static void put_some(hid_t file, const char *name, hid_t how, hsize_t first, hsize_t n)
{
    const hsize_t all[3] = {NZ, NY, NX}, at[3] = {first, 0, 0}, some[3] = {n, NY, NX};
    const hid_t space = H5Screate_simple(3, all, NULL), memory = H5Screate_simple(3, some, NULL);
    const hid_t set = H5Dcreate2(file, name, H5T_STD_U16LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    static const uint16_t ones[N] = {1};

    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, some, NULL);
    assert_true(H5Dwrite(set, H5T_NATIVE_UINT16, memory, space, H5P_DEFAULT, ones) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Sclose(memory);
    H5Pclose(how);
}

static hid_t checked_chunks(hsize_t z, hsize_t y, hsize_t x)
{
    const hid_t how = chunks(z, y, x);

    H5Pset_fletcher32(how); /* which only the library reads */
    return how;
}

TEST(unwritten_chunks_are_counted)
{
    static const double keys[NZ] = {0, 0, 1, 0, 2, 0};
    const hsize_t all[3] = {NZ, NY, NX}, half[3] = {NZ / 2, NY, NX}, none[3] = {0};
    const hid_t file = new_file(H5);

    put_some(file, "/whole", chunks(2, 3, 7), 0, NZ);
    put_some(file, "/end", chunks(2, 3, 7), 0, 4);
    put_some(file, "/middle", chunks(1, 3, 4), 2, 1);
    put_some(file, "/library", checked_chunks(2, 3, 7), 0, NZ);
    put_some(file, "/library_end", checked_chunks(2, 3, 7), 0, 3);
    put_some(file, "/library_start", checked_chunks(2, 3, 7), 4, 2);
    put_list(file, "/image_key", H5T_STD_I64LE, NZ, keys);
    const hid_t space = H5Screate_simple(3, all, NULL), from = H5Screate_simple(3, half, NULL);
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE), of = H5Pcreate(H5P_DATASET_CREATE);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, none, NULL, half, NULL);
    H5Pset_virtual(how, space, ".", "/part", from);
    put_set(file, "/part", H5T_STD_U16LE, 3, half, H5P_DEFAULT, (double[N]){1});
    put_set(file, "/stopped", H5T_STD_U16LE, 3, all, how, NULL);
    H5Sselect_all(space);
    H5Pset_virtual(of, space, ".", "/end", space);
    put_set(file, "/of_end", H5T_STD_U16LE, 3, all, of, NULL);
    H5Sclose(space);
    H5Sclose(from);
    H5Fclose(file);

    assert_missing("/whole", NULL);
    assert_missing("/end", "2 of 6 chunks were never written (views or slices 4 to 5, counted");
    assert_missing("/middle",
                   "20 of 24 chunks were never written (views or slices 0 to 1, 3 to 5,");
    assert_missing("/middle?image_key=0",
                   "16 of 16 chunks were never written (views or slices 0 to 3,");
    assert_missing("/middle?image_key=1", NULL);
    assert_missing("/end?image_key=1", NULL);
    assert_missing("/end?image_key=2", "2 of 2 chunks were never written (views or slices 0,");
    assert_missing("/library", NULL);
    assert_missing("/library_end", "2 of 6 chunks were never written (views or slices 4 to 5,");
    assert_missing("/library_start", "4 of 6 chunks were never written; their");
    assert_missing("/stopped",
                   "3 of 6 images of the virtual data set have no source (views or slices 3 to 5,");
    assert_missing("/of_end", "2 of 6 chunks of its sources were never written; their");
}

TEST(unwritten_chunks_are_filled)
{
    const hsize_t n[3] = {NZ, NY, NX}, one[3] = {1, 1, 1}, at[3] = {0, 0, 0};
    const uint16_t fill = 513, value_there = 9;
    const hid_t file = new_file(H5), how = chunks(2, 2, 3), space = H5Screate_simple(3, n, NULL);
    float out[N];

    H5Pset_fill_value(how, H5T_NATIVE_UINT16, &fill);
    const hid_t set =
        H5Dcreate2(file, "holes", H5T_STD_U16BE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    const hid_t memory = H5Screate_simple(3, one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL);
    H5Dwrite(set, H5T_NATIVE_UINT16, memory, space, H5P_DEFAULT, &value_there);
    H5Dclose(set);
    H5Fclose(file);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(H5 ":/holes", NULL);
    OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, out));
    assert_true(out[0] == 9 && out[1] == 513 && out[N - 1] == 513);
}

TEST(two_dimensions)
{
    const hsize_t n[2] = {4, 3}, chunk[2] = {2, 2};
    const hid_t file = new_file(H5), how = H5Pcreate(H5P_DATASET_CREATE);
    double v[12];
    float out[12];

    for (int i = 0; i < 12; i++)
        v[i] = i;
    H5Pset_chunk(how, 2, chunk);
    put_set(file, "plain", H5T_IEEE_F32LE, 2, n, H5P_DEFAULT, v);
    put_set(file, "chunked", H5T_IEEE_F32LE, 2, n, how, v);
    H5Fclose(file);
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {":plain", ":chunked", ":plain?sinogram",
                                            ":chunked?sinogram"};

        AUTO_FREE char *path = printed("%s%s", H5, names[i]);
        CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
        const struct fbp_array_info *info = fbp_source_info(src);
        assert_int_equal(info->n[0], 3);
        assert_int_equal(info->n[1], i < 2 ? 4 : 1);
        assert_int_equal(info->n[2], i < 2 ? 1 : 4);
        OK(fbp_source_read(src, 0, info->n[2], 0, info->n[1], FBP_F32, out));
        for (int k = 0; k < 12; k++)
            assert_true((double)out[k] == k);
    }
}

/* Of frames marked 2 1 0 0 3 0: darks, flats and projections. */
TEST(images_by_key)
{
    const double keys[NZ] = {2, 1, 0, 0, 3, 0};
    static const char *const sets[] = {"/entry/data/plain", "/entry/data/chunked"};
    const hid_t file = new_file(H5);
    float out[N];

    put_volume(file, sets[0], H5T_STD_U16LE, H5P_DEFAULT);
    put_volume(file, sets[1], H5T_STD_U16LE, chunks(2, 2, 2));
    put_list(file, "/entry/detector/image_key", H5T_STD_I32LE, NZ, keys);
    H5Fclose(file);
    for (int s = 0; s < 2; s++)
        for (int key = 0; key < 3; key++) {
            static const size_t slices[3][3] = {{2, 3, 5}, {1}, {0}};

            AUTO_FREE char *path = printed("%s:%s?image_key=%d", H5, sets[s], key);
            CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
            const size_t n = fbp_source_info(src)->n[2];
            assert_int_equal(n, key == 0 ? 3 : 1);
            OK(fbp_source_read(src, 0, n, 0, NY, FBP_F32, out));
            for (size_t i = 0; i < n * NY * NX; i++)
                assert_true((double)out[i] ==
                            value(slices[key][i / (NY * NX)] * NY * NX + i % (NY * NX)));
        }
    fbp_source *src;
    assert_fails(fbp_source_open(&src, H5 ":/entry/data/plain?image_key=7", NULL), FBP_ERR_INVALID,
                 "no image has this key");
}

static void *read_all(void *arg)
{
    float out[N];

    for (int turn = 0; turn < 20; turn++)
        for (size_t z = 0; z < NZ; z++) {
            if (fbp_source_read(arg, z, 1, 0, NY, FBP_F32, out) != FBP_OK)
                return (void *)"failed";
            for (size_t i = 0; i < NY * NX; i++)
                if ((double)out[i] != value(z * NY * NX + i))
                    return (void *)"wrong";
        }
    return NULL;
}

TEST(threads)
{
    const hid_t file = new_file(H5), how = chunks(2, 2, 2);
    pthread_t thread[6];

    H5Pset_deflate(how, 1);
    put_volume(file, "a", H5T_STD_U16LE, how);
    H5Fclose(file);
    CLEANUP(fbp_source_close)
    fbp_source *src = open_source(H5, NULL); /* the only one needs no name */
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_all, src), 0);
    for (int i = 0; i < 6; i++) {
        void *what;
        pthread_join(thread[i], &what);
        assert_null(what);
    }
}

/* A v7.3 file of MATLAB is HDF5 with the axes the other way round. */
TEST(matlab_turns_axes)
{
    const hsize_t n[3] = {3, 2, 4}; /* A(4, 2, 3): views, rows, columns */
    const hid_t file = new_file(H5);
    double v[24];
    float out[24];

    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 2; r++)
            for (int k = 0; k < 4; k++)
                v[(c * 2 + r) * 4 + k] = 100 * k + 10 * r + c;
    put_set(file, "A", H5T_IEEE_F64LE, 3, n, H5P_DEFAULT, v);
    put_text(file, "A", "MATLAB_class", "double");
    H5Fclose(file);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(H5 ":A", NULL);
    const struct fbp_array_info *info = fbp_source_info(src);
    assert_true(info->n[0] == 3 && info->n[1] == 2 && info->n[2] == 4);
    OK(fbp_source_read(src, 0, 4, 0, 2, FBP_F32, out));
    for (int i = 0; i < 24; i++)
        assert_true((double)out[i] == 100 * (i / 6) + 10 * (i / 3 % 2) + i % 3);
}

TEST(wrong_names)
{
    static const struct {
        const char *name, *says;
        fbp_status status;
    } table[] = {
        {":/exchange/dat", "did you mean \"/exchange/data\"?", FBP_ERR_INVALID},
        {":/exchange/dat", "/exchange/data_dark (6 x 5 x 7)", FBP_ERR_INVALID},
        {":/exchange", "has no data set", FBP_ERR_INVALID},
        {":nothing", "has no data set \"nothing\"", FBP_ERR_INVALID},
        {":/exchange/theta", "1 dimension, expected", FBP_ERR_INVALID},
        {":/text", "neither integers nor floats", FBP_ERR_UNSUPPORTED},
        {":/five", "5 dimensions", FBP_ERR_INVALID},
        {":/pieces", "stored contiguously and uncompressed", FBP_ERR_UNSUPPORTED},
        {":/empty", "but no size may be 0", FBP_ERR_INVALID},
        {":/never", "never written", FBP_ERR_INVALID},
        {":/exchange/data?", "after the '?', expected", FBP_ERR_INVALID},
        {":/exchange/data?image_key=x", "after the '?', expected", FBP_ERR_INVALID},
        {":/exchange/data?image_key=0", "no image_key of 6 entries", FBP_ERR_INVALID},
        {":/exchange/data?sinogram", "a sinogram must have two", FBP_ERR_INVALID},
    };
    const hsize_t n[5] = {1, 2, 2, 2, 1}, none[3] = {2, 0, 2}, some[3] = {2, 2, 2};
    const double v[8] = {0};
    const hid_t file = new_file(H5), type = H5Tcopy(H5T_C_S1);
    fbp_source *src;

    put_volume(file, "/exchange/data", H5T_STD_U16LE, H5P_DEFAULT);
    put_volume(file, "/exchange/data_dark", H5T_STD_U16LE, H5P_DEFAULT);
    put_list(file, "/exchange/theta", H5T_IEEE_F64LE, 8, v);
    const hid_t pieces = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(pieces, 4, n);
    put_set(file, "/five", H5T_STD_U16LE, 5, n, H5P_DEFAULT, v);
    put_set(file, "/pieces", H5T_STD_U16LE, 4, n, pieces, v);
    H5Pclose(pieces);
    put_set(file, "/empty", H5T_STD_U16LE, 3, none, H5P_DEFAULT, NULL);
    put_set(file, "/never", H5T_STD_U16LE, 3, some, H5P_DEFAULT, NULL);
    H5Tset_size(type, 4);
    put_set(file, "/text", type, 2, some, H5P_DEFAULT, NULL);
    H5Fclose(file);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        AUTO_FREE char *path = printed("%s%s", H5, table[i].name);
        assert_int_equal(fbp_source_open(&src, path, NULL), table[i].status);
        assert_null(src);
        assert_says("io_hdf5.h5");
        assert_says(table[i].says);
    }
    assert_int_equal(fbp_source_open(&src, FBP_TEST_DIR "/none.h5:/a", NULL), FBP_ERR_IO);
    put_file(VOL, "x", 1);
    assert_int_equal(fbp_source_open(&src, VOL, NULL), FBP_ERR_INVALID);
    put_file(FBP_TEST_DIR "/io_hdf5.npy", "x", 1);
    assert_fails(fbp_source_open(&src, FBP_TEST_DIR "/io_hdf5.npy:a", NULL), FBP_ERR_INVALID,
                 "is not a file of named arrays");
}

/* Cut anywhere it is refused; fuzz/corpus reads files with changed bytes. */
TEST(cut_files_are_refused)
{
    const hid_t file = new_file(H5), how = chunks(2, 3, 4);
    size_t n;

    H5Pset_shuffle(how);
    H5Pset_deflate(how, 1);
    put_volume(file, "a", H5T_STD_U16LE, how);
    H5Fclose(file);
    AUTO_FREE char *bytes = get_file(H5, &n);
    for (size_t cut = 0; cut < n; cut += n / 40) {
        fbp_source *src;
        put_file(VOL, bytes, cut);
        assert_int_not_equal(fbp_source_open(&src, VOL, NULL), FBP_OK);
        assert_null(src);
        assert_says("io_hdf5_volume.h5");
    }
    remove(VOL);
}

static void put_number(hid_t file, const char *set, const char *attribute, double v)
{
    const hid_t data = H5Dopen2(file, set, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    const hid_t a = H5Acreate2(data, attribute, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);

    assert_true(H5Awrite(a, H5T_NATIVE_DOUBLE, &v) >= 0);
    H5Aclose(a);
    H5Sclose(space);
    H5Dclose(data);
}

/* In one run, in chunks, and turned by MATLAB; the greatest integers lose nothing before the offset
 * is added. */
TEST(numbers_stand_for_values)
{
    static const char *const sets[] = {"/run", "/chunked", "/columns"};
    const hsize_t n[3] = {2, 3, 4}, one[3] = {1, 3, 2};
    const hid_t file = new_file(H5), how = H5Pcreate(H5P_DATASET_CREATE);
    double v[24];
    float out[24];
    fbp_source *src;

    for (int i = 0; i < 24; i++)
        v[i] = 2147483647 - i;
    H5Pset_chunk(how, 3, one);
    put_set(file, sets[0], H5T_STD_I32BE, 3, n, H5P_DEFAULT, v);
    put_set(file, sets[1], H5T_STD_I32LE, 3, n, how, v);
    put_set(file, sets[2], H5T_STD_I32LE, 3, n, H5P_DEFAULT, v);
    put_text(file, sets[2], "MATLAB_class", "int32");
    for (int k = 0; k < 3; k++)
        put_number(file, sets[k], "add_offset", -2147483647);
    put_number(file, sets[1], "scale_factor", 1);
    put_set(file, "/bad", H5T_STD_I32LE, 3, n, H5P_DEFAULT, v);
    put_number(file, "/bad", "scale_factor", 0);
    H5Fclose(file);
    for (int k = 0; k < 3; k++) {
        AUTO_FREE char *path = printed("%s:%s", H5, sets[k]);
        src = open_source(path, NULL);
        const struct fbp_array_info *info = fbp_source_info(src);
        assert_true(info->scale == 1 && info->offset == -2147483647);
        OK(fbp_source_read(src, 0, info->n[2], 0, info->n[1], FBP_F32, out));
        for (int i = 0; i < 24; i++) {
            const int at = k < 2 ? i : i % 2 * 12 + i / 2 % 3 * 4 + i / 6;
            if ((double)out[i] != -at)
                fail_msg("%s: %d: %g instead of %d", sets[k], i, (double)out[i], -at);
        }
        fbp_source_close(&src);
    }
    assert_fails(fbp_source_open(&src, H5 ":/bad", NULL), FBP_ERR_INVALID, "scale_factor");
}

/* Slices in any order; what is written is read back by the library and by this program. */
TEST(sink)
{
    static const struct {
        const char *output, *set;
    } names[] = {{VOL, "/volume"}, {VOL ":/a/b", "/a/b"}, {VOL ":c", "/c"}};
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {NX, NY, NZ},
                                        .spacing_mm = {0.5, 0.25, 2},
                                        .origin_mm = {-1, 0.125, 3},
                                        .unit = "1/mm"};
    float in[N], out[N];

    for (size_t i = 0; i < N; i++)
        in[i] = (float)value(i);
    for (size_t k = 0; k < 3; k++) {
        remove(VOL);
        fbp_sink *s = create_sink(names[k].output, &info, NULL);
        for (size_t z = NZ; z-- > 0;)
            OK(fbp_sink_write(s, z, 1, FBP_F32, in + z * NY * NX));
        assert_false(is_there(VOL));
        OK(fbp_sink_finish(s));
        fbp_sink_close(&s);
        assert_false(is_there(VOL ".part"));

        const hid_t file = H5Fopen(VOL, H5F_ACC_RDONLY, H5P_DEFAULT);
        const hid_t set = H5Dopen2(file, names[k].set, H5P_DEFAULT);
        assert_true(set >= 0);
        assert_true(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
        assert_memory_equal(in, out, sizeof in);
        H5Dclose(set);
        H5Fclose(file);

        CLEANUP(fbp_source_close) fbp_source *src = open_source(VOL, NULL);
        const struct fbp_array_info *found = fbp_source_info(src);
        assert_true(found->has_spacing);
        assert_memory_equal(found->spacing_mm, info.spacing_mm, sizeof info.spacing_mm);
        assert_memory_equal(found->origin_mm, info.origin_mm, sizeof info.origin_mm);
        assert_string_equal(found->unit, "1/mm");
        assert_int_equal(found->row_order, FBP_ROWS_BOTTOM_UP);
        check_parts(src);
    }
}

/* Every name that appears beside the output is one that the next run knows: what a kill leaves in
 * the middle of the header would lie there for ever. */
TEST(header_has_no_file)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {NX, NY, NZ}};
    const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    char events[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
    size_t n_seen = 0;

    assert_true(watch >= 0);
    remove(DRAFT);
    (void)mkdir(DRAFT_DIR, 0777);
    assert_true(inotify_add_watch(watch, DRAFT_DIR, IN_CREATE | IN_MOVED_TO) >= 0);
    fbp_sink *s = create_sink(DRAFT, &info, NULL);
    fbp_sink_close(&s);
    const ssize_t n = read(watch, events, sizeof events);
    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *e = (const struct inotify_event *)(events + at);
        if (strcmp(e->name, "v.h5.part") != 0 && strcmp(e->name, "v.h5.part.log") != 0)
            fail_msg("%s appeared", e->name);
        at += (ssize_t)(sizeof *e + e->len);
        n_seen++;
    }
    assert_true(n_seen >= 1);
    close(watch);
}

/* Nothing waits for whoever would write into a pipe. */
TEST(sink_spares_a_pipe)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {NX, NY, NZ}};
    fbp_sink *s;

    (void)mkdir(DRAFT_DIR, 0777);
    remove(DRAFT);
    assert_int_equal(mkfifo(DRAFT, 0600), 0);
    assert_fails(fbp_sink_open(&s, DRAFT, &info, NULL), FBP_ERR_INVALID, "not a regular file");
    remove(DRAFT);
}

TEST(sink_refuses)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {NX, NY, NZ}};
    const char *keep[] = {VOL ":/volume"};
    const struct fbp_sink_params params = {.struct_size = sizeof params, .keep = keep, .n_keep = 1};
    fbp_sink *s;

    assert_true(is_there(VOL)); /* of the test before */
    assert_fails(fbp_sink_open(&s, VOL ":/other", &info, &params), FBP_ERR_INVALID,
                 "would replace");
    assert_fails(fbp_sink_open(&s, VOL ":/", &info, NULL), FBP_ERR_INVALID, "cannot be created");
    assert_fails(fbp_sink_open(&s, VOL ":/other", &info, NULL), FBP_ERR_INVALID,
                 "would replace the whole file, which also holds /c");
    OK(fbp_sink_open(&s, VOL ":c", &info, NULL));
    fbp_sink_close(&s);
    fbp_source *src = open_source(VOL ":/c", NULL); /* as it was */
    fbp_source_close(&src);
    const hid_t two = H5Fopen(VOL, H5F_ACC_RDWR, H5P_DEFAULT);
    put_volume(two, "group/other", H5T_IEEE_F32LE, H5P_DEFAULT);
    H5Fclose(two);
    assert_fails(fbp_sink_open(&s, VOL, &info, NULL), FBP_ERR_INVALID, "which also holds /");
    put_file(VOL, "no HDF5", 7);
    OK(fbp_sink_open(&s, VOL, &info, NULL));
    fbp_sink_close(&s);
    assert_fails(fbp_sink_open(&s, FBP_TEST_DIR "/no/folder.h5", &info, NULL), FBP_ERR_IO,
                 "create its folder first");
    assert_fails(fbp_sink_open(&s, FBP_TEST_DIR "/io_hdf5.xyz:a", &info, NULL), FBP_ERR_INVALID,
                 "unknown file format");
    remove(VOL);
}

/* A volume, and in the same file what a damaged byte hides, or a link that leads nowhere. */
TEST(sink_spares_what_it_cannot_read)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {NX, NY, NZ}};
    const size_t marks[] = {0, 512, 2048};
    fbp_sink *s;
    size_t n;

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const hid_t how = H5Pcreate(H5P_FILE_CREATE);
        H5Pset_userblock(how, marks[i]);
        const hid_t file = H5Fcreate(VOL, H5F_ACC_TRUNC, how, H5P_DEFAULT);
        put_volume(file, "volume", H5T_IEEE_F32LE, H5P_DEFAULT);
        H5Fclose(file);
        H5Pclose(how);
        OK(fbp_sink_open(&s, VOL, &info, NULL));
        fbp_sink_close(&s);
        AUTO_FREE char *bytes = get_file(VOL, &n);
        bytes[marks[i] + 8] = 99; /* its version */
        put_file(VOL, bytes, n);
        assert_fails(fbp_sink_open(&s, VOL, &info, NULL), FBP_ERR_INVALID,
                     "which may hold data sets that cannot be read; choose another file");
    }
    const hid_t linked = H5Fcreate(VOL, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_volume(linked, "volume", H5T_IEEE_F32LE, H5P_DEFAULT);
    H5Lcreate_external("gone.h5", "/a", linked, "raw", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(linked);
    assert_fails(fbp_sink_open(&s, VOL, &info, NULL), FBP_ERR_INVALID,
                 "also holds /raw (a link to gone.h5:/a), which cannot be opened; choose another");
    remove(VOL);
}

/* A file of the whole name wins; else the last colon behind a file. */
TEST(names_split)
{
    static const struct {
        const char *path, *file, *member;
    } table[] = {
        {FBP_TEST_DIR "/split.h5", FBP_TEST_DIR "/split.h5", NULL},
        {FBP_TEST_DIR "/split.h5:/a/b", FBP_TEST_DIR "/split.h5", "/a/b"},
        {FBP_TEST_DIR "/split.h5:/a:b", FBP_TEST_DIR "/split.h5", "/a:b"},
        {FBP_TEST_DIR "/split.h5:whole", FBP_TEST_DIR "/split.h5:whole", NULL},
        {FBP_TEST_DIR "/split.h5:whole:x", FBP_TEST_DIR "/split.h5:whole", "x"},
        {FBP_TEST_DIR "/not there:x", FBP_TEST_DIR "/not there:x", NULL},
    };

    put_file(FBP_TEST_DIR "/split.h5", "", 0);
    put_file(FBP_TEST_DIR "/split.h5:whole", "", 0);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *file, *member;
        OK(fbp_member_split(table[i].path, &file, &member));
        assert_string_equal(file, table[i].file);
        assert_int_equal(member == NULL, table[i].member == NULL);
        if (member)
            assert_string_equal(member, table[i].member);
        free(file);
        free(member);
    }
    remove(FBP_TEST_DIR "/split.h5");
    remove(FBP_TEST_DIR "/split.h5:whole");
}

int main(int argc, char **argv)
{
    fbp_isolate_readers(true);
    return run_file_tests(argc, argv, NULL, NULL);
}
