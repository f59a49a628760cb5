/* Removal of ring artefacts by one offset per column of a sinogram (Titarenko et al. 2010), and
 * interpolation of columns whose samples fluctuate or do not change (Vo et al. 2018):
 * fbp_offsets_remove().
 * Used by: stripes.c. */
#include "prep/prep.h"

#include "base/math.h"

#include <string.h>

/* LENGTH: views of the running mean; WIDTH: columns of the median of their deviations. */
enum { LENGTH = 11, WIDTH = 21 };

/* Scratch memory of one sinogram. */
struct room {
    float *samples;               /* [view] */
    double *offset;               /* [column] */
    double *diagonal, *one, *two; /* [column] band of the symmetric matrix */
    float *rough, *level;         /* [column] mean deviation; mean magnitude */
    unsigned char *bad;           /* [column] */
};

static size_t lay_out(const struct fbp_stripes *s, void *memory, struct room *r)
{
    const size_t nc = s->n_columns;
    size_t used = 0;

    r->samples = fbp_carve(memory, &used, s->n_views * sizeof *r->samples);
    r->offset = fbp_carve(memory, &used, nc * sizeof *r->offset);
    r->diagonal = fbp_carve(memory, &used, nc * sizeof *r->diagonal);
    r->one = fbp_carve(memory, &used, nc * sizeof *r->one);
    r->two = fbp_carve(memory, &used, nc * sizeof *r->two);
    r->rough = fbp_carve(memory, &used, nc * sizeof *r->rough);
    r->level = fbp_carve(memory, &used, nc * sizeof *r->level);
    r->bad = fbp_carve(memory, &used, nc);
    return used;
}

size_t fbp_offsets_bytes(const struct fbp_stripes *s)
{
    struct room r;

    return lay_out(s, NULL, &r);
}

/* Mark columns whose samples deviate from their running mean over LENGTH views by more than three
 * times the median of WIDTH neighbouring columns, or by less than a third of it: Vo, Atwood and
 * Drakopoulos, Opt. Express 26, 28396 (2018), algorithm 6.  Returns their number. */
static size_t mark_bad(const struct fbp_stripes *s, const float *sinogram, size_t stride,
                       const struct room *r)
{
    static const float RATIO = 3, PART = 1e-3F;
    const size_t nv = s->n_views, nc = s->n_columns, half = LENGTH / 2;
    const size_t width = nc < WIDTH ? nc : WIDTH;
    size_t n_bad = 0;

    for (size_t c = 0; c < nc; c++) {
        double sum = 0, rough = 0, level = 0;
        size_t n = 0;
        for (size_t k = 0; k < nv + half; k++) { /* the window ends at view k */
            if (k < nv) {
                sum += (double)sinogram[k * stride + c];
                level += fabs((double)sinogram[k * stride + c]);
                n++;
            }
            if (k >= LENGTH) {
                sum -= (double)sinogram[(k - LENGTH) * stride + c];
                n--;
            }
            if (k >= half)
                rough += fabs((double)sinogram[(k - half) * stride + c] - sum / (double)n);
        }
        r->rough[c] = (float)(rough / (double)nv);
        r->level[c] = (float)(level / (double)nv);
    }
    for (size_t c = 0; c < nc; c++) {
        const size_t low = c > width / 2 ? c - width / 2 : 0;
        float near[WIDTH];
        memcpy(near, r->rough + (low + width < nc ? low : nc - width), width * sizeof *near);
        const float usual = fbp_median(near, width), least = PART * r->level[c];
        r->bad[c] = r->rough[c] > RATIO * usual + least || RATIO * r->rough[c] + least < usual;
        n_bad += r->bad[c];
    }
    return n_bad;
}

bool fbp_offsets_found(const struct fbp_stripes *s, const float *sinogram, size_t stride,
                       void *scratch)
{
    struct room r;

    lay_out(s, scratch, &r);
    return mark_bad(s, sinogram, stride, &r) > 0;
}

static void bridge(const struct fbp_stripes *s, float *sinogram, size_t stride,
                   const unsigned char *bad)
{
    for (size_t c = 0, end; c < s->n_columns; c = end) {
        for (end = c + 1; bad[c] && end < s->n_columns && bad[end]; end++)
            continue;
        if (!bad[c] || end - c == s->n_columns)
            continue;
        for (size_t k = 0; k < s->n_views; k++) {
            float *x = sinogram + k * stride;
            const float left = c > 0 ? x[c - 1] : x[end];
            const float right = end < s->n_columns ? x[end] : left;
            for (size_t i = c; i < end; i++)
                x[i] = left + (right - left) * (float)(i + 1 - c) / (float)(end - c + 1);
        }
    }
}

void fbp_offsets_remove(const struct fbp_stripes *s, float *sinogram, size_t stride, void *scratch)
{
    const size_t nc = s->n_columns;
    struct room r;

    lay_out(s, scratch, &r);
    if (s->method == FBP_RINGS_FLUCTUATING && mark_bad(s, sinogram, stride, &r) > 0)
        bridge(s, sinogram, stride, r.bad);

    /* the normal equations (D'D + a) g = D'm */
    const double weight = pow(FBP_PI / (double)s->size, 4);
    for (size_t c = 0; c < nc; c++) {
        r.diagonal[c] = weight;
        r.offset[c] = r.one[c] = r.two[c] = 0;
    }
    for (size_t c = 0; c + 2 < nc; c++) {
        for (size_t k = 0; k < s->n_views; k++) {
            const float *x = sinogram + k * stride + c;
            r.samples[k] = x[0] - 2 * x[1] + x[2];
        }
        const double m = (double)fbp_median(r.samples, s->n_views);
        for (size_t i = 0; i < 3; i++) {
            r.offset[c + i] += i == 1 ? -2 * m : m;
            r.diagonal[c + i] += i == 1 ? 4 : 1;
        }
        r.one[c] -= 2;
        r.one[c + 1] -= 2;
        r.two[c] += 1;
    }
    for (size_t c = 0; c + 1 < nc; c++) { /* elimination; two[nc - 2] is 0 */
        const double first = r.one[c] / r.diagonal[c], second = r.two[c] / r.diagonal[c];
        r.diagonal[c + 1] -= first * r.one[c];
        r.one[c + 1] -= first * r.two[c];
        r.offset[c + 1] -= first * r.offset[c];
        if (c + 2 < nc) {
            r.diagonal[c + 2] -= second * r.two[c];
            r.offset[c + 2] -= second * r.offset[c];
        }
    }
    for (size_t c = nc; c-- > 0;) {
        const double one = c + 1 < nc ? r.one[c] * r.offset[c + 1] : 0;
        const double two = c + 2 < nc ? r.two[c] * r.offset[c + 2] : 0;
        r.offset[c] = (r.offset[c] - one - two) / r.diagonal[c];
        for (size_t k = 0; k < s->n_views; k++)
            sinogram[k * stride + c] -= (float)r.offset[c];
    }
}
