/* Folders of EPR imaging: a .DSC with its .DTA, prj*.mat, or an array beside directions. */
#include "scan/folder/folder_guess.h"

#include "base/text.h"
#include "base/math.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What files with few digits leave a unit vector short of 1. */
static const double UNIT = 1e-3;

/* A word of letters in the name of a file. */
static bool has_word(const char *path, const char *word)
{
    const char *name = fbp_base_name(path);
    const size_t n = strlen(word);

    for (const char *at = name; (at = strcasestr(at, word)) != NULL; at++)
        if ((at == name || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[n]))
            return true;
    return false;
}

/* The spectrum without a gradient, by its name: fusillo-h.npy, reference.txt … */
static const char *find_reference(const struct fbp_guess *g, const char *projections)
{
    static const char *const words[] = {"h", "ref", "reference", "spectrum", "zerogradient"};

    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (size_t i = 0; i < g->folder->n; i++) {
            const char *path = g->folder->series[i].path;
            if (strcmp(path, projections) != 0 &&
                fbp_has_extension(path, ".npy .txt .csv .dat .dsc") && has_word(path, words[w]))
                return path;
        }
    return NULL;
}

static void put_vectors(struct fbp_guess *g, const char *key, const double (*v)[3], size_t n)
{
    cJSON *list = cJSON_AddArrayToObject(g->root, key);

    for (size_t k = 0; k < n; k++)
        cJSON_AddItemToArray(list, cJSON_CreateDoubleArray(v[k], 3));
}

/* One number if all are the same. */
static void put_list(struct fbp_guess *g, const char *key, const double *v, size_t n)
{
    bool same = true;

    for (size_t k = 1; k < n; k++)
        same = same && fabs(v[k] - v[0]) <= 1e-12 * fabs(v[0]);
    if (same)
        cJSON_AddNumberToObject(g->root, key, v[0]);
    else
        fbp_init_numbers(g->root, key, v, n);
}

/* Directions, distances and places of a whole scan. */
static void put_views(struct fbp_guess *g, const struct fbp_scan *scan)
{
    double(*n)[3] = calloc(scan->n_views, sizeof *n);
    double *step = calloc(scan->n_views, 2 * sizeof *step), *first = step + scan->n_views;

    (void)fbp_init_tried(n && step ? FBP_OK : FBP_ERR_NOMEM);
    for (size_t k = 0; n && step && k < scan->n_views; k++) {
        const struct fbp_view *v = &scan->views[k];
        step[k] = sqrt(fbp_dot(v->u, v->u));
        for (int i = 0; i < 3; i++)
            n[k][i] = v->u[i] / step[k];
        first[k] = fbp_dot(v->d, n[k]) - ((double)scan->panel.n_columns - 1) / 2 * step[k];
    }
    if (n && step) {
        put_list(g, "spacing_mm", step, scan->n_views);
        put_list(g, "first_mm", first, scan->n_views);
        put_vectors(g, "directions", (const double(*)[3])n, scan->n_views);
    }
    free(n);
    free(step);
}

static void put_volume(struct fbp_guess *g, const struct fbp_grid *grid)
{
    if (grid->n[0] == 0)
        return;
    cJSON *volume = cJSON_AddObjectToObject(g->root, "volume");
    const double n[3] = {(double)grid->n[0], (double)grid->n[1], (double)grid->n[2]};
    fbp_init_numbers(volume, "size", n, 3);
    fbp_init_numbers(volume, "voxel_mm", grid->voxel_mm, 3);
}

static void put_assumed(struct fbp_guess *g, const struct fbp_scan *scan, bool divided)
{
    for (size_t i = 0; i < scan->n_assumed; i++) {
        const struct fbp_assumed *a = &scan->assumed[i];
        if (strcmp(a->key, "reference") != 0)
            fbp_init_assume(g, a->key, "%s: %s", a->value ? a->value : "", a->why);
        else if (!divided)
            fbp_init_assume(g, a->key,
                            "%s; name the spectrum without a gradient, one number a sample, in "
                            "\"reference\"",
                            a->why);
    }
}

