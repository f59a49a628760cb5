/* The part of a volume that is computed: the box (roi) in voxels, and the region, given as a shape
 * in mm ("cylinder:R", "ball:X,Y,Z,R", "box:...") or as a mask file.
 *
 * job.c calls fbp_roi_set() and fbp_region_of(); division, kernels and output use the box and the
 * region's rows of voxel intervals. */
#include "array/array.h"
#include "array/file/bytes.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/text.h"
#include "pipeline/job.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

fbp_status fbp_roi_set(struct fbp_job *job, const size_t roi[3][2])
{
    static const char axes[] = "xyz";

    for (int i = 0; i < 3; i++) {
        const size_t n = job->grid.n[i], end = roi[i][1] ? roi[i][1] : n;
        if (roi[i][0] >= end || end > n)
            return fbp_fail(FBP_ERR_INVALID,
                            "roi: voxels %zu:%zu along %c: the volume has 0:%zu (the end is "
                            "excluded)",
                            roi[i][0], end, axes[i], n);
        job->requested.box[i][0] = roi[i][0];
        job->requested.box[i][1] = end;
    }
    return FBP_OK;
}

size_t fbp_roi_first(const struct fbp_job *job, int axis)
{
    return job->requested.box[axis][0];
}

static size_t end_of(const struct fbp_job *job, int axis)
{
    return job->requested.box[axis][1] ? job->requested.box[axis][1] : job->grid.n[axis];
}

size_t fbp_roi_size(const struct fbp_job *job, int axis)
{
    return end_of(job, axis) - job->requested.box[axis][0];
}

size_t fbp_roi_slice(const struct fbp_job *job)
{
    return fbp_roi_size(job, 0) * fbp_roi_size(job, 1);
}

void fbp_roi_grid(const struct fbp_job *job, struct fbp_grid *out)
{
    *out = job->grid;
    for (int i = 0; i < 3; i++) {
        const size_t first = fbp_roi_first(job, i), n = fbp_roi_size(job, i);
        if (n == job->grid.n[i]) /* keep the centre exactly */
            continue;
        out->n[i] = n;
        out->centre_mm[i] = fbp_grid_coordinate(&job->grid, i, (double)first + ((double)n - 1) / 2);
    }
}

void fbp_roi_wanted(const struct fbp_job *job, size_t *z0, size_t *z1)
{
    *z0 = job->requested.region ? job->requested.region->z0 : job->requested.box[2][0];
    *z1 = job->requested.region ? job->requested.region->z1 : end_of(job, 2);
}

void fbp_roi_slices(const struct fbp_job *job, size_t *first, size_t *n)
{
    size_t end;

    fbp_roi_wanted(job, first, &end);
    *n = end - *first;
    if (job->part.slices[1] == 0)
        return;
    *first += job->part.slices[0];
    *n = job->part.slices[1] - job->part.slices[0];
}

bool fbp_roi_is_own(const struct fbp_job *job, size_t z)
{
    const size_t at = fbp_roi_first(job, 2) + z;
    size_t z0, z1, first, n;

    fbp_roi_wanted(job, &z0, &z1);
    if (at < z0 || at >= z1)
        return job->part.slices[0] == 0;
    fbp_roi_slices(job, &first, &n);
    return at >= first && at < first + n;
}

bool fbp_roi_crops(const struct fbp_job *job)
{
    return !job->selection.boxes &&
           (fbp_roi_size(job, 0) < job->grid.n[0] || fbp_roi_size(job, 1) < job->grid.n[1]);
}

void fbp_roi_crop(const struct fbp_job *job, size_t n, void *slices)
{
    const size_t nx = job->grid.n[0], ny = job->grid.n[1], size = fbp_value_size(job);
    const size_t mx = fbp_roi_size(job, 0), my = fbp_roi_size(job, 1);
    char *const from = slices, *to = slices;

    for (size_t z = 0; fbp_roi_crops(job) && z < n; z++)
        for (size_t y = 0; y < my; y++, to += mx * size) {
            const size_t row = (z * ny + fbp_roi_first(job, 1) + y) * nx;
            memmove(to, from + (row + fbp_roi_first(job, 0)) * size, mx * size);
        }
}

