/* Phase retrieval of views (phase.h): tables for one size of views, and fbp_retrieve(), which calls
 * the version for this processor. The method is in phase_tmpl.h; this file compiles it for any
 * processor, phase_avx2.c for AVX2, and phase_avx512.c for AVX-512.
 * Used by: pipeline/corrections.c. */
#include "prep/phase.h"

#include "base/system.h"

#include <math.h>

#define LANES          2
#define TABLE          fbp_retrieve_c
#define FMA(a, b, c)   ((a) * (b) + (c))
#define FNMA(a, b, c)  ((c) - (a) * (b))
#define FMAF(a, b, c)  FMA(a, b, c)
#define FNMAF(a, b, c) FNMA(a, b, c)
#define MAXF(a, b)     larger(a, b)

typedef float four __attribute__((vector_size(16)));
typedef unsigned four_bits __attribute__((vector_size(16)));

/* In each of the four floats: a if a > b, else b (also if one of them is NaN). */
static inline four larger(four a, four b)
{
    const four_bits is = (four_bits)(a > b);

    return (four)(((four_bits)a & is) | ((four_bits)b & ~is));
}

#include "prep/phase_tmpl.h"

/* Set the pointers of *out to the arrays in a thread's scratch memory, which begins at `memory`.
 * Returns the size of this memory [doubles].  memory NULL: *out is not set. */
static size_t lay_out(const struct fbp_retrieval *f, double *memory, struct phase_room *out)
{
    const size_t longest = f->n[0] > f->n[1] ? f->n[0] : f->n[1];
    const size_t blocks = (f->n_columns + PAIR - 1) / PAIR;
    const size_t spectrum = blocks * PAIR * f->n[1];
    /* size of phase_room.x: points of one transform of ABREAST rows, and the columns by which the
     * last block of PAIR columns extends beyond the view */
    const size_t x = PAIR * (longest + PAIR);

    if (memory)
        *out = (struct phase_room){
            .spectrum = memory, .x = memory + spectrum, .u2 = memory + spectrum + x};
    return spectrum + x + f->n[0];
}

size_t fbp_retrieval_bytes(const struct fbp_retrieval *f)
{
    return lay_out(f, NULL, NULL) * sizeof(double);
}

fbp_status fbp_retrieval_open(struct fbp_retrieval *f, size_t n_columns, size_t n_rows,
                              const double reach[2])
{
    /* Padding at each end of a row or column, in multiples of the filter's width sqrt(a) (phase.h).
     * The filter's kernel decreases as exp(-r / sqrt(a)). The transform continues a padded row
     * periodically: the row's opposite end then follows at a distance of two paddings. */
    static const double PADDING = 8;
    size_t *order = NULL;
    fbp_status st = FBP_OK;

    *f = (struct fbp_retrieval){.n_columns = n_columns, .n_rows = n_rows};
    for (int i = 0; i < 2; i++) {
        const size_t n = i ? n_rows : n_columns;
        /* a view of one row is filtered only along the row, one of one column along the column */
        f->pad[i] = n > 1 ? (size_t)ceil(PADDING * reach[i]) : 0;
        f->n[i] = n > 1 ? fbp_fft_length(n + 2 * f->pad[i]) : 1;
    }
    FBP_TRY_GOTO(fbp_mixed_open(&f->along, f->n[0]));
    FBP_TRY_GOTO(fbp_mixed_open(&f->across, f->n[1]));
    FBP_TRY_GOTO(fbp_calloc((void **)&f->frequency, f->n[0], sizeof *f->frequency, "frequencies"));
    FBP_TRY_GOTO(fbp_calloc((void **)&f->place, f->n[1], sizeof *f->place, "frequencies"));
    FBP_TRY_GOTO(fbp_calloc((void **)&order, f->n[1], sizeof *order, "frequencies"));
    fbp_mixed_order(&f->along, f->frequency);
    fbp_mixed_order(&f->across, order);
    for (size_t i = 0; i < f->n[1]; i++)
        f->place[order[i]] = i;
    free(order);
    return FBP_OK;
fail:
    fbp_retrieval_close(f);
    return st;
}

void fbp_retrieval_close(struct fbp_retrieval *f)
{
    fbp_mixed_close(&f->along);
    fbp_mixed_close(&f->across);
    free(f->frequency);
    free(f->place);
    *f = (struct fbp_retrieval){0};
}

bool fbp_retrieval_is_fused(void)
{
    return fbp_cpu_flags() & (FBP_CPU_AVX2 | FBP_CPU_AVX512);
}

void fbp_retrieve(const struct fbp_retrieval *f, enum fbp_retrieved_from from,
                  const double reach[2], float *view, void *work)
{
    struct phase_room r = {0};

    lay_out(f, work, &r);
#if defined(__x86_64__)
    if (fbp_cpu_flags() & FBP_CPU_AVX512)
        fbp_retrieve_avx512(f, from, reach, view, &r);
    else if (fbp_cpu_flags() & FBP_CPU_AVX2)
        fbp_retrieve_avx2(f, from, reach, view, &r);
    else
#endif
        fbp_retrieve_c(f, from, reach, view, &r);
}
