/* The part of a volume that is requested: the box in voxels (fbp_box_…()), and the region
 * (fbp_region_of()), given as a shape in mm ("cylinder:R", "ball:X,Y,Z,R", "box:...") or as a mask
 * file. Also: the slices of a process, and numbers of requested voxels.
 * Used by: bench/kernels/, bench/predict/, pipeline/. */
#include "array/file/bytes.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/text.h"
#include "pipeline/job.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char axes[] = "xyz";

fbp_status fbp_box_set(struct fbp_job *job, const size_t box[3][2])
{
    for (int i = 0; i < 3; i++) {
        const size_t n = job->grid.n[i], end = box[i][1] ? box[i][1] : n;
        if (box[i][0] >= end || end > n)
            return FBP_INVALID(
                "box: voxels %zu:%zu along %c are no range of the volume, which has 0:%zu (the end "
                "is excluded); give a first voxel below the end, and an end inside the volume",
                box[i][0], end, axes[i], n);
        job->requested.box[i][0] = box[i][0];
        job->requested.box[i][1] = end;
    }
    return FBP_OK;
}

size_t fbp_box_first(const struct fbp_job *job, int axis)
{
    return job->requested.box[axis][0];
}

static size_t end_of(const struct fbp_job *job, int axis)
{
    return job->requested.box[axis][1] ? job->requested.box[axis][1] : job->grid.n[axis];
}

size_t fbp_box_size(const struct fbp_job *job, int axis)
{
    return end_of(job, axis) - job->requested.box[axis][0];
}

size_t fbp_box_slice(const struct fbp_job *job)
{
    return fbp_box_size(job, 0) * fbp_box_size(job, 1);
}

void fbp_box_grid(const struct fbp_job *job, struct fbp_grid *out)
{
    *out = job->grid;
    for (int i = 0; i < 3; i++) {
        const size_t first = fbp_box_first(job, i), n = fbp_box_size(job, i);
        if (n == job->grid.n[i]) /* keep the centre free of rounding errors */
            continue;
        out->n[i] = n;
        out->centre_mm[i] = fbp_grid_coordinate(&job->grid, i, (double)first + ((double)n - 1) / 2);
    }
}

void fbp_box_wanted(const struct fbp_job *job, size_t *z0, size_t *z1)
{
    *z0 = job->requested.region ? job->requested.region->z0 : job->requested.box[2][0];
    *z1 = job->requested.region ? job->requested.region->z1 : end_of(job, 2);
}

void fbp_job_slices(const struct fbp_job *job, size_t *first, size_t *n)
{
    size_t end;

    fbp_box_wanted(job, first, &end);
    *n = end - *first;
    if (job->part.slices[1] == 0)
        return;
    *first += job->part.slices[0];
    *n = job->part.slices[1] - job->part.slices[0];
}

bool fbp_box_is_own(const struct fbp_job *job, size_t z)
{
    const size_t at = fbp_box_first(job, 2) + z;
    size_t z0, z1, first, n;

    fbp_box_wanted(job, &z0, &z1);
    if (at < z0 || at >= z1)
        return job->part.slices[0] == 0;
    fbp_job_slices(job, &first, &n);
    return at >= first && at < first + n;
}

bool fbp_box_crops(const struct fbp_job *job)
{
    return !job->selection.boxes &&
           (fbp_box_size(job, 0) < job->grid.n[0] || fbp_box_size(job, 1) < job->grid.n[1]);
}

void fbp_box_crop(const struct fbp_job *job, size_t n, void *slices)
{
    const size_t nx = job->grid.n[0], ny = job->grid.n[1], size = fbp_value_size(job);
    const size_t mx = fbp_box_size(job, 0), my = fbp_box_size(job, 1);
    char *const from = slices, *to = slices;

    for (size_t z = 0; fbp_box_crops(job) && z < n; z++)
        for (size_t y = 0; y < my; y++, to += mx * size) {
            const size_t row = (z * ny + fbp_box_first(job, 1) + y) * nx;
            memmove(to, from + (row + fbp_box_first(job, 0)) * size, mx * size);
        }
}

