/* HDF5 in several files, which a small one joins: the volume of one file, also where all are moved;
 * what is replaced is there until the new one is; no two processes write to one page of a file. */
#include "unit/split_util.h"

#include "array/format/hdf5/hdf5.h"

#include <dirent.h>
#include <sys/resource.h>

static void the_files_are_one_volume(void **state)
{
    const struct output o = split_into(7, 0), plain = {"p.h5", 0, 0, 0};

    (void)state;
    begin_empty();
    write_alone(&o);
    write_alone(&plain);
    assert_values("v.h5", volume, NZ);
    fbp_source *a = open_source("v.h5", NULL), *b = open_source("p.h5", NULL);
    struct fbp_array_info x = *fbp_source_info(a), y = *fbp_source_info(b);
    assert_memory_equal(x.n, y.n, sizeof x.n);
    assert_memory_equal(x.spacing_mm, y.spacing_mm, sizeof x.spacing_mm);
    assert_memory_equal(x.origin_mm, y.origin_mm, sizeof x.origin_mm);
    assert_string_equal(x.unit, y.unit);
    assert_int_equal(x.type, y.type);
    assert_int_equal(x.row_order, y.row_order);
    fbp_source_close(&a);
    fbp_source_close(&b);
    assert_files("v.h5.*/slices_*", 3);
    char *part = only("v.h5.*/slices_07-13.h5"); /* a volume, too, at its place */
    assert_values(part, volume + 7 * SLICE, 7);
    a = open_source(part, NULL);
    assert_float_equal(fbp_source_info(a)->origin_mm[2], 7, 0);
    fbp_source_close(&a);
    free(part);
    assert_files("v.h5*", 2);
}

static void all_can_be_moved(void **state)
{
    const struct output o = split_into(3, 0);

    (void)state;
    begin_empty();
    write_alone(&o);
    assert_int_equal(system("mkdir ../moved && mv v.h5* ../moved"), 0);
    assert_values("../moved/v.h5", volume, NZ);
    assert_int_equal(chdir("../moved"), 0);
    assert_values("v.h5", volume, NZ);
    assert_int_equal(system("ln -s moved/v.h5 ../link.h5"), 0);
    assert_values("../link.h5", volume, NZ);
    assert_int_equal(chdir("../got"), 0);
    assert_int_equal(system("rm -r ../moved ../link.h5"), 0);
}

static void types_and_names(void **state)
{
    const struct fbp_array_info i = info();
    const struct fbp_sink_params p = {
        .struct_size = sizeof p, .type = FBP_U16, .range = {0, 1}, .split = 6};

    (void)state;
    begin_empty();
    assert_int_equal(write_volume("50%b%%.h5:/a/b", &i, &p), FBP_OK); /* without a fingerprint */
    assert_files("50%b%%.h5*", 2);
    fbp_source *s = open_source("50%b%%.h5:/a/b", NULL);
    float got[SLICE];
    assert_int_equal(fbp_source_read(s, 8, 1, 0, NY, got), FBP_OK);
    for (size_t k = 0; k < SLICE; k++)
        assert_float_equal(got[k], volume[8 * SLICE + k], 1e-5);
    fbp_source_close(&s);
}

/* A frame of a series begins a new file. */
static void series(void **state)
{
    const struct fbp_sink_params p = {.struct_size = sizeof p, .fingerprint = 7, .split = 4};
    struct fbp_array_info i = info();

    (void)state;
    begin_empty();
    i.frames = 2;
    assert_int_equal(write_volume("v.h5", &i, &p), FBP_OK);
    assert_files("v.h5.*/frame_?_slices_?-?.h5", 6);
    assert_files("v.h5.*/frame_1_slices_8-9.h5", 1);
    assert_values("v.h5", volume, NZ);
    fbp_source *s = open_source("v.h5", NULL);
    assert_int_equal(fbp_source_info(s)->frames, 2);
    float *got = malloc(8 * SLICE * sizeof *got);
    assert_int_equal(fbp_source_read(s, 7, 8, 0, NY, got), FBP_OK); /* of both */
    assert_memory_equal(got, volume + 7 * SLICE, 8 * SLICE * sizeof *got);
    free(got);
    fbp_source_close(&s);
}

