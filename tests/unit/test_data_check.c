/* Checks src/pipeline/data_check.c: the thread that reads a view checks it, no device waits for
 * the check, and the warnings depend neither on threads nor on the division of the work. */
#include "recon/fixture.h"

#include "array/array.h"
#include "backend/rows.h"
#include "pipeline/division.h"
#include "pipeline/job.h"
#include "pipeline/run.h"

#include <pthread.h>

enum { VIEWS = 64, COLUMNS = 70, ROWS = 37, PIXELS = COLUMNS * ROWS, DEAD = 29, ONE_SPOT = 31 };

static fbp_rows_fn *rows_of_job;
static size_t n_asked;

static void count_and_ask(const struct fbp_job *job, size_t k0, size_t k1, size_t z0, size_t z1,
                          size_t *r0, size_t *r1)
{
    n_asked++;
    rows_of_job(job, k0, k1, z0, z1, r0, r1);
}

/* Counts of an object that is wider than the panel from some sides; a dead view, and one in which a
 * single sample differs. */
struct fixture {
    struct fbp_scan scan;
    struct fbp_job_tables tables;
    uint16_t *counts;
    fbp_source *source;
};

static void make(struct fixture *f)
{
    *f = (struct fixture){.scan = {.struct_size = sizeof f->scan,
                                   .n_views = VIEWS,
                                   .panel = {COLUMNS, ROWS},
                                   .volume = {{40, 40, 20}, {3, 3, 3}, {0, 0, 0}},
                                   .i0 = 60000}};
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {COLUMNS, ROWS, VIEWS}, .type = FBP_U16};
    struct fbp_recon_params params = {.struct_size = sizeof params, .n_threads = 1};

    add_views(&f->scan, &(struct orbit){.pitch_mm = {4, 4}});
    OK(fbp_job_create(&f->tables, &f->scan, &params, false));
    f->tables.job.input.type = FBP_U16;
    f->tables.job.selection.symmetric_views = 1;
    rows_of_job = f->tables.job.rows;
    f->tables.job.rows = count_and_ask;
    f->counts = malloc((size_t)VIEWS * PIXELS * sizeof *f->counts);
    assert_non_null(f->counts);
    for (size_t i = 0; i < (size_t)VIEWS * PIXELS; i++) {
        const double x = (double)(i % COLUMNS) - 35 - 25 * sin(0.1 * (double)(i / PIXELS));
        f->counts[i] = (uint16_t)(60000 * exp(-sqrt(fmax(0, 400 - x * x)) / 10) + (double)(i % 7));
    }
    for (size_t i = 0; i < PIXELS; i++)
        f->counts[DEAD * PIXELS + i] = f->counts[ONE_SPOT * PIXELS + i] = 500;
    f->counts[ONE_SPOT * PIXELS + 5 * COLUMNS + 3] = 501;
    OK(fbp_source_memory(&f->source, f->counts, &info));
}

static void drop(struct fixture *f)
{
    fbp_source_close(&f->source);
    fbp_job_clear(&f->tables);
    free(f->scan.views);
    free(f->counts);
}

static struct fbp_batch batch_of(size_t view0, size_t n_views, size_t row0, size_t n_rows)
{
    return (struct fbp_batch){.view0 = view0,
                              .n_views = n_views,
                              .row0 = row0,
                              .n_rows = n_rows,
                              .load_row0 = row0,
                              .load_rows = n_rows};
}

TEST(nothing_is_asked_before_views_come)
{
    struct fixture f;
    struct fbp_row_bitmap ledger;
    fbp_data_check *check;

    make(&f);
    n_asked = 0;
    OK(fbp_data_check_create(&check, &f.tables.job));
    assert_int_equal(n_asked, 0);
    OK(fbp_row_bitmap_create(&ledger, &f.tables.job));
    assert_int_equal(n_asked, VIEWS);
    fbp_row_bitmap_clear(&ledger);
    fbp_data_check_destroy(&check);
    drop(&f);
}

static void sum_up(struct fixture *f, fbp_data_check *check, struct fbp_report *out)
{
    *out = (struct fbp_report){.struct_size = sizeof(struct fbp_report)};
    OK(fbp_data_check_finish(check, f->source, false, "views", out));
    fbp_data_check_destroy(&check);
}

/* Some rows of all views, batch after batch, through one buffer. */
struct reader {
    struct fixture *f;
    fbp_data_check *check;
    size_t row0, n_rows, at_once;
    fbp_status status;
};

static void *read_all(void *arg)
{
    struct reader *r = arg;
    const size_t n = r->at_once * r->n_rows * COLUMNS * sizeof(uint16_t);
    AUTO_FREE void *buffer = malloc(n);
    fbp_pool *pool = NULL;

    r->status = buffer ? fbp_pool_create(&pool, 3) : FBP_ERR_NOMEM;
    for (size_t k = 0; r->status == FBP_OK && k < VIEWS; k += r->at_once) {
        const struct fbp_batch b = batch_of(k, r->at_once, r->row0, r->n_rows);
        r->status = fbp_load(r->f->source, false, &r->f->tables.job, &b, k % 3 ? pool : NULL,
                             r->check, buffer);
        memset(buffer, 0xff, n); /* the device has it now */
    }
    fbp_pool_destroy(&pool);
    return NULL;
}

