/* Checks that views of a file with the top row first arrive bottom row first, whatever number of
 * rows fits into a block. */
#include "unit/io_util.h"

#include "array/array.h"
#include "backend/rows.h"
#include "pipeline/run.h"

enum { N_ROWS = 70, N_VIEWS = 3 };

static uint16_t number(size_t view, size_t row, size_t column)
{
    return (uint16_t)(view * 20011 + row * 311 + column * 7);
}

/* Rows [FIRST, FIRST + n) of views 1 and 2, counted from below. */
static void check(size_t n_columns, size_t n, bool as_is, bool top_down, bool unpacks)
{
    enum { FIRST = 2 };
    const size_t view = N_ROWS * n_columns;
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {n_columns, N_ROWS, N_VIEWS},
                                        .type = FBP_U16,
                                        .row_order =
                                            top_down ? FBP_ROWS_TOP_DOWN : FBP_ROWS_BOTTOM_UP};
    const struct fbp_job job = {.panel = {.n_columns = n_columns, .n_rows = N_ROWS},
                                .n_views = N_VIEWS,
                                .selection.symmetric_views = 1,
                                .input.type = as_is ? FBP_U16 : FBP_F32,
                                .input.unpacks = unpacks};
    const struct fbp_batch batch = {
        .view0 = 1, .n_views = 2, .load_row0 = FIRST, .load_rows = n, .row0 = FIRST, .n_rows = n};
    AUTO_FREE uint16_t *samples = malloc(N_VIEWS * view * sizeof *samples);
    AUTO_FREE float *out = calloc(2 * n * n_columns + 1, sizeof *out);

    assert_true(samples && out);
    for (size_t i = 0; i < N_VIEWS * view; i++)
        samples[i] = number(i / view, i / n_columns % N_ROWS, i % n_columns);
    CLEANUP(fbp_source_close) fbp_source *src = memory_source(samples, &info);
    OK(fbp_load(src, top_down, &job, &batch, NULL, NULL, out));
    for (size_t i = 0; i < 2 * n * n_columns; i++) {
        const size_t up = FIRST + i / n_columns % n, row = top_down ? N_ROWS - 1 - up : up;
        const uint16_t wanted = number(1 + i / n_columns / n, row, i % n_columns);
        assert_true(as_is ? ((uint16_t *)(void *)out)[i] == wanted : out[i] == (float)wanted);
    }
}

TEST(rows_run_upwards)
{
    /* A view is less than a band; more, with one row or several left; a row is more than half. */
    static const size_t columns[] = {5, 496, 1000, 9001, 33000};

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (size_t n = 1; n <= N_ROWS - 2; n += n < 60 ? 31 : 2)
            for (int k = 0; k < 8; k++)
                check(columns[i], n, k & 1, k & 2, k & 4);
}

TEST_MAIN(NULL, NULL)