static size_t open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t n = 0;

    while (dir && readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void a_file_that_is_missing_is_named(void **state)
{
    const struct output o = split_into(5, 0);
    struct fbp_hdf5_array a = {
        .how = FBP_HDF5_LIBRARY, .rank = 3, .n_slices = NZ, .file = "v.h5", .data_set = "/volume"};
    float got[SLICE];
    struct fbp_hdf5_block b = {.path = "v.h5",
                               .array = &a,
                               .first = {0, 0, 6},
                               .n = {NX, NY, 1},
                               .room = {NX, NY, 1},
                               .out = got};
    struct fbp_blob none = {0};
    fbp_source *s = NULL;

    (void)state;
    begin_empty();
    write_alone(&o);
    a.info = info();
    a.info.type = FBP_F32;
    assert_int_equal(fbp_hdf5_read_block(&b, &none), FBP_OK);
    assert_memory_equal(got, volume + 6 * SLICE, sizeof got);
    char *part = only("v.h5.*/slices_05-09.h5");
    assert_int_equal(rename(part, "away.h5"), 0);
    assert_int_equal(fbp_source_open(&s, "v.h5", NULL), FBP_ERR_INVALID);
    assert_says(part);
    assert_says("not there");
    const size_t n = open_files();
    for (int k = 0; k < 3; k++) /* nothing stays open of what fails */
        assert_int_equal(fbp_hdf5_read_block(&b, &none), FBP_ERR_INVALID);
    assert_says(part);
    assert_int_equal(open_files(), n);
    assert_int_equal(truncate("away.h5", 30000), 0);
    assert_int_equal(rename("away.h5", part), 0);
    assert_int_equal(fbp_source_open(&s, "v.h5", NULL), FBP_ERR_INVALID);
    assert_says(part);
    free(part);
}

/* Until the new one has its name the old one can be read; then nothing of it is left. */
static void what_is_replaced_is_there_until_then(void **state)
{
    const struct output old = split_into(3, 0), new = split_into(4, 8), plain = {"v.h5", 0, 9, 0};
    const struct output *const others[] = {&old, &new, &plain};
    float zeros[NZ * SLICE] = {0};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        begin_empty();
        write_alone(&old);
        fbp_sink *s = join(others[k], 1, 1);
        assert_int_equal(fbp_sink_write(s, 0, NZ, zeros), FBP_OK);
        assert_values("v.h5", volume, NZ);
        assert_int_equal(fbp_sink_finish(s), FBP_OK);
        fbp_sink_close(&s);
        assert_values("v.h5", zeros, NZ);
        assert_files("v.h5*", others[k]->split ? 2 : 1);
        assert_files("v.h5.*/*", others[k]->split ? (NZ - 1) / others[k]->split + 1 : 0);
    }
}

/* As kills leave it, around the moment when the new one gets its name. */
static void old_files_are_removed_once(void **state)
{
    const struct output old = split_into(3, 0), new = split_into(4, 8), next = split_into(5, 9);

    (void)state;
    begin_empty();
    write_alone(&old);
    char *folder = only("v.h5.*");
    char line[200];
    do_part(&new, 1, 2); /* it was noted, and the new one had no name yet */
    snprintf(line, sizeof line, "echo %s >v.h5.part.old", folder);
    assert_int_equal(system(line), 0);
    assert_values("v.h5", volume, NZ);
    assert_int_equal(do_part(&new, 2, 2), 0);
    assert_values("v.h5", volume, NZ);
    assert_files("v.h5*", 2);

    begin_empty(); /* the new one had its name, and both were there */
    write_alone(&old);
    assert_int_equal(system("cp -r v.h5.* kept"), 0);
    do_part(&new, 1, 2);
    do_part(&new, 2, 2);
    snprintf(line, sizeof line,
             "mv kept %s; echo %s >v.h5.part.old; echo fbp-journal 2 >v.h5.part.log", folder,
             folder);
    assert_int_equal(system(line), 0);
    write_alone(&next);
    assert_files("v.h5*", 2);
    assert_values("v.h5", volume, NZ);

    free(folder);
}

