#include "prep/phase.h"

#include "base/cpu_features.h"
#include "base/mem.h"
#include "fft/fft.h"
#include "prep/phase_parts.h"

#include <math.h>

/* The kernel falls as exp(-r / sqrt(a)), and the other side of a view is two frames away. */
static const double FRAMES = 8;

/* Columns, and doubles a point, of the templates. */
static const size_t SIDE = 16;

/* From `memory` on, or NULL: only counted; returns doubles. */
static size_t lay_out(const struct fbp_retrieval *f, double *memory, struct phase_room *out)
{
    const size_t longest = f->n[0] > f->n[1] ? f->n[0] : f->n[1];
    const size_t stride = (f->n_columns + SIDE - 1) / SIDE * SIDE;
    const size_t spectrum = 2 * (f->n[1] / 2 + 1) * stride;

    if (memory)
        *out = (struct phase_room){.spectrum = memory,
                                   .stride = stride,
                                   .x = memory + spectrum,
                                   .work = memory + spectrum + SIDE * longest};
    return spectrum + 2 * SIDE * longest;
}

size_t fbp_retrieval_bytes(const struct fbp_retrieval *f)
{
    return lay_out(f, NULL, NULL) * sizeof(double);
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
    FBP_TRY(fbp_mixed_open(&f->along, f->n[0]));
    return fbp_mixed_open(&f->across, f->n[1]);
}

void fbp_retrieval_close(struct fbp_retrieval *f)
{
    fbp_mixed_close(&f->along);
    fbp_mixed_close(&f->across);
    *f = (struct fbp_retrieval){0};
}

void fbp_retrieve(const struct fbp_retrieval *f, const double reach[2], float *view, void *work)
{
    struct phase_room r = {0};

    lay_out(f, work, &r);
#if defined(__x86_64__)
    if (fbp_cpu_flags() & FBP_CPU_AVX512)
        fbp_retrieve_avx512(f, reach, view, &r);
    else if (fbp_cpu_flags() & FBP_CPU_AVX2)
        fbp_retrieve_avx2(f, reach, view, &r);
    else
#endif
        fbp_retrieve_c(f, reach, view, &r);
}
