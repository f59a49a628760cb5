/* Checks views that a function of the user provides and slices that another takes: the bits of a
 * run between files, and an error of either function, at any call, ends the run with its message.
 */
#include "recon/fixture.h"

#include <pthread.h>
#include <stdatomic.h>

enum { VIEWS = 48, COLUMNS = 40, ROWS = 28 };

/* The program's side. */
struct program {
    const struct fbp_scan *scan;
    const void *views; /* of `type` */
    enum fbp_type type;
    float *volume;
    size_t n[3];
    atomic_uint_fast64_t reads, writes;
    uint64_t fail_read, fail_write; /* this call, from 1 */
    bool fail_begin, fail_end, silent;
    atomic_int begun, ended, complete, inside, most_inside, over,
        wrong; /* wrong: a line of this file */
    unsigned char *written;
};

/* In the library's threads, which cmocka must not leave. */
static void check(struct program *p, int line, bool holds)
{
    if (!holds)
        atomic_store(&p->wrong, line);
}

static void enter(struct program *p)
{
    const int now = atomic_fetch_add(&p->inside, 1) + 1;

    check(p, __LINE__, !atomic_load(&p->over)); /* no call after the end */
    if (now > atomic_load(&p->most_inside))
        atomic_store(&p->most_inside, now);
}

static int leave(struct program *p, bool fails, char *why, size_t n_why)
{
    atomic_fetch_sub(&p->inside, 1);
    if (fails && !p->silent)
        snprintf(why, n_why, "the scanner is on fire\n");
    return fails ? 3 : 0;
}

static int give(void *user, size_t slice0, size_t n_slices, size_t row0, size_t n_rows, void *out,
                char *why, size_t n_why)
{
    struct program *p = user;
    const size_t size = fbp_type_size(p->type), row = COLUMNS * size;

    enter(p);
    const uint64_t call = atomic_fetch_add(&p->reads, 1) + 1;
    check(p, __LINE__, n_slices == 1 && slice0 < VIEWS && n_rows > 0 && row0 + n_rows <= ROWS);
    memcpy(out, (const char *)p->views + (slice0 * ROWS + row0) * row, n_rows * row);
    return leave(p, call == p->fail_read, why, n_why);
}

static int begin(void *user, const size_t n[3], char *why, size_t n_why)
{
    struct program *p = user;

    enter(p);
    check(p, __LINE__, atomic_fetch_add(&p->begun, 1) == 0);
    check(p, __LINE__, memcmp(n, p->n, sizeof p->n) == 0);
    return leave(p, p->fail_begin, why, n_why);
}

static int take(void *user, size_t z0, size_t nz, const float *slices, char *why, size_t n_why)
{
    struct program *p = user;
    const size_t slice = p->n[0] * p->n[1];

    enter(p);
    const uint64_t call = atomic_fetch_add(&p->writes, 1) + 1;
    check(p, __LINE__,
          nz == 1 && z0 < p->n[2] && atomic_load(&p->begun) && !atomic_load(&p->ended));
    check(p, __LINE__, p->written[z0]++ == 0);
    memcpy(p->volume + z0 * slice, slices, slice * sizeof *slices);
    return leave(p, call == p->fail_write, why, n_why);
}

static int end(void *user, int complete, char *why, size_t n_why)
{
    struct program *p = user;

    enter(p);
    check(p, __LINE__, atomic_fetch_add(&p->ended, 1) == 0);
    atomic_store(&p->complete, complete);
    return leave(p, p->fail_end, why, n_why);
}

static struct fbp_scan make_scan(void)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = VIEWS,
                            .panel = {COLUMNS, ROWS},
                            .row_order = FBP_ROWS_BOTTOM_UP,
                            .volume = {{30, 30, 22}, {5, 5, 5}, {0, 0, 0}}};

    add_views(&scan, &(struct orbit){.start_deg = 11, .pitch_mm = {8, 8}});
    simulate_head(&scan, 70);
    return scan;
}

static fbp_status run_program(const struct fbp_recon_params *params, struct program *p,
                              const size_t n[3], size_t concurrent, size_t volume_less)
{
    const struct fbp_source_functions in = {
        .struct_size = sizeof in, .read = give, .user = p, .concurrent = concurrent};
    const struct fbp_sink_functions out = {.struct_size = sizeof out,
                                           .begin = begin,
                                           .write = take,
                                           .end = end,
                                           .user = p,
                                           .concurrent = concurrent};
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {n[0], n[1], n[2]},
                                        .type = p->type,
                                        .row_order = p->scan->row_order};
    struct fbp_recon_params own = *params;
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;

    OK(fbp_source_callback(&own.input.source, &in, &info));
    fbp_status st = fbp_plan_create(&plan, p->scan, &own);
    if (st == FBP_OK) {
        memcpy(p->n, fbp_plan_info(plan)->volume.n, sizeof p->n);
        p->n[2] -= volume_less;
        p->volume = calloc(p->n[0] * p->n[1] * p->n[2], sizeof *p->volume);
        p->written = calloc(p->n[2], 1);
        assert_true(p->volume && p->written);
        OK(fbp_sink_callback(&sink, &out, p->n));
        st = fbp_plan_run_to(plan, NULL, sink, NULL);
    }

    AUTO_FREE char *message = printed("%s", fbp_message());
    fbp_sink_close(&sink);
    atomic_store(&p->over, 1);
    assert_int_equal(p->wrong, 0);
    fbp_plan_destroy(&plan);
    fbp_source_close(&own.input.source);
    if (st == FBP_ERR_IO)
        assert_contains(message, p->silent ? "without a message" : "the scanner is on fire");
    return st;
}