/* Its name is needed; a part of one of ours is what a kill leaves. */
static void a_note_of_somebody_else_is_refused(void **state)
{
    static const struct {
        const char *line;
        bool ours;
    } notes[] = {
        {"echo mine >v.h5.part.old", false},
        {"echo ../got/v.h5.0123abcd >v.h5.part.old", false},
        {"echo v.h5.0123abcdx >v.h5.part.old", false},
        {"(echo v.h5.0123abcd; echo v.h5.0123abcd) >v.h5.part.old", false},
        {"ln -s v.h5 v.h5.part.old", false},
        {"mkdir v.h5.part.old", false},
        {"echo v.h5.0123abcd >v.h5.part.old", true},
        {"printf v.h5.01 >v.h5.part.old", true},
        {"printf v. >v.h5.part.old", true},
        {": >v.h5.part.old", true},
    };
    const struct output split = split_into(3, 0), plain = {"v.h5", 0, 0, 0};

    (void)state;
    for (size_t k = 0; k < 2 * (sizeof notes / sizeof *notes); k++) {
        const struct fbp_sink_params p = params_of(k % 2 ? &split : &plain);
        const struct fbp_array_info i = info();
        begin_empty();
        write_alone(&split);
        assert_int_equal(system(notes[k / 2].line), 0);
        const fbp_status st = write_volume("v.h5", &i, &p);
        assert_int_equal(st, notes[k / 2].ours ? FBP_OK : FBP_ERR_INVALID);
        if (!notes[k / 2].ours)
            assert_says("v.h5.part.old: is there and was not left by fbp");
        assert_int_equal(system("[ -e v.h5.part.old ] || [ -h v.h5.part.old ]") != 0,
                         notes[k / 2].ours);
        assert_values("v.h5", volume, NZ);
    }
}

/* What has the folder's name is told as it is; what PATH.part names is only what was begun. */
static void names_that_are_taken(void **state)
{
    const struct output o = split_into(3, 0);
    const struct fbp_array_info i = info();
    struct fbp_sink_params p = params_of(&o);
    fbp_sink *s = NULL;
    char line[200];

    (void)state;
    begin_empty();
    write_alone(&o);
    char *folder = only("v.h5.*");
    for (int k = 0; k < 2; k++) {
        begin_empty();
        snprintf(line, sizeof line, k ? "mkdir %s && touch %s/x" : "touch %s", folder, folder);
        assert_int_equal(system(line), 0);
        assert_int_equal(write_volume("v.h5", &i, &p), FBP_ERR_INVALID);
        assert_says(folder);
        assert_says("nothing unfinished names it: move it away");
        assert_files("*", 1);
    }
    begin_empty(); /* PATH came after what was begun, and takes the folder that this would have */
    die(&o, 1, 2, 4);
    assert_int_equal(system("mkdir x && mv v.h5.* x"), 0);
    write_alone(&o);
    assert_int_equal(system("mv x/v.h5.part* . && rm -r x"), 0);
    assert_int_equal(try_join(&s, &o, 2, 2), FBP_ERR_INVALID);
    assert_says("v.h5 was replaced or removed meanwhile: remove v.h5.part* and start again");
    p.resume = true;
    assert_int_equal(fbp_sink_open(&s, "v.h5", &i, &p), FBP_ERR_INVALID);
    assert_values("v.h5", volume, NZ);
    assert_int_equal(system("rm v.h5.part*"), 0);
    assert_int_equal(write_volume("v.h5", &i, &p), FBP_OK);
    assert_values("v.h5", volume, NZ);
    assert_files("v.h5*", 2);
    free(folder);
}