static bool from_spectrometer(struct fbp_guess *g, const struct fbp_init_series *s)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    if (s->bytes == 0 || !fbp_has_extension(s->path, ".dsc .mat") ||
        !fbp_init_tried(fbp_scan_load(&scan, s->path)) || fbp_kind_has_lines(scan.kind)) {
        fbp_scan_clear(&scan);
        return false;
    }
    const bool sweep = scan.n_assumed > 0 && strcmp(scan.assumed[0].key, "reference") == 0;
    const char *reference = sweep ? find_reference(g, s->path) : NULL;
    fbp_init_say(g, "projections", "%zu views of %zu samples, from %s", scan.n_views,
                 scan.panel.n_columns, fbp_init_inside(g->folder, s->path));
    cJSON_AddStringToObject(g->root, "kind", fbp_kind_name(scan.kind));
    fbp_init_put_path(g, "projections", scan.projections);
    if (reference) {
        fbp_init_say(g, "reference",
                     "by its name the spectrum without a gradient; give --cutoff or --wiener, too");
        fbp_init_put_path(g, "reference", reference);
    }
    put_volume(g, &scan.volume);
    fbp_init_say(g, "directions", "from %s; fbp geometry show draws them",
                 fbp_init_inside(g->folder, s->path));
    put_views(g, &scan);
    put_assumed(g, &scan, reference != NULL);
    fbp_scan_clear(&scan);
    return true;
}

/* Views of one row: as they are, or the rows of one picture. */
static size_t views_of(const struct fbp_array_info *info)
{
    return info->n[1] == 1 ? info->n[2] : info->n[2] == 1 ? info->n[1] : 0;
}

static const struct fbp_init_series *find_directions(const struct fbp_guess *g, double (**out)[3])
{
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS];
    size_t n = 0;

    for (size_t i = 0; i < g->folder->n; i++) {
        const struct fbp_init_series *s = &g->folder->series[i];
        if (s == p || s->bytes == 0 || !fbp_has_extension(s->path, ".csv .txt .dat .npy") ||
            !fbp_init_tried(fbp_directions_load(s->path, out, &n)))
            continue;
        if (n == views_of(&p->info))
            return s;
        free(*out);
        *out = NULL;
    }
    return NULL;
}

static void put_array(struct fbp_guess *g)
{
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS];
    const bool table = p->info.n[2] == 1 && p->info.n[1] > 1;
    char name[4096];

    fbp_init_say(g, "projections", "%zu views of %zu samples, %s", views_of(&p->info), p->info.n[0],
                 fbp_type_name(p->info.type));
    cJSON_AddStringToObject(g->root, "kind", fbp_kind_name(FBP_PLANES));
    snprintf(name, sizeof name, "%s%s", p->path, table ? "?sinogram" : "");
    fbp_init_put_path(g, "projections", name);
}

/* An array, and as many vectors as it has views. */
static bool from_array(struct fbp_guess *g)
{
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS], *s;
    double(*v)[3] = NULL;

    if (!p || p->first != p->last || views_of(&p->info) < 2)
        return false;
    s = find_directions(g, &v);
    if (!s)
        return false;
    bool unit = true;
    for (size_t k = 0; k < views_of(&p->info); k++)
        unit = unit && fabs(sqrt(fbp_dot(v[k], v[k])) - 1) <= UNIT;
    free(v);
    const char *key = unit ? "directions" : "gradients";
    put_array(g);
    fbp_init_say(g, key, "from %s, %s", fbp_init_inside(g->folder, s->path),
                 unit ? "unit vectors" : "vectors of gradients");
    fbp_init_put_path(g, key, s->path);
    if (!(g->known->pitch_mm > 0))
        fbp_init_assume(g, "spacing_mm",
                        unit ? "the distance of samples; lengths depend on it"
                             : "the distance of samples under the strongest gradient: "
                               "the step of the field over it (--pitch)");
    cJSON_AddNumberToObject(g->root, "spacing_mm", g->known->pitch_mm > 0 ? g->known->pitch_mm : 1);
    const char *reference = unit ? NULL : find_reference(g, p->path);
    if (reference) {
        fbp_init_say(g, "reference",
                     "by its name the spectrum without a gradient; give --cutoff or --wiener, too");
        fbp_init_put_path(g, "reference", reference);
    }
    return true;
}

bool fbp_init_planes(struct fbp_guess *g)
{
    for (size_t i = 0; i < g->folder->n; i++)
        if (fbp_has_extension(g->folder->series[i].path, ".json") &&
            fbp_init_is_whole_scan(&g->folder->series[i], g->found.of[FBP_INIT_PROJECTIONS]))
            return false; /* there is one, which is said */
    for (size_t i = 0; i < g->folder->n; i++)
        if (from_spectrometer(g, &g->folder->series[i]))
            return true;
    return from_array(g);
}