/* ---- Shapes ---- */

static const char SHAPES[] = "cylinder:R, ball:X,Y,Z,R or box:X0:X1,Y0:Y1,Z0:Z1";

/* Shapes of a region, by name. n_round: number of axes (x, y, z) in which the distance from the
 * centre is measured (2: cylinder, 3: ball); 0: a box. */
static const struct word {
    const char *name;
    size_t n_round;
    const char *expected;
} words[] = {
    {"cylinder:", 2, "cylinder:R or cylinder:X,Y,R, along z, in mm, such as cylinder:100"},
    {"ball:", 3, "ball:X,Y,Z,R in mm, such as ball:0,0,10,25"},
    {"box:", 0,
     "box:X0:X1,Y0:Y1,Z0:Z1 in mm, such as box:-20:20,-20:20,0:30 (an end that is left out is the "
     "edge of the volume)"},
};

/* A shape: the points (x, y, z) within `radius` of `centre`, as measured in the first n_round
 * coordinates, and from lo to hi in each coordinate [mm]. */
struct shape {
    size_t n_round;
    double centre[3], radius, lo[3], hi[3];
    const struct fbp_grid *grid;
};

/* Read a decimal number [mm] in the range of positions; "nan", "inf", hexadecimal: rejected. */
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

/* Read 1 to `most` numbers, separated by commas; returns their number, 0: not such a list. */
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

/* Read the numbers after the name of a shape.  Returns NULL, or what is wrong with the text. */
static const char *read_shape(const char *at, struct shape *s)
{
    static const char pairs[] = "does not have three pairs of numbers";
    double x[4];

    if (s->n_round > 0) {
        const size_t n = read_numbers(at, s->n_round + 1, x);
        if (n != s->n_round + 1 && !(s->n_round == 2 && n == 1))
            return s->n_round == 2 ? "does not have one or three numbers"
                                   : "does not have four numbers";
        s->radius = x[n - 1];
        for (size_t i = 0; i + 1 < n; i++)
            s->centre[i] = x[i];
        return s->radius > 0 ? NULL : "is empty, because its radius is not above 0";
    }
    for (size_t i = 0; i < 3; i++, at++) {
        if (*at != ':' && !read_number(&at, &s->lo[i]))
            return pairs;
        if (*at++ != ':')
            return pairs;
        if (*at && *at != ',' && !read_number(&at, &s->hi[i]))
            return pairs;
        if (*at != (i < 2 ? ',' : '\0'))
            return pairs;
        if (!(s->lo[i] <= s->hi[i]))
            return "is empty, because an end lies below its beginning";
    }
    return NULL;
}

/* Return whether a point lies in a shape; shape_row() finds the ends of rows with it. */
static bool is_inside(const struct shape *s, const double p[3])
{
    double square = 0;

    for (size_t i = 0; i < 3; i++) {
        const double d = i < s->n_round ? p[i] - s->centre[i] : 0;
        square += d * d;
        if (!(p[i] >= s->lo[i] && p[i] <= s->hi[i]))
            return false;
    }
    return square <= s->radius * s->radius;
}

/* Index along x of the voxel `beside` voxels from the position x = mm, within the row. */
static ptrdiff_t voxel_at(const struct fbp_grid *g, double mm, ptrdiff_t beside)
{
    const double at = (mm - fbp_grid_coordinate(g, 0, 0)) / g->voxel_mm[0] + (double)beside;
    const double last = (double)g->n[0] - 1;

    return (ptrdiff_t)floor(fmin(fmax(at, 0), last));
}