/* "v.h5." is a part of "av.h5.TOKEN/", too. */
static void names_of_others_are_not_taken_for_ours(void **state)
{
    const struct output split = split_into(3, 0), other = split_into(3, 8);
    const struct fbp_array_info i = info();
    const struct fbp_sink_params p = params_of(&split);

    (void)state;
    begin_empty();
    write_alone(&split);
    assert_int_equal(rename("v.h5", "kept.h5"), 0);
    assert_int_equal(write_volume("av.h5", &i, &p), FBP_OK);
    assert_int_equal(rename("av.h5", "v.h5"), 0);
    write_alone(&other);
    assert_values("kept.h5", volume, NZ);
}

/* It was moved away while another was begun, and back. */
static void an_old_volume_that_came_back_stays(void **state)
{
    const struct output o = split_into(3, 0), next = split_into(3, 9);
    const struct fbp_sink_params p = params_of(&o);
    const struct fbp_array_info i = info();
    fbp_sink *s = NULL;

    (void)state;
    begin_empty();
    write_alone(&o);
    assert_int_equal(system("mkdir old && mv v.h5* old"), 0);
    assert_int_equal(fbp_sink_open(&s, "v.h5", &i, &p), FBP_OK);
    assert_int_equal(fbp_sink_write(s, 0, 5, volume), FBP_OK);
    fbp_sink_close(&s);
    assert_int_equal(system("rm -r v.h5.[0-9a-f]* && mv old/* ."), 0);
    const struct fbp_sink_params another = params_of(&next);
    assert_int_equal(fbp_sink_open(&s, "v.h5", &i, &another), FBP_OK);
    assert_values("v.h5", volume, NZ);
    fbp_sink_close(&s);
    assert_values("v.h5", volume, NZ);
    assert_files("v.h5*", 2);
}

static void another_array_of_a_file_is_another_output(void **state)
{
    static const size_t splits[] = {0, 3};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const struct output one = {"v.h5:/rec/x", 0, 0, splits[k]},
                            other = {"v.h5:/rec/y", 0, 0, splits[k]};
        struct fbp_sink_params p = params_of(&other);
        const struct fbp_array_info i = info();
        fbp_sink *s = NULL;
        begin_empty();
        do_part(&one, 1, 2);
        assert_int_equal(try_join(&s, &other, 2, 2), FBP_ERR_INVALID);
        assert_says("other options");
        char *folder = splits[k] ? only("v.h5.[0-9a-f]*") : NULL;
        assert_says(folder ? folder : "v.h5.part.log*"); /* what is to be removed */
        free(folder);
        p.resume = true;
        assert_int_equal(fbp_sink_open(&s, other.name, &i, &p), FBP_ERR_INVALID);
        do_part(&one, 2, 2);
        assert_values("v.h5:/rec/x", volume, NZ);
    }
}

/* One process and several, in other files than before, without --resume. */
static void what_was_left_with_other_files_is_removed(void **state)
{
    const struct output first = split_into(3, 0), second = split_into(4, 0),
                        plain = {"v.h5", 0, 0, 0};
    const struct fbp_array_info i = info();
    fbp_sink *s = NULL;

    (void)state;
    for (int k = 0; k < 2; k++) {
        const struct fbp_sink_params p = params_of(&first);
        begin_empty();
        assert_int_equal(fbp_sink_open(&s, "v.h5", &i, &p), FBP_OK);
        assert_int_equal(fbp_sink_write(s, 0, 5, volume), FBP_OK);
        fbp_sink_close(&s); /* can be resumed */
        assert_files("v.h5*", 3);
        write_alone(k ? &second : &plain);
        assert_files("v.h5*", k ? 2 : 1);
        assert_values("v.h5", volume, NZ);
    }
    assert_int_equal(try_join(&s, &first, 1, 1), FBP_OK); /* never a slice: nothing stays */
    fbp_sink_close(&s);
    assert_files("v.h5*", 2);
}