static void free_program(struct program *p)
{
    free(p->volume);
    free(p->written);
    p->volume = NULL;
    p->written = NULL;
}

static const size_t whole[3] = {COLUMNS, ROWS, VIEWS};

static const struct fbp_recon_params *const ways[] = {
    &(const struct fbp_recon_params){
        .struct_size = sizeof(struct fbp_recon_params), .device = "ref", .tuning.slab_slices = 7},
    &(const struct fbp_recon_params){
        .struct_size = sizeof(struct fbp_recon_params), .device = "cpu", .n_threads = 1},
    &(const struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                     .device = "cpu",
                                     .n_threads = 3,
                                     .tuning.slab_slices = 5,
                                     .tuning.batch_views = 8},
    &(const struct fbp_recon_params){
        .struct_size = sizeof(struct fbp_recon_params), .device = "mock:0", .n_threads = 2},
    &(const struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                     .device = "mock:0,1,2",
                                     .n_threads = 3,
                                     .tuning.slab_slices = 3,
                                     .tuning.batch_views = 8},
};

enum { N_WAYS = sizeof ways / sizeof *ways };

static void same_bits(struct fbp_scan *scan, const void *views, enum fbp_type type)
{
    for (int i = 0; i < 2 * N_WAYS; i++) {
        struct program p = {.scan = scan, .views = views, .type = type};
        const size_t concurrent = (size_t)i % 2;
        AUTO_FREE float *want = reconstruct(scan, ways[i / 2]);
        OK(run_program(ways[i / 2], &p, whole, concurrent, 0));
        assert_memory_equal(p.volume, want, p.n[0] * p.n[1] * p.n[2] * sizeof *want);
        assert_true(p.begun == 1 && p.ended == 1 && p.complete == 1);
        assert_int_equal(p.writes, p.n[2]);
        if (!concurrent) /* one reads while another writes */
            assert_true(p.most_inside <= 2);
        free_program(&p);
    }
}

TEST(bits_of_files)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE float *views = read_array(scan.projections);

    same_bits(&scan, views, FBP_F32);
    scan.row_order = FBP_ROWS_TOP_DOWN;
    same_bits(&scan, views, FBP_F32);
}

/* One view of nothing but NaN, and single ones. */
TEST(views_of_nan)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE float *views = read_array(scan.projections);

    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        views[5 * ROWS * COLUMNS + i] = NAN;
    views[1234] = NAN;
    replace_samples(&scan, views);
    same_bits(&scan, views, FBP_F32);
}

/* Counts of another type, through scratch, or straight to a device that takes them. */
TEST(counts)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE float *views = read_array(scan.projections);
    AUTO_FREE uint16_t *n = not_null(malloc(sizeof *n * ROWS * COLUMNS * VIEWS));

    scan.i0 = 60000;
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS * VIEWS; i++) {
        n[i] = (uint16_t)(60000 * exp(-(double)views[i] / 10));
        views[i] = n[i];
    }
    replace_samples(&scan, views);
    same_bits(&scan, n, FBP_U16);
}

/* At every call up to 30: the run ends with the sentence, and what was begun is ended. */
TEST(errors_at_any_call)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE float *views = read_array(scan.projections);

    for (int way = 1; way < N_WAYS; way++)
        for (uint64_t k = 1; k <= 60; k++) {
            struct program p = {.scan = &scan, .views = views, .type = FBP_F32};
            p.fail_read = k <= 30 ? k : 0;
            p.fail_write = k <= 30 ? 0 : k - 30;
            p.silent = k % 5 == 0;
            const fbp_status st = run_program(ways[way], &p, whole, k % 2, 0);
            const bool reached = k <= 30 ? p.reads >= k : p.writes >= k - 30;
            assert_int_equal(st, reached ? FBP_ERR_IO : FBP_OK);
            assert_int_equal(p.ended, p.begun);
            assert_int_equal(p.complete, st == FBP_OK);
            free_program(&p);
        }
}

TEST(errors_of_begin_and_end)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE float *views = read_array(scan.projections);

    for (int way = 1; way < N_WAYS; way++)
        for (int which = 0; which < 2; which++) {
            struct program p = {.scan = &scan, .views = views, .type = FBP_F32};
            p.fail_begin = which == 0;
            p.fail_end = which == 1;
            assert_int_equal(run_program(ways[way], &p, whole, 0, 0), FBP_ERR_IO);
            assert_int_equal(p.begun, 1);
            assert_int_equal(p.ended, which);
            assert_true(which == 1 || p.writes == 0);
            free_program(&p);
        }
}

