/*
 * Columns of pictures in double, every variant against a plain loop on guarded buffers.  An
 * argument is the seed.
 */
#include "backend/cpu/simd.h"
#include "check/guarded.h"
#include "check/levels.h"

#include <math.h>

enum { VIEWS = 8, MOST = 150, COLUMNS = 5 };

/* Pictures of a few columns, and of each two of these. */
struct views {
    struct guarded memory;
    size_t n, rows, stride;
    struct fbp_bp_column_double view[VIEWS];
};

static double *doubles(const struct guarded *g)
{
    return (double *)(void *)g->data;
}

static void make_views(struct views *v, size_t n, size_t rows)
{
    v->n = n;
    v->rows = rows;
    v->stride = rows + FBP_COLUMN_DOUBLE_BEYOND;
    v->memory = guarded(2 * n * COLUMNS * v->stride);
    for (size_t i = 0; i < n * COLUMNS * v->stride; i++)
        doubles(&v->memory)[i] = (double)uniform(-1, 1);
    for (size_t k = 0; k < n; k++) {
        const size_t column = k * COLUMNS + (size_t)rand() % (COLUMNS - 1);
        const double part = (double)uniform(0, 1);
        v->view[k] =
            (struct fbp_bp_column_double){doubles(&v->memory) + column * v->stride, 1 - part, part};
    }
}

/* All values, at the end of a page. */
static double worst_of(fbp_bp_column_double_fn *fn, const struct views *v)
{
    struct guarded out = guarded(2 * v->rows);
    double *const dst = doubles(&out), worst = 0, before[MOST];

    for (size_t i = 0; i < v->rows; i++)
        before[i] = dst[i] = (double)uniform(-1, 1);
    fn(dst, v->rows, v->view, v->n, v->stride);
    for (size_t i = 0; i < v->rows; i++) {
        double sum = before[i];
        for (size_t k = 0; k < v->n; k++) {
            const struct fbp_bp_column_double *c = &v->view[k];
            sum += c->wl * c->left[i] + c->wr * c->left[v->stride + i];
        }
        worst = fmax(worst, fabs(dst[i] - sum));
    }
    release(&out);
    return worst;
}

/* A value has the same bits whichever others are asked for, and however views are grouped. */
static bool same_in_parts(fbp_bp_column_double_fn *fn, const struct views *v)
{
    const size_t cut = (size_t)rand() % (v->rows + 1), some = (size_t)rand() % (v->n + 1);
    struct fbp_bp_column_double later[VIEWS];
    double whole[MOST] = {0}, parts[MOST] = {0};

    fn(whole, v->rows, v->view, v->n, v->stride);
    memcpy(later, v->view, sizeof later);
    for (size_t k = 0; k < v->n; k++)
        later[k].left += cut;
    fn(parts, cut, v->view, v->n, v->stride);
    fn(parts + cut, v->rows - cut, later, some, v->stride);
    fn(parts + cut, v->rows - cut, later + some, v->n - some, v->stride);
    return memcmp(whole, parts, v->rows * sizeof *whole) == 0;
}

static int test(const char *name, unsigned flags, unsigned seed)
{
    struct fbp_bp_dsp dsp;
    int bad = 0;

    fbp_bp_dsp_init(&dsp, flags);
    fbp_bp_column_double_fn *fn = dsp.column_double;
    srand(seed);
    for (int t = 0; t < 2000 && !bad; t++) {
        struct views v;
        make_views(&v, (size_t)rand() % (VIEWS + 1), 1 + (size_t)rand() % MOST);
        bad = !(worst_of(fn, &v) < 1e-14) || !same_in_parts(fn, &v);
        release(&v.memory);
    }
    printf("%-8s %s\n", name, bad ? "FAIL" : "ok");
    return bad;
}

int main(int argc, char **argv)
{
    return test_levels(argc, argv, test);
}