static void resumed_only_in_the_same_files(void **state)
{
    const struct output first = split_into(3, 0), other = split_into(4, 0);
    struct fbp_sink_params p = params_of(&first);
    const struct fbp_array_info i = info();
    fbp_sink *s = NULL;

    (void)state;
    begin_empty();
    die(&first, 1, 2, 4);
    assert_int_not_equal(try_join(&s, &other, 2, 2), FBP_OK);
    assert_says("other options");
    p.resume = true;
    assert_int_equal(fbp_sink_open(&s, "v.h5", &i, &p), FBP_OK);
    for (size_t z = 0; z < NZ; z++)
        if (!fbp_sink_has(s, z, 1))
            assert_int_equal(fbp_sink_write(s, z, 1, volume + z * SLICE), FBP_OK);
    assert_int_equal(fbp_sink_finish(s), FBP_OK);
    fbp_sink_close(&s);
    assert_values("v.h5", volume, NZ);
    assert_files("v.h5*", 2);
}

/* A folder of that name that nothing unfinished names is another volume's, perhaps one that was
 * renamed. */
static void what_is_not_ours_stays(void **state)
{
    const struct output o = split_into(3, 0);
    const struct fbp_array_info i = info();
    const struct fbp_sink_params p = params_of(&o);

    (void)state;
    begin_empty();
    write_alone(&o);
    assert_int_equal(rename("v.h5", "kept.h5"), 0);
    assert_int_equal(write_volume("v.h5", &i, &p), FBP_ERR_INVALID);
    assert_says("unless another file joins what is in it");
    assert_values("kept.h5", volume, NZ);
    assert_files("*", 2);
    const struct output other = split_into(3, 8);
    write_alone(&other);
    assert_values("kept.h5", volume, NZ);
    assert_files("*", 4);
    assert_files("v.h5.*/slices_00-02.h5", 2);
}

static void inputs_are_spared(void **state)
{
    const struct output o = split_into(3, 0);
    const struct fbp_array_info i = info();
    struct fbp_sink_params p = params_of(&o);

    (void)state;
    begin_empty();
    write_alone(&o);
    char *part = only("v.h5.*/slices_03-05.h5"), pattern[60];
    snprintf(pattern, sizeof pattern, "%.13s/slices_%%02d.h5", part);
    const char *const inputs[] = {"v.h5", part, pattern};
    for (size_t k = 0; k < 3; k++) {
        p.keep = &inputs[k];
        p.n_keep = 1;
        p.force = false;
        assert_int_equal(write_volume("v.h5", &i, &p), FBP_ERR_INVALID);
        assert_says("would replace");
        assert_values("v.h5", volume, NZ);
    }
    p.force = true;
    p.n_keep = 2;
    p.keep = inputs;
    assert_int_equal(write_volume("v.h5", &i, &p), FBP_OK);
    free(part);
}

static void what_is_not_split(void **state)
{
    static const char *const names[] = {"v.mha", "v.ome.zarr", "%02d.tif", "v.tif",
                                        "null:", "hash:",      "v.mat",    "v.nii.gz"};
    struct fbp_sink_params p = {.struct_size = sizeof p, .split = 2};
    struct fbp_array_info i = info();
    fbp_sink *s = NULL;

    (void)state;
    begin_empty();
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        assert_int_equal(fbp_sink_open(&s, names[k], &i, &p), FBP_ERR_UNSUPPORTED);
        assert_says("is not split");
        assert_says(".h5");
    }
    i.n[2] = 4097;
    p.split = 1;
    assert_int_equal(fbp_sink_open(&s, "v.h5", &i, &p), FBP_ERR_INVALID);
    assert_says("4096 are the most: give them more slices");
    i.frames = 4097;
    assert_int_equal(fbp_sink_open(&s, "v.h5", &i, &p), FBP_ERR_INVALID);
    assert_says("4097 frames would be as many files or more");
    assert_says("leave --split out");
    assert_files("*", 0);
}