static const char SHAPES[] = "cylinder:R, ball:X,Y,Z,R or box:X0:X1,Y0:Y1,Z0:Z1";

struct shape_rows {
    struct fbp_region_shape shape;
    const struct fbp_grid *grid;
};

static fbp_status shape_row(void *user, size_t y, size_t z, struct fbp_interval *out, size_t *n)
{
    const struct shape_rows *s = user;

    *n = fbp_region_shape_row(&s->shape, s->grid, y, z, out);
    return FBP_OK;
}

/* A mask file, and the slice of it that is in memory. */
struct mask_rows {
    const char *name;
    fbp_source *source;
    const struct fbp_grid *grid;
    float *slice;
    size_t z; /* index of `slice`; SIZE_MAX: none */
};

static fbp_status not_a_number(const struct mask_rows *m, size_t x, size_t y)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "region: %.200s: voxel (%zu, %zu, %zu) is NaN: write 0 for what is not wanted "
                    "and 1 for what is",
                    m->name, x, y, m->z);
}

static fbp_status mask_row(void *user, size_t y, size_t z, struct fbp_interval *out, size_t *n)
{
    struct mask_rows *m = user;
    const size_t nx = m->grid->n[0], ny = m->grid->n[1];

    *n = 0;
    if (z != m->z)
        FBP_TRY(fbp_source_read(m->source, z, 1, 0, ny, m->slice));
    m->z = z;
    const float *row = m->slice + y * nx;
    for (size_t x = 0; x < nx; x++) {
        if (isnan(row[x]))
            return not_a_number(m, x, y);
        if (row[x] == 0)
            continue;
        if (*n > 0 && out[*n - 1].end == x)
            out[*n - 1].end++;
        else
            out[(*n)++] = (struct fbp_interval){(uint32_t)x, (uint32_t)x + 1};
    }
    return FBP_OK;
}

/* If the mask file has spacing and origin, check that its voxels lie at the positions of the
 * volume's. */
static fbp_status check_place(const char *name, const struct fbp_array_info *info,
                              const struct fbp_grid *g)
{
    static const double SLACK = 0.1; /* in voxels: numbers in headers are rounded */
    static const char axes[] = "xyz";

    for (int i = 0; info->has_spacing && i < 3; i++) {
        const double last = (double)g->n[i] - 1, v = g->voxel_mm[i];
        const double first = fbp_grid_coordinate(g, i, 0), end = fbp_grid_coordinate(g, i, last);
        const double a = info->origin_mm[i], b = a + last * info->spacing_mm[i];
        if (!(fabs(a - first) <= SLACK * v && fabs(b - end) <= SLACK * v))
            return fbp_fail(FBP_ERR_INVALID,
                            "region: %.200s: its voxels lie from %.7g to %.7g mm along %c, the "
                            "volume's from %.7g to %.7g mm: draw it on this volume, or correct "
                            "its spacing and offset",
                            name, a, b, axes[i], first, end);
    }
    return FBP_OK;
}

static fbp_status check_mask(const char *name, const struct fbp_array_info *info,
                             const struct fbp_grid *g)
{
    const size_t *m = info->n, *n = g->n;

    if (m[0] == n[0] && m[1] == n[1] && m[2] == n[2])
        return check_place(name, info, g);
    return fbp_fail(FBP_ERR_INVALID,
                    "region: %.200s has %zu x %zu x %zu voxels, the volume has %zu x %zu x %zu "
                    "(the whole one, whatever box of it is asked for): draw it on this volume",
                    name, m[0], m[1], m[2], n[0], n[1], n[2]);
}

