/** @file planes_util.h  Scans of plane integrals of ellipsoids, from their closed form (epr,
 * tests).
 *
 * rho (1 - q)^m within q = |A^-1 R^T (x - c)|^2 < 1 has the plane integrals
 * rho pi a1 a2 a3 / sigma / (m + 1) (1 - ((t - n.c)/sigma)^2)^(m + 1), sigma = |A R^T n|.
 */
#ifndef FBP_TESTS_PLANES_UTIL_H
#define FBP_TESTS_PLANES_UTIL_H

#include "geometry/view.h"
#include "recon/fixture.h"

/* The volume [-1, 1]^3 mm of 64^3 voxels; 112 samples, as far apart as voxels. */
enum { PLANES_N = 64, PLANES_S = 112 };
static const double PLANES_STEP = 2. / PLANES_N;

struct solid {
    double centre[3], axes[3], turn[9]; /* turn: rows of R */
    int m;
};

static const double NO_TURN[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static inline void times(const double a[9], const double b[9], double out[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

/** Rz(a) Rx(b) Rz(c). */
static inline void turn_of(double a, double b, double c, double out[9])
{
    const double first[9] = {cos(a), -sin(a), 0, sin(a), cos(a), 0, 0, 0, 1};
    const double second[9] = {1, 0, 0, 0, cos(b), -sin(b), 0, sin(b), cos(b)};
    const double third[9] = {cos(c), -sin(c), 0, sin(c), cos(c), 0, 0, 0, 1};
    double both[9];

    times(first, second, both);
    times(both, third, out);
}

static inline void turned(const double R[9], const double x[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

static inline struct solid ball_of_planes(int m)
{
    const double r = m ? .6 : .55;
    struct solid s = {.centre = {.10, -.05, .08}, .axes = {r, r, r}, .m = m};

    memcpy(s.turn, NO_TURN, sizeof s.turn);
    return s;
}

static inline struct solid ellipsoid_of_planes(void)
{
    struct solid s = {.centre = {.08, -.1, .05}, .axes = {.70, .45, .58}};

    turn_of(.4, .9, .2, s.turn);
    return s;
}

/** Its own coordinates of a vector, over the half axes. */
static inline void inside_of(const struct solid *s, const double x[3], bool axes, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = (s->turn[i] * x[0] + s->turn[3 + i] * x[1] + s->turn[6 + i] * x[2]) *
                 (axes ? s->axes[i] : 1 / s->axes[i]);
}

static inline double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double plane_integral(const struct solid *s, const double n[3], double t)
{
    double along[3];

    inside_of(s, n, true, along);
    const double sigma = sqrt(dot3(along, along)), x = (t - dot3(n, s->centre)) / sigma;
    const double volume = PI * s->axes[0] * s->axes[1] * s->axes[2];
    return x * x < 1 ? volume / sigma / (s->m + 1) * pow(1 - x * x, s->m + 1) : 0;
}

/** q of a point: 1 on the surface. */
static inline double level(const struct solid *s, const double x[3])
{
    const double from[3] = {x[0] - s->centre[0], x[1] - s->centre[1], x[2] - s->centre[2]};
    double own[3];

    inside_of(s, from, false, own);
    return dot3(own, own);
}

/** A scan of n directions, samples symmetric about 0. */
static inline struct fbp_scan planes_scan(double (*direction)[3], size_t n)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = FBP_PLANES,
                            .n_views = n,
                            .panel = {PLANES_S, 1},
                            .views = calloc(n, sizeof *scan.views),
                            .row_order = FBP_ROWS_BOTTOM_UP,
                            .volume = {.n = {PLANES_N, PLANES_N, PLANES_N},
                                       .voxel_mm = {PLANES_STEP, PLANES_STEP, PLANES_STEP}}};

    for (size_t k = 0; k < n; k++)
        fbp_plane_view(direction[k], PLANES_STEP, -(PLANES_S - 1) / 2. * PLANES_STEP, PLANES_S,
                       &scan.views[k]);
    return scan;
}

/** View k with other samples: n_columns of them `step` apart, from `first` on, along its direction
 *  times `side`, 1 or -1. */
static inline void resample_view(struct fbp_scan *scan, size_t k, double side, double step,
                                 double first)
{
    const double *u = scan->views[k].u, tau = sqrt(dot3(u, u)) * side;
    const double n[3] = {u[0] / tau, u[1] / tau, u[2] / tau};

    fbp_plane_view(n, step, first, scan->panel.n_columns, &scan->views[k]);
}

/** Every third view gets samples that are closer, as those of larger gradients are. */
static inline void shrink_steps(struct fbp_scan *scan)
{
    for (size_t k = 0; k < scan->n_views; k += 3)
        for (int i = 0; i < 3; i++)
            scan->views[k].u[i] *= .9;
}

/** Directions of any set; free(*out). */
static inline size_t make_directions(const struct fbp_directions *d, double (**out)[3])
{
    size_t count;

    OK(fbp_directions_make(d, NULL, &count));
    *out = calloc(count, sizeof **out);
    OK(fbp_directions_make(d, *out, NULL));
    return count;
}

/** The directions of a set about z; free(*out). */
static inline size_t directions_of(enum fbp_direction_set set, size_t n, double (**out)[3])
{
    const struct fbp_directions d = {.struct_size = sizeof d, .set = set, .n = {n}};

    return make_directions(&d, out);
}

static inline struct fbp_scan rings_scan(size_t rings)
{
    double(*direction)[3];
    const size_t n = directions_of(FBP_SET_SOLID_ANGLE, rings, &direction);
    const struct fbp_scan scan = planes_scan(direction, n);

    free(direction);
    return scan;
}

/** Directions in planes through an axis, n_theta in each of n_phi. */
static inline struct fbp_scan grid_scan(size_t n_theta, size_t n_phi, enum fbp_pole pole)
{
    const struct fbp_directions d = {
        .struct_size = sizeof d, .set = FBP_SET_LINEAR_ANGLE, .pole = pole, .n = {n_theta, n_phi}};
    double(*direction)[3];
    const size_t count = make_directions(&d, &direction);
    const struct fbp_scan scan = planes_scan(direction, count);
    free(direction);
    return scan;
}

/** The same about an axis that is none of the grid's. */
static inline void turn_scan(struct fbp_scan *scan)
{
    double R[9];

    turn_of(.3, .7, -.2, R);
    for (size_t k = 0; k < scan->n_views; k++) {
        const struct fbp_view was = scan->views[k];
        turned(R, was.u, scan->views[k].u);
        turned(R, was.d, scan->views[k].d);
    }
}

/** Samples [view][S] in double, each the mean of `points` within its bin; free() them. */
static inline double *exact_samples(const struct fbp_scan *scan, const struct solid *s, int points)
{
    const size_t S = scan->panel.n_columns;
    double *out = calloc(scan->n_views * S, sizeof *out);

    for (size_t k = 0; k < scan->n_views; k++) {
        const struct fbp_view *v = &scan->views[k];
        const double tau = sqrt(dot3(v->u, v->u));
        const double n[3] = {v->u[0] / tau, v->u[1] / tau, v->u[2] / tau};
        for (size_t c = 0; c < S; c++) {
            double sum = 0;
            for (int i = 0; i < points; i++)
                sum += plane_integral(
                    s, n,
                    dot3(v->d, n) +
                        ((double)c - ((double)S - 1) / 2 + (i + .5) / points - .5) * tau);
            out[k * S + c] = sum / points;
        }
    }
    return out;
}

/** exact_samples() in float. */
static inline float *plane_samples(const struct fbp_scan *scan, const struct solid *s, int points)
{
    AUTO_FREE double *exact = exact_samples(scan, s, points);
    const size_t n = scan->n_views * scan->panel.n_columns;
    float *out = calloc(n, sizeof *out);

    for (size_t i = 0; i < n; i++)
        out[i] = (float)exact[i];
    return out;
}

/** |volume - solid| / |solid|, and the factor that fits the solid best. */
static inline double error_of(const struct fbp_grid *g, const float *volume, const struct solid *s)
{
    double wrong = 0, right = 0;

    for (size_t i = 0; i < grid_size(g); i++) {
        double x[3];
        voxel_at(g, i, x);
        const double q = level(s, x), value = q < 1 ? pow(1 - q, s->m) : 0;
        wrong += (volume[i] - value) * (volume[i] - value);
        right += value * value;
    }
    return sqrt(wrong / right);
}

/** Mean 3 voxels and more inside the surface, rms as far outside, within 0.95 of the middle. */
struct amplitude {
    double mean, outside;
};

static inline struct amplitude amplitude_of(const struct fbp_grid *g, const float *volume,
                                            const struct solid *s)
{
    const double least = fmin(s->axes[0], fmin(s->axes[1], s->axes[2]));
    const double margin = 3 * g->voxel_mm[0] / least;
    double sum = 0, n = 0, square = 0, n_out = 0;

    for (size_t i = 0; i < grid_size(g); i++) {
        double x[3];
        voxel_at(g, i, x);
        const double q = sqrt(level(s, x));
        if (q < 1 - margin) {
            sum += volume[i];
            n++;
        } else if (q > 1 + margin && dot3(x, x) < .95 * .95) {
            square += volume[i] * volume[i];
            n_out++;
        }
    }
    return (struct amplitude){sum / n, sqrt(square / n_out)};
}

struct settings {
    enum fbp_filter filter;
    double cutoff;
};

/** The volumes [channel][z][y][x] of views of this type by these parameters, on two threads unless
 *  they say how many; free() them. */
static inline void *planes_volume(const struct fbp_scan *scan, enum fbp_type type,
                                  const void *views, const struct fbp_recon_params *params)
{
    struct fbp_recon_params p = *params;
    struct fbp_grid grid;
    size_t n = scan->panel.n_rows;

    p.struct_size = sizeof p;
    p.n_threads = p.n_threads ? p.n_threads : 2;
    OK(fbp_grid_resolve(&p.volume, scan, &grid));
    for (int i = 0; i < 3; i++)
        n *= p.box[i][1] ? p.box[i][1] - p.box[i][0] : grid.n[i];
    void *out = not_null(calloc(n, fbp_type_size(type)));
    OK(fbp_reconstruct(scan, &p, type, views, out, NULL));
    return out;
}

static inline float *volume_by(const struct fbp_scan *scan, const float *views, const char *device,
                               const struct settings *s)
{
    return planes_volume(scan, FBP_F32, views,
                         fbp_recon_params(.device = device, .filter = s->filter,
                                          .cutoff = s->cutoff, .precision = FBP_PRECISION_EXACT));
}

/** How far apart two volumes are: |a - b| / |a|, and the greatest difference as part of the peak
 *  of a. */
struct distance {
    double rms, most;
};

static inline struct distance distance(enum fbp_type type, const void *a, const void *b, size_t n)
{
    double wrong = 0, all = 0, most = 0, peak = 0;

    for (size_t i = 0; i < n; i++) {
        const double x = type == FBP_F64 ? ((const double *)a)[i] : (double)((const float *)a)[i];
        const double y = type == FBP_F64 ? ((const double *)b)[i] : (double)((const float *)b)[i];
        wrong += (x - y) * (x - y);
        all += x * x;
        most = fmax(most, fabs(x - y));
        peak = fmax(peak, fabs(x));
    }
    return (struct distance){sqrt(wrong / all), most / peak};
}

static inline double difference(const float *a, const float *b, size_t n)
{
    return distance(FBP_F32, a, b, n).most;
}

static inline double difference_double(const double *a, const double *b, size_t n)
{
    return distance(FBP_F64, a, b, n).most;
}

/** Voxels that differ by more than `part` of the peak of a. */
static inline size_t count_off(const float *a, const float *b, size_t n, double part)
{
    double peak = 0;
    size_t off = 0;

    for (size_t i = 0; i < n; i++)
        peak = fmax(peak, fabs((double)a[i]));
    for (size_t i = 0; i < n; i++)
        off += !(fabs((double)a[i] - (double)b[i]) <= part * peak);
    return off;
}

/** Write views [view][S] of doubles to a file of floats or doubles. */
static inline void write_planes(const char *path, enum fbp_type type, const struct fbp_scan *scan,
                                const double *views)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {scan->panel.n_columns, 1, scan->n_views}, .type = type};
    const struct fbp_sink_params params = {.struct_size = sizeof params, .type = type};

    CLEANUP(fbp_sink_close) fbp_sink *sink = create_sink(path, &info, &params);
    OK(fbp_sink_write(sink, 0, scan->n_views, FBP_F64, views));
    OK(fbp_sink_finish(sink));
}

/** A volume of a file whose values have this type, in double; free() it. */
static inline double *read_planes(const char *path, enum fbp_type type)
{
    CLEANUP(fbp_source_close) fbp_source *source = open_source(path, NULL);
    const struct fbp_array_info *info = fbp_source_info(source);
    double *out = not_null(calloc(info->n[0] * info->n[1] * info->n[2], sizeof *out));

    assert_int_equal(info->type, type);
    OK(fbp_source_read(source, 0, info->n[2], 0, info->n[1], FBP_F64, out));
    return out;
}

#endif /* FBP_TESTS_PLANES_UTIL_H */