/* Opening fails at one place after another: nothing is left. */
static void few_files_may_be_open(void **state)
{
    const struct output o = split_into(3, 0);
    const struct fbp_sink_params p = params_of(&o);
    const struct fbp_array_info i = info();
    struct rlimit before, now;
    size_t failed = 0;
    fbp_sink *s = NULL;

    (void)state;
    begin_empty();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    now = before;
    for (now.rlim_cur = 3; !s && now.rlim_cur < 200; now.rlim_cur++) {
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
        const fbp_status st = fbp_sink_open(&s, "v.h5", &i, &p);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        failed += st != FBP_OK;
        if (st != FBP_OK)
            assert_files("*", 0);
    }
    assert_non_null(s);
    assert_true(failed > 2);
    fbp_sink_close(&s);
    assert_files("*", 0);
}

/* What a process has changed in a file is within stripes that are its alone. */
static void look_at_stripes(const char *before, const char *after, size_t n, size_t stripe,
                            size_t first, size_t slices, size_t p, size_t *whole)
{
    const size_t offset = n - slices * SLICE * sizeof(float);

    for (size_t at = 0; at < n; at++) {
        if (before[at] == after[at])
            continue;
        for (size_t k = at / stripe * stripe; k < (at / stripe + 1) * stripe && k < n; k++)
            assert_true(k < offset ||
                        is_of(first + (k - offset) / (SLICE * sizeof(float)), p, PARTS));
        if (at < offset) /* its header comes with its first sample */
            assert_true(is_of(first, p, PARTS));
        ++*whole;
        at = (at / stripe + 1) * stripe - 1;
    }
}

static void no_two_processes_write_to_one_page(void **state)
{
    static const char *const stripes[] = {"4096", "16384"};
    enum { EACH = 6, FILES = 4 };
    const struct output o = split_into(EACH, 0);

    (void)state;
    for (size_t i = 0; i < sizeof stripes / sizeof *stripes; i++) {
        const size_t stripe = (size_t)atol(stripes[i]);
        fbp_sink *s[PARTS];
        char *before[FILES] = {0};
        size_t whole = 0;
        setenv("FBP_STRIPE", stripes[i], 1);
        begin_output(&o);
        for (size_t p = 0; p < PARTS; p++) {
            s[p] = join(&o, p + 1, PARTS);
            write_some(s[p], p + 1, PARTS, NZ);
            for (size_t f = 0; f < FILES; f++) {
                const size_t first = f * EACH, nz = first + EACH < NZ ? EACH : NZ - first;
                char name[60];
                size_t n;
                snprintf(name, sizeof name, "v.h5.*/slices_%02zu-*", first);
                char *path = only(name), *after = get_file(path, &n);
                if (!before[f])
                    before[f] = calloc(n, 1);
                look_at_stripes(before[f], after, n, stripe, first, nz, p + 1, &whole);
                free(before[f]);
                free(path);
                before[f] = after;
            }
        }
        assert_true(whole > 0);
        for (size_t p = 0; p < PARTS; p++) {
            assert_int_equal(fbp_sink_finish(s[p]), FBP_OK);
            fbp_sink_close(&s[p]);
        }
        for (size_t f = 0; f < FILES; f++)
            free(before[f]);
        assert_same_folders();
    }
    unsetenv("FBP_STRIPE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_files_are_one_volume),
        cmocka_unit_test(all_can_be_moved),
        cmocka_unit_test(types_and_names),
        cmocka_unit_test(series),
        cmocka_unit_test(a_file_that_is_missing_is_named),
        cmocka_unit_test(what_is_replaced_is_there_until_then),
        cmocka_unit_test(old_files_are_removed_once),
        cmocka_unit_test(a_note_of_somebody_else_is_refused),
        cmocka_unit_test(names_that_are_taken),
        cmocka_unit_test(names_of_others_are_not_taken_for_ours),
        cmocka_unit_test(an_old_volume_that_came_back_stays),
        cmocka_unit_test(another_array_of_a_file_is_another_output),
        cmocka_unit_test(what_was_left_with_other_files_is_removed),
        cmocka_unit_test(resumed_only_in_the_same_files),
        cmocka_unit_test(what_is_not_ours_stays),
        cmocka_unit_test(inputs_are_spared),
        cmocka_unit_test(what_is_not_split),
        cmocka_unit_test(few_files_may_be_open),
        cmocka_unit_test(no_two_processes_write_to_one_page),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