/* Of several writers each may be the one that the user hears. */
TEST(every_writer_tells_why_it_did_not_begin)
{
    const size_t n[3] = {2, 2, 3};
    struct program p = {.n = {2, 2, 3}, .fail_begin = 1};
    const struct fbp_sink_functions out = {
        .struct_size = sizeof out, .begin = begin, .write = take, .user = &p};
    const float slice[4] = {0};
    fbp_sink *sink = NULL;

    OK(fbp_sink_callback(&sink, &out, n));
    for (size_t z = 0; z < 3; z++) {
        assert_fails(fbp_sink_write(sink, z, 1, FBP_F32, slice), FBP_ERR_IO,
                     "the scanner is on fire");
    }
    assert_int_equal(p.begun, 1);
    assert_int_equal(p.writes, 0);
    fbp_sink_close(&sink);
}

TEST(wrong_sizes)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE float *views = read_array(scan.projections);
    const struct fbp_source_functions none = {.struct_size = sizeof none};
    const struct fbp_sink_functions no_sink = {.struct_size = sizeof no_sink};
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {COLUMNS, ROWS, VIEWS}, .type = FBP_F32};
    fbp_source *source = NULL;
    fbp_sink *sink = NULL;

    for (int axis = 0; axis < 3; axis++) {
        struct program p = {.scan = &scan, .views = views, .type = FBP_F32};
        size_t n[3] = {COLUMNS, ROWS, VIEWS};
        n[axis]--;
        assert_int_equal(run_program(ways[1], &p, n, 0, 0), FBP_ERR_INVALID);
        assert_int_equal(p.reads, 0);
    }
    struct program p = {.scan = &scan, .views = views, .type = FBP_F32};
    assert_int_equal(run_program(ways[1], &p, whole, 0, 1), FBP_ERR_INVALID);
    assert_true(p.reads == 0 && p.begun == 0 && p.ended == 0);
    free_program(&p);
    assert_int_equal(fbp_source_callback(&source, &none, &info), FBP_ERR_INVALID);
    assert_int_equal(fbp_sink_callback(&sink, &no_sink, whole), FBP_ERR_INVALID);
    assert_true(!source && !sink);
}

/* Views that are measured while the run waits for them. */
struct detector {
    struct program p;
    atomic_size_t there;
    atomic_int asked; /* for one that was not there */
};

static size_t count(void *user)
{
    return ((struct detector *)user)->there;
}

static int give_there(void *user, size_t slice0, size_t n_slices, size_t row0, size_t n_rows,
                      void *out, char *why, size_t n_why)
{
    struct detector *d = user;

    if (slice0 + n_slices > d->there)
        atomic_store(&d->asked, 1);
    return give(&d->p, slice0, n_slices, row0, n_rows, out, why, n_why);
}

static void *measure(void *user)
{
    struct detector *d = user;

    while (d->there < VIEWS) {
        usleep(1000);
        d->there++;
    }
    return NULL;
}

/* Views that are measured while the run waits for them give the volume of the file, and no view is
 * requested before it is there.  late: the source is given to the run only. */
static void check_measured(struct fbp_scan *scan, struct fbp_recon_params params, bool late,
                           bool follows)
{
    AUTO_FREE float *views = read_array(scan->projections);
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {COLUMNS, ROWS, VIEWS}, .type = FBP_F32};
    struct detector d = {.p = {.scan = scan, .views = views, .type = FBP_F32}};
    const struct fbp_source_functions in = {
        .struct_size = sizeof in, .read = give_there, .user = &d, .there = count};
    CLEANUP(fbp_source_close) fbp_source *source = NULL;
    AUTO_FREE float *want = reconstruct(scan, &params);
    pthread_t other;

    OK(fbp_source_callback(&source, &in, &info));
    params.input.source = late ? NULL : source;
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(scan, &params);
    assert_int_equal(fbp_plan_info(plan)->follows, follows);
    assert_int_equal(pthread_create(&other, NULL, measure, &d), 0);
    AUTO_FREE float *volume = run_to_memory(plan, late ? source : NULL, NULL);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(d.asked, 0);
    assert_memory_equal(volume, want, grid_size(&scan->volume) * sizeof *want);
}

/* Two slabs read them twice. */
TEST(live_views)
{
    AUTO_DROP struct fbp_scan scan = make_scan();

    check_measured(&scan,
                   (struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                             .device = "cpu",
                                             .tuning.kernel = "column",
                                             .tuning.slab_slices = 11},
                   false, true);
}

/* A plan that does not follow waits for all views: if all views were there when it was made, or if
 * the angles of a row are corrected together. */
TEST(awaited_views)
{
    const struct fbp_recon_params p = {.struct_size = sizeof p, .device = "cpu"};
    struct fbp_corrections rings = {.struct_size = sizeof rings};
    AUTO_DROP struct fbp_scan scan = make_scan();

    check_measured(&scan, p, true, false);
    OK(fbp_corrections_rings(&rings, "sorting:5"));
    OK(fbp_scan_correct(&scan, &rings));
    check_measured(&scan, p, false, false);
}

TEST_MAIN(NULL, NULL)