static fbp_status from_source(const char *name, fbp_source *source, const struct fbp_job *job,
                              const size_t box[3][2], struct fbp_region **out)
{
    struct mask_rows m = {.name = name, .source = source, .grid = &job->grid, .z = SIZE_MAX};

    FBP_TRY(check_mask(name, fbp_source_info(source), &job->grid));
    FBP_TRY(fbp_alloc((void **)&m.slice, job->grid.n[0] * job->grid.n[1] * sizeof *m.slice,
                      "a slice of the region"));
    const fbp_status st = fbp_region_create(out, job->grid.n, box, mask_row, &m);
    fbp_free(m.slice);
    return st;
}

/* Does the text look like an unknown shape, such as "sphere:1,2,3"?  It could also be the data set
 * of a file "sphere", if this file exists. */
static bool may_be_a_word(const char *text)
{
    const size_t n = strcspn(text, ":");
    char file[64];

    if (text[n] != ':' || n == 0 || n >= sizeof file)
        return false;
    memcpy(file, text, n);
    file[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (!isalpha((unsigned char)text[i]))
            return false;
    return access(file, F_OK) != 0;
}

static fbp_status from_file(const char *path, const struct fbp_job *job, const size_t box[3][2],
                            struct fbp_region **out)
{
    fbp_source *source = NULL;

    if (*path == '\0' || may_be_a_word(path))
        return fbp_fail(FBP_ERR_INVALID,
                        "region: \"%.200s\" is no shape: expected %s in mm, or a mask, such as "
                        "mask.mha",
                        path, SHAPES);
    FBP_TRY(fbp_error_context("region", fbp_source_open(&source, path, NULL)));
    const fbp_status st = from_source(path, source, job, box, out);
    fbp_source_close(&source);
    return st;
}

static fbp_status from_shape(const char *text, const struct fbp_job *job, const size_t box[3][2],
                             struct fbp_region **out)
{
    struct shape_rows rows = {.grid = &job->grid};

    FBP_TRY(fbp_region_read_shape(text, &rows.shape));
    return fbp_region_create(out, job->grid.n, box, shape_row, &rows);
}

static fbp_status nothing_wanted(const char *name, const struct fbp_job *job, bool is_box)
{
    struct fbp_grid g;
    double x[3][2];

    fbp_roi_grid(job, &g);
    for (int i = 0; i < 3; i++) {
        x[i][0] = fbp_grid_coordinate(&g, i, 0);
        x[i][1] = fbp_grid_coordinate(&g, i, (double)g.n[i] - 1);
    }
    return fbp_fail(FBP_ERR_INVALID,
                    "region: %.200s has no voxel of the %s, which lies at x %.6g to %.6g, y %.6g "
                    "to %.6g, z %.6g to %.6g mm: choose another region",
                    name, is_box ? "box that is asked for" : "volume", x[0][0], x[0][1], x[1][0],
                    x[1][1], x[2][0], x[2][1]);
}

static fbp_status make(const struct fbp_recon_params *p, const struct fbp_job *job,
                       const size_t box[3][2], struct fbp_region **out)
{
    if (!p->region.shape)
        return from_source("the mask", p->region.mask, job, box, out);
    if (p->region.mask)
        return fbp_fail(FBP_ERR_INVALID,
                        "region: \"%.200s\" and a mask are given: leave one of them out",
                        p->region.shape);
    return (fbp_region_is_shape(p->region.shape) ? from_shape : from_file)(p->region.shape, job,
                                                                           box, out);
}

fbp_status fbp_region_of(const struct fbp_recon_params *p, const struct fbp_job *job,
                         struct fbp_region **out, char **file)
{
    size_t box[3][2];
    bool is_box = false;

    *out = NULL;
    *file = NULL;
    if (!p->region.shape && !p->region.mask)
        return FBP_OK;
    for (int i = 0; i < 3; i++) {
        box[i][0] = fbp_roi_first(job, i);
        box[i][1] = box[i][0] + fbp_roi_size(job, i);
        is_box = is_box || fbp_roi_size(job, i) < job->grid.n[i];
    }
    FBP_TRY(make(p, job, (const size_t(*)[2])box, out));
    if ((*out)->z0 == (*out)->z1) {
        fbp_region_destroy(out);
        return nothing_wanted(p->region.shape ? p->region.shape : "the mask", job, is_box);
    }
    if (!p->region.shape || fbp_region_is_shape(p->region.shape))
        return FBP_OK;
    *file = fbp_strdup(p->region.shape);
    if (*file)
        return FBP_OK;
    fbp_region_destroy(out);
    return fbp_fail_nomem(strlen(p->region.shape), "the region's name");
}

uint64_t fbp_wanted_voxels(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                           size_t z1)
{
    return job->requested.region ? fbp_region_count(job->requested.region, z0, z1)
                                 : (uint64_t)fbp_slab_slice(slab) * (z1 - z0);
}

double fbp_wanted_share(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                        size_t z1)
{
    const double all = (double)fbp_slab_slice(slab) * (double)(z1 - z0);

    return all > 0 ? (double)fbp_wanted_voxels(job, slab, z0, z1) / all : 1;
}

static fbp_status read_cylinder(const char *text, const char *at, struct fbp_region_shape *out);
static fbp_status read_ball(const char *text, const char *at, struct fbp_region_shape *out);
static fbp_status read_box(const char *text, const char *at, struct fbp_region_shape *out);

static const struct word {
    const char *name;
    fbp_status (*read)(const char *text, const char *at, struct fbp_region_shape *out);
    const char *expected;
} words[] = {
    {"cylinder:", read_cylinder,
     "cylinder:R or cylinder:X,Y,R, along z, in mm, such as cylinder:100"},
    {"ball:", read_ball, "ball:X,Y,Z,R in mm, such as ball:0,0,10,25"},
    {"box:", read_box,
     "box:X0:X1,Y0:Y1,Z0:Z1 in mm, such as box:-20:20,-20:20,0:30 (an end that is left out is the "
     "edge of the volume)"},
};

static const struct word *word_of(const char *text)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i].name, strlen(words[i].name)) == 0)
            return &words[i];
    return NULL;
}

