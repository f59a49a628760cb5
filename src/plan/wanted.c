#include "plan/wanted.h"

#include "array/array.h"
#include "backend/slab.h"
#include "base/mem.h"
#include "base/text.h"
#include "plan/region_shape.h"
#include "plan/roi.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

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

/* A mask, a slice of which is here. */
struct mask_rows {
    const char *name;
    fbp_source *source;
    const struct fbp_grid *grid;
    float *slice;
    size_t z; /* that is here; SIZE_MAX: none */
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

/* Where the file says how its voxels lie, they lie where the volume's do. */
static fbp_status check_place(const char *name, const struct fbp_array_info *info,
                              const struct fbp_grid *g)
{
    static const double SLACK = 0.1; /* of a voxel: numbers in headers are rounded */
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

/* "sphere:1,2,3" is more likely a shape that is not known than a data set of a file "sphere". */
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
    FBP_TRY(fbp_because("region", fbp_source_open(&source, path, NULL)));
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
    if (!p->region)
        return from_source("the mask", p->region_mask, job, box, out);
    if (p->region_mask)
        return fbp_fail(FBP_ERR_INVALID,
                        "region: \"%.200s\" and a mask are given: leave one of them out",
                        p->region);
    return (fbp_region_is_shape(p->region) ? from_shape : from_file)(p->region, job, box, out);
}

fbp_status fbp_region_of(const struct fbp_recon_params *p, const struct fbp_job *job,
                         struct fbp_region **out, char **file)
{
    size_t box[3][2];
    bool is_box = false;

    *out = NULL;
    *file = NULL;
    if (!p->region && !p->region_mask)
        return FBP_OK;
    for (int i = 0; i < 3; i++) {
        box[i][0] = fbp_roi_first(job, i);
        box[i][1] = box[i][0] + fbp_roi_size(job, i);
        is_box = is_box || fbp_roi_size(job, i) < job->grid.n[i];
    }
    FBP_TRY(make(p, job, (const size_t(*)[2])box, out));
    if ((*out)->z0 == (*out)->z1) {
        fbp_region_destroy(out);
        return nothing_wanted(p->region ? p->region : "the mask", job, is_box);
    }
    if (!p->region || fbp_region_is_shape(p->region))
        return FBP_OK;
    *file = fbp_strdup(p->region);
    if (*file)
        return FBP_OK;
    fbp_region_destroy(out);
    return fbp_fail_nomem(strlen(p->region), "the region's name");
}

uint64_t fbp_wanted_voxels(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                           size_t z1)
{
    return job->region ? fbp_region_count(job->region, z0, z1)
                       : (uint64_t)fbp_slab_slice(slab) * (z1 - z0);
}

double fbp_wanted_share(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                        size_t z1)
{
    const double all = (double)fbp_slab_slice(slab) * (double)(z1 - z0);

    return all > 0 ? (double)fbp_wanted_voxels(job, slab, z0, z1) / all : 1;
}