TEST(who_reads_looks)
{
    static const size_t ends[][3] = {{0, ROWS, ROWS}, {0, 19, ROWS}, {0, 5, 20}, {0, 24, ROWS}};
    struct fixture f;
    struct fbp_report wanted = {.struct_size = sizeof wanted},
                      found = {.struct_size = sizeof found};
    fbp_data_check *check;

    make(&f);
    OK(fbp_data_check_create(&check, &f.tables.job));
    const struct fbp_batch all = batch_of(0, VIEWS, 0, ROWS);
    for (size_t k = 0; k < VIEWS; k++)
        fbp_data_check_view(check, &all, k, f.counts);
    sum_up(&f, check, &wanted);
    assert_int_equal(wanted.dead_views, 1);
    assert_true(wanted.truncated_views > 8 && wanted.truncated_views < VIEWS - 8);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct reader readers[3];
        pthread_t threads[3];
        OK(fbp_data_check_create(&check, &f.tables.job));
        for (size_t t = 0; t < 3; t++) { /* in turns, of neighbouring and of the same rows */
            const size_t row0 = t < 2 ? ends[i][t] : 0, end = t < 2 ? ends[i][t + 1] : ROWS;
            readers[t] = (struct reader){&f, check, row0, end - row0, (size_t)4 << t, FBP_OK};
            assert_int_equal(pthread_create(&threads[t], NULL, read_all, &readers[t]), 0);
        }
        for (size_t t = 0; t < 3; t++) {
            pthread_join(threads[t], NULL);
            OK(readers[t].status);
        }
        sum_up(&f, check, &found);
        assert_int_equal(found.dead_views, wanted.dead_views);
        assert_int_equal(found.truncated_views, wanted.truncated_views);
        assert_int_equal(found.truncated_first, wanted.truncated_first);
        assert_int_equal(found.truncated_last, wanted.truncated_last);
        assert_memory_equal(found.truncated, wanted.truncated, sizeof found.truncated);
    }
    drop(&f);
}

static bool has(const struct fbp_row_bitmap *l, size_t view, size_t row)
{
    const size_t at = view * ROWS + row;
    return l->bits[at / FBP_ROW_BITMAP_BITS] >> at % FBP_ROW_BITMAP_BITS & 1;
}

/* Each row that is needed belongs to the first whose tasks read it. */
TEST(rows_are_shared_out)
{
    static const struct fbp_task tasks[] = {
        {.batch = {.view0 = 0, .n_views = 20, .row0 = 3, .n_rows = 11}, .loads = true},
        {.batch = {.view0 = 17, .n_views = 30, .row0 = 9, .n_rows = 28}, .loads = true},
        {.batch = {.view0 = 0, .n_views = VIEWS, .row0 = 0, .n_rows = ROWS}, .loads = true}};
    enum { SHARES = sizeof tasks / sizeof *tasks };
    static const size_t box[2] = {6, 13};
    struct fbp_row_bitmap needed, rest, share[SHARES];
    struct fixture f;

    make(&f);
    memcpy(f.tables.job.requested.box[2], box, sizeof box); /* not all rows */
    OK(fbp_row_bitmap_create(&needed, &f.tables.job));
    OK(fbp_row_bitmap_create(&rest, &f.tables.job));
    for (size_t i = 0; i < SHARES; i++) {
        OK(fbp_row_bitmap_empty(&share[i], &f.tables.job));
        share[i].bits[0] = 1; /* what it had before */
        fbp_row_bitmap_share(&rest, &f.tables.job, &tasks[i], 1, &share[i]);
    }
    for (size_t k = 0; k < VIEWS; k++) {
        size_t r0, r1;
        rows_of_job(&f.tables.job, k, k + 1, box[0], box[1], &r0, &r1);
        assert_true(r0 > 0 && r1 < ROWS);
        for (size_t r = 0; r < ROWS; r++) {
            bool wanted = r >= r0 && r < r1;
            assert_int_equal(has(&needed, k, r), wanted);
            for (size_t i = 0; i < SHARES; i++) {
                const struct fbp_batch *b = &tasks[i].batch;
                const bool reads = k >= b->view0 && k < b->view0 + b->n_views && r >= b->row0 &&
                                   r < b->row0 + b->n_rows;
                assert_int_equal(has(&share[i], k, r), wanted && reads);
                wanted = wanted && !reads;
            }
            assert_false(has(&rest, k, r));
        }
    }
    for (size_t i = 0; i < SHARES; i++)
        fbp_row_bitmap_clear(&share[i]);
    fbp_row_bitmap_clear(&needed);
    fbp_row_bitmap_clear(&rest);
    drop(&f);
}

TEST(clean_rows_are_not_asked_for)
{
    unsigned bits[VIEWS * ROWS / FBP_ROW_BITMAP_BITS + 1];
    struct fbp_row_bitmap ledger = {VIEWS, ROWS, bits};
    struct fbp_prep_counts counts = {0};
    struct fixture f;

    make(&f);
    memset(bits, 0xff, sizeof bits);
    for (int time = 0; time < 3; time++) {
        float clean[COLUMNS], spoilt[COLUMNS];
        for (size_t c = 0; c < COLUMNS; c++)
            clean[c] = spoilt[c] = 30000;
        spoilt[7] = NAN;
        spoilt[9] = -3;
        fbp_prepare_row(&f.tables.job, &ledger, 12, 6, clean, &counts);
        fbp_prepare_row(&f.tables.job, &ledger, 12, 7, spoilt, &counts);
        assert_true(has(&ledger, 12, 6));
        assert_false(has(&ledger, 12, 7));
        assert_int_equal(counts.not_finite, 1);
        assert_int_equal(counts.clipped, 1);
    }
    drop(&f);
}

/* The predicted memory of a check is that of its results, apart from a constant. */
TEST(memory_is_that_of_results)
{
    struct fixture f;

    make(&f);
    struct fbp_job one = f.tables.job;
    one.n_views = 1;
    assert_int_equal(fbp_data_check_bytes(&f.tables.job) - fbp_data_check_bytes(&one),
                     fbp_data_check_packed(&f.tables.job) - fbp_data_check_packed(&one));
    drop(&f);
}

TEST_MAIN(NULL, NULL)
