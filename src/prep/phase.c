#include "prep/phase.h"

#include "base/cpu.h"
#include "base/mem.h"
#include "fft/fft.h"
#include "prep/phase_parts.h"

#include <math.h>
#include <stdlib.h>

/* The kernel falls as exp(-r / sqrt(a)), and the other side of a view is two frames away. */
static const double FRAMES = 8;

/* Columns of a block, and doubles a point, of the templates. */
static const size_t SIDE = 16;

/* From `memory` on, or NULL: only counted; returns doubles. */
static size_t lay_out(const struct fbp_retrieval *f, double *memory, struct phase_room *out)
{
    const size_t longest = f->n[0] > f->n[1] ? f->n[0] : f->n[1];
    const size_t blocks = (f->n_columns + SIDE - 1) / SIDE;
    const size_t spectrum = blocks * SIDE * f->n[1];
    const size_t x = SIDE * (longest + SIDE); /* columns that are not there may lie behind it */

    if (memory)
        *out = (struct phase_room){
            .spectrum = memory, .x = memory + spectrum, .u2 = memory + spectrum + x};
    return spectrum + x + f->n[0];
}

size_t fbp_retrieval_bytes(const struct fbp_retrieval *f)
{
    return lay_out(f, NULL, NULL) * sizeof(double);
}

static fbp_status make_tables(struct fbp_retrieval *f)
{
    size_t *order = NULL;

    FBP_TRY(fbp_mixed_open(&f->along, f->n[0]));
    FBP_TRY(fbp_mixed_open(&f->across, f->n[1]));
    FBP_TRY(fbp_calloc((void **)&f->frequency, f->n[0], sizeof *f->frequency, "frequencies"));
    FBP_TRY(fbp_calloc((void **)&f->place, f->n[1], sizeof *f->place, "frequencies"));
    FBP_TRY(fbp_calloc((void **)&order, f->n[1], sizeof *order, "frequencies"));
    fbp_mixed_order(&f->along, f->frequency);
    fbp_mixed_order(&f->across, order);
    for (size_t i = 0; i < f->n[1]; i++)
        f->place[order[i]] = i;
    free(order);
    return FBP_OK;
}

fbp_status fbp_retrieval_open(struct fbp_retrieval *f, size_t n_columns, size_t n_rows,
                              const double reach[2])
{
    *f = (struct fbp_retrieval){.n_columns = n_columns, .n_rows = n_rows};
    for (int i = 0; i < 2; i++) {
        const size_t n = i ? n_rows : n_columns;
        f->pad[i] = n > 1 ? (size_t)ceil(FRAMES * reach[i]) : 0; /* one row is all rows */
        f->n[i] = n > 1 ? fbp_fft_length(n + 2 * f->pad[i]) : 1;
    }
    const fbp_status st = make_tables(f);
    if (st != FBP_OK)
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