/* Callback: interval of voxels of row (y, z) whose centres lie in the shape; *n: 1 or 0. */
static fbp_status shape_row(void *user, size_t y, size_t z, struct fbp_interval *out, size_t *n)
{
    const struct shape *s = user;
    const struct fbp_grid *g = s->grid;
    double p[3] = {0, fbp_grid_coordinate(g, 1, (double)y), fbp_grid_coordinate(g, 2, (double)z)};
    double lo = s->lo[0], hi = s->hi[0]; /* approximate ends of the shape in this row [mm] */

    if (s->n_round > 0) {
        double square = s->radius * s->radius;
        for (size_t i = 1; i < s->n_round; i++)
            square -= (p[i] - s->centre[i]) * (p[i] - s->centre[i]);
        /* if the row misses the shape, take its centre, about which is_inside() decides */
        const double half = sqrt(fmax(square, 0));
        lo = s->centre[0] - half;
        hi = s->centre[0] + half;
    }
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
    *n = first <= last;
    return FBP_OK;
}

/* ---- Masks ---- */

/* A mask, and the slice of it that is in memory. */
struct mask_rows {
    const char *name;
    fbp_source *source;
    const struct fbp_grid *grid;
    float *slice;
    size_t z; /* index of `slice`; SIZE_MAX: none */
};

static fbp_status mask_row(void *user, size_t y, size_t z, struct fbp_interval *out, size_t *n)
{
    struct mask_rows *m = user;
    const size_t nx = m->grid->n[0], ny = m->grid->n[1];

    *n = 0;
    if (z != m->z)
        FBP_TRY(fbp_source_read(m->source, z, 1, 0, ny, FBP_F32, m->slice));
    m->z = z;
    const float *row = m->slice + y * nx;
    for (size_t x = 0; x < nx; x++) {
        if (isnan(row[x]))
            return FBP_INVALID("region: %.200s: voxel (%zu, %zu, %zu) of the mask is NaN; use 1 "
                               "inside the region and 0 outside",
                               m->name, x, y, m->z);
        if (row[x] == 0)
            continue;
        if (*n > 0 && out[*n - 1].end == x)
            out[*n - 1].end++;
        else
            out[(*n)++] = (struct fbp_interval){(uint32_t)x, (uint32_t)x + 1};
    }
    return FBP_OK;
}

static fbp_status from_source(const char *name, fbp_source *source, const struct fbp_job *job,
                              const size_t box[3][2], struct fbp_region **out)
{
    /* allowed deviation of a mask's position: headers are rounded [voxels] */
    static const double SLACK = 0.1;
    const struct fbp_array_info *info = fbp_source_info(source);
    const struct fbp_grid *g = &job->grid;
    const size_t *m = info->n, *n = g->n;
    struct mask_rows rows = {.name = name, .source = source, .grid = g, .z = SIZE_MAX};

    if (m[0] != n[0] || m[1] != n[1] || m[2] != n[2])
        return FBP_INVALID(
            "region: the mask %.200s has %zu x %zu x %zu voxels, but the whole volume, without "
            "--roi or --slice, has %zu x %zu x %zu; give a mask of the same size",
            name, m[0], m[1], m[2], n[0], n[1], n[2]);
    for (int i = 0; info->has_spacing && i < 3; i++) {
        const double last = (double)n[i] - 1, v = g->voxel_mm[i];
        const double first = fbp_grid_coordinate(g, i, 0), end = fbp_grid_coordinate(g, i, last);
        const double a = info->origin_mm[i], b = a + last * info->spacing_mm[i];
        if (!(fabs(a - first) <= SLACK * v && fabs(b - end) <= SLACK * v))
            return FBP_INVALID(
                "region: %.200s: the mask extends from %.7g to %.7g mm along %c, but "
                "the volume from %.7g to %.7g mm; give a mask of this volume, or "
                "correct its spacing and offset",
                name, a, b, axes[i], first, end);
    }
    FBP_TRY(
        fbp_alloc((void **)&rows.slice, n[0] * n[1] * sizeof *rows.slice, "a slice of the region"));
    const fbp_status st = fbp_region_create(out, n, box, mask_row, &rows);
    fbp_free(rows.slice);
    return st;
}