bool fbp_region_is_shape(const char *text)
{
    return word_of(text) != NULL;
}

static fbp_status not_a_shape(const char *text, const char *why)
{
    return fbp_fail(FBP_ERR_INVALID, "region: \"%.200s\" %s: expected %s", text, why,
                    word_of(text)->expected);
}

/* Read a decimal number [mm]; "nan", "inf" and hexadecimal numbers are rejected. */
static bool read_number(const char **at, double *out)
{
    const char *p = *at + (**at == '-' || **at == '+');
    char *end;

    if ((!isdigit((unsigned char)*p) && *p != '.') ||
        (p[0] == '0' && tolower((unsigned char)p[1]) == 'x'))
        return false;
    *out = fbp_number(*at, &end);
    const bool read = end > *at && fbp_in_range(&fbp_range_position, *out);
    *at = end;
    return read;
}

/* Read 1 to `most` numbers, separated by commas, up to the end of the text.  Returns their number;
 * 0: the text has another form. */
static size_t read_numbers(const char *at, size_t most, double *out)
{
    for (size_t n = 0; n < most; at++) {
        if (!read_number(&at, &out[n++]))
            return 0;
        if (*at != ',')
            return *at ? 0 : n;
    }
    return 0;
}

static fbp_status set_round(const char *text, const double *centre, size_t axes, double radius,
                            struct fbp_region_shape *out)
{
    if (!(radius > 0))
        return not_a_shape(text, "is empty, its radius is not above 0");
    for (size_t i = 0; i < axes; i++) {
        out->along[i] = true;
        out->centre[i] = centre[i];
    }
    out->radius = radius;
    return FBP_OK;
}

static fbp_status read_cylinder(const char *text, const char *at, struct fbp_region_shape *out)
{
    const double axis[2] = {0, 0};
    double x[3];
    const size_t n = read_numbers(at, 3, x);

    if (n != 1 && n != 3)
        return not_a_shape(text, "is not one or three numbers");
    return set_round(text, n == 1 ? axis : x, 2, x[n - 1], out);
}