static fbp_status from_file(const char *path, const struct fbp_job *job, const size_t box[3][2],
                            struct fbp_region **out)
{
    const size_t n = strcspn(path, ":");
    fbp_source *source = NULL;
    char file[64] = "";

    /* A text such as "sphere:1,2,3" is an error, because it has the form of a shape, of an unknown
     * name; but if a file "sphere" exists, the text names a data set of that file. */
    if (path[n] == ':' && n < sizeof file)
        for (size_t i = 0; i < n && isalpha((unsigned char)path[i]); i++)
            file[i] = path[i];
    if (*path == '\0' || (file[0] && strlen(file) == n && access(file, F_OK) != 0))
        return FBP_INVALID(
            "region: \"%.200s\" is neither a shape nor a mask file; expected %s in mm, "
            "or a mask, such as mask.mha",
            path, SHAPES);
    FBP_TRY(fbp_error_context("region", fbp_source_open(&source, path, NULL)));
    const fbp_status st = from_source(path, source, job, box, out);
    fbp_source_close(&source);
    return st;
}

fbp_status fbp_region_of(const struct fbp_recon_params *p, const struct fbp_job *job,
                         struct fbp_region **out, char **file)
{
    const char *text = p->region.shape;
    /* shape with whose name the text begins; NULL: the text, if any, is the path of a mask file */
    const struct word *word = NULL;

    size_t box[3][2];
    bool is_box = false;

    *out = NULL;
    *file = NULL;
    if (!text && !p->region.mask)
        return FBP_OK;
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i].name, strlen(words[i].name)) == 0)
            word = &words[i];
    for (int i = 0; i < 3; i++) {
        box[i][0] = fbp_box_first(job, i);
        box[i][1] = box[i][0] + fbp_box_size(job, i);
        is_box = is_box || fbp_box_size(job, i) < job->grid.n[i];
    }
    const size_t(*const limits)[2] = (const size_t(*)[2])box;
    if (text && p->region.mask)
        return FBP_INVALID("region: both \"%.200s\" and a mask are given; omit one of them", text);
    if (word) {
        struct shape shape = {.n_round = word->n_round,
                              .lo = {-INFINITY, -INFINITY, -INFINITY},
                              .hi = {INFINITY, INFINITY, INFINITY},
                              .grid = &job->grid};
        const char *wrong = read_shape(text + strlen(word->name), &shape);
        if (wrong)
            return FBP_INVALID("region: \"%.200s\" %s: expected %s", text, wrong, word->expected);
        FBP_TRY(fbp_region_create(out, job->grid.n, limits, shape_row, &shape));
    } else if (text) {
        FBP_TRY(from_file(text, job, limits, out));
    } else {
        FBP_TRY(from_source("the mask", p->region.mask, job, limits, out));
    }
    if ((*out)->z0 == (*out)->z1) {
        struct fbp_grid g;
        double x[3][2];
        fbp_region_destroy(out);
        fbp_box_grid(job, &g);
        for (int i = 0; i < 3; i++) {
            x[i][0] = fbp_grid_coordinate(&g, i, 0);
            x[i][1] = fbp_grid_coordinate(&g, i, (double)g.n[i] - 1);
        }
        return FBP_INVALID(
            "region: %.200s contains no voxel of the %s, which extends over x %.6g to "
            "%.6g, y %.6g to %.6g, z %.6g to %.6g mm; choose another region",
            text ? text : "the mask", is_box ? "selected box" : "volume", x[0][0], x[0][1], x[1][0],
            x[1][1], x[2][0], x[2][1]);
    }
    if (!text || word)
        return FBP_OK;
    *file = fbp_strdup(text);
    if (*file)
        return FBP_OK;
    fbp_region_destroy(out);
    return fbp_fail_nomem(strlen(text), "the region's name");
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