static fbp_status read_ball(const char *text, const char *at, struct fbp_region_shape *out)
{
    double x[4];

    if (read_numbers(at, 4, x) != 4)
        return not_a_shape(text, "is not four numbers");
    return set_round(text, x, 3, x[3], out);
}

static fbp_status read_box(const char *text, const char *at, struct fbp_region_shape *out)
{
    for (int i = 0; i < 3; i++) {
        if (*at != ':' && !read_number(&at, &out->lo[i]))
            return not_a_shape(text, "is not three pairs of numbers");
        if (*at++ != ':')
            return not_a_shape(text, "is not three pairs of numbers");
        if (*at && *at != ',' && !read_number(&at, &out->hi[i]))
            return not_a_shape(text, "is not three pairs of numbers");
        if (*at != (i < 2 ? ',' : '\0'))
            return not_a_shape(text, "is not three pairs of numbers");
        at++;
        if (!(out->lo[i] <= out->hi[i]))
            return not_a_shape(text, "is empty, an end lies below its beginning");
    }
    return FBP_OK;
}

fbp_status fbp_region_read_shape(const char *text, struct fbp_region_shape *out)
{
    const struct word *word = word_of(text);

    *out = (struct fbp_region_shape){.lo = {-INFINITY, -INFINITY, -INFINITY},
                                     .hi = {INFINITY, INFINITY, INFINITY}};
    return word->read(text, text + strlen(word->name), out);
}

/* Is the point in the shape?  Only this function decides; the others only find candidates. */
static bool is_inside(const struct fbp_region_shape *s, const double p[3])
{
    double square = 0;

    for (int i = 0; i < 3; i++) {
        const double d = s->along[i] ? p[i] - s->centre[i] : 0;
        square += d * d;
        if (!(p[i] >= s->lo[i] && p[i] <= s->hi[i]))
            return false;
    }
    return square <= s->radius * s->radius;
}

/* Approximate ends [mm] of a row's intersection with the shape: NaN or lo > hi if it is empty. */
static void ends_of(const struct fbp_region_shape *s, const double p[3], double *lo, double *hi)
{
    double square = s->radius * s->radius;

    *lo = s->lo[0];
    *hi = s->hi[0];
    for (int i = 1; i < 3; i++)
        square -= s->along[i] ? (p[i] - s->centre[i]) * (p[i] - s->centre[i]) : 0;
    if (!s->along[0])
        return;
    /* Include rows that only touch the shape: is_inside() decides about their voxels. */
    const double half = sqrt(fmax(square, 0));
    *lo = s->centre[0] - half;
    *hi = s->centre[0] + half;
}

/* Index of the voxel at x = mm, plus `beside`, limited to the row. */
static ptrdiff_t voxel_at(const struct fbp_grid *g, double mm, ptrdiff_t beside)
{
    const double at = (mm - fbp_grid_coordinate(g, 0, 0)) / g->voxel_mm[0] + (double)beside;
    const double last = (double)g->n[0] - 1;

    return (ptrdiff_t)floor(fmin(fmax(at, 0), last));
}

bool fbp_region_shape_row(const struct fbp_region_shape *s, const struct fbp_grid *g, size_t y,
                          size_t z, struct fbp_interval *out)
{
    double p[3] = {0, fbp_grid_coordinate(g, 1, (double)y), fbp_grid_coordinate(g, 2, (double)z)};
    double lo, hi;

    ends_of(s, p, &lo, &hi);
    ptrdiff_t first = voxel_at(g, lo, -2), last = voxel_at(g, hi, 2);
    for (; first <= last; first++) {
        p[0] = fbp_grid_coordinate(g, 0, (double)first);
        if (is_inside(s, p))
            break;
    }
    for (; last >= first; last--) {
        p[0] = fbp_grid_coordinate(g, 0, (double)last);
        if (is_inside(s, p))
            break;
    }
    *out = (struct fbp_interval){(uint32_t)first, (uint32_t)(last + 1)};
    return first <= last;
}
