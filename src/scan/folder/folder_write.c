/* The scan file that a folder suggests.  Where something is from stands as a comment before its
 * key, what is no more than a guess in "assumed"; both are said on standard error. */
#include "scan/folder/folder_guess.h"
#include "scan/format/number_table.h"

#include "fbp/geometry_file.h"

#include "base/text.h"
#include "base/math.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum fbp_kind kind_of(const struct fbp_folder_known *known)
{
    return known->kind ? (enum fbp_kind)(known->kind - 1) : FBP_CONE;
}

/* Folder that the scan file will be in. */
static fbp_status find_base(struct fbp_guess *g)
{
    const char *base = g->known->base ? g->known->base : ".";

    if (realpath(base, g->base))
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO, "%s: no such folder: create it first", base);
}

static void put_series(struct fbp_guess *g, const char *key, enum fbp_init_role role)
{
    if (!g->found.of[role])
        return;
    char *pattern = fbp_init_pattern(g->found.of[role]);
    fbp_init_say(g, key, "found by its name: %zu images", g->found.of[role]->info.n[2]);
    fbp_init_put_path(g, key, pattern);
    free(pattern);
}

/* Least and greatest of the first, the middle and the last view. */
static bool range_of(const struct fbp_init_series *s, double range[2])
{
    const size_t n = s->info.n[0] * s->info.n[1], last = s->info.n[2] - 1;
    char *pattern = fbp_init_pattern(s);
    float *v = malloc(n * sizeof *v);
    fbp_source *source = NULL;
    bool good = fbp_init_tried(pattern && v ? FBP_OK : FBP_ERR_NOMEM) &&
                fbp_init_tried(fbp_source_open(&source, pattern, NULL));

    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int k = 0; good && k < 3; k++) {
        good = fbp_init_tried(fbp_source_read(source, last * (size_t)k / 2, 1, 0, s->info.n[1], v));
        for (size_t i = 0; good && i < n; i++)
            if (isfinite(v[i])) {
                range[0] = fmin(range[0], (double)v[i]);
                range[1] = fmax(range[1], (double)v[i]);
            }
    }
    fbp_source_close(&source);
    free(v);
    free(pattern);
    return good && range[0] <= range[1];
}

/* Counts or line integrals? */
static void put_intensity(struct fbp_guess *g)
{
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS];
    const bool whole = p->info.type != FBP_F32 && p->info.type != FBP_F64;
    double range[2];

    put_series(g, "dark", FBP_INIT_DARK);
    put_series(g, "flat", FBP_INIT_FLAT);
    put_series(g, "bad_pixels", FBP_INIT_BAD);
    if (g->found.of[FBP_INIT_FLAT])
        return;
    if (g->i0 > 0) {
        fbp_init_say(g, "i0", "from %s", fbp_init_inside(g->folder, g->geometry));
        cJSON_AddNumberToObject(g->root, "i0", g->i0);
        return;
    }
    if (!range_of(p, range))
        return;
    if (!whole && range[1] < 100) {
        fbp_init_assume(
            g, "i0",
            "values are from %.4g to %.4g and taken as line integrals; if they are intensities, "
            "add \"i0\"",
            range[0], range[1]);
        return;
    }
    fbp_init_assume(
        g, "i0",
        "there are no flats, so that the greatest of three views is the beam without an object; "
        "if no pixel sees past the object give the right one");
    cJSON_AddNumberToObject(g->root, "i0", range[1]);
}

/* n numbers of a text file or an array; free().  NULL: it holds others. */
static double *read_numbers(const char *path, size_t n)
{
    double *v = NULL;
    size_t got = 0;

    if (fbp_init_tried(fbp_number_table_load(path, 1, "one angle a view", &v, &got)) && got == n)
        return v;
    free(v);
    return NULL;
}

/* A list of as many angles as there are views; *from: its file. */
static double *find_angles(const struct fbp_guess *g, const char **from)
{
    const size_t n = g->found.of[FBP_INIT_PROJECTIONS]->info.n[2];
    double *v = NULL;

    if (g->found.of[FBP_INIT_ANGLES]) {
        *from = g->found.of[FBP_INIT_ANGLES]->path;
        return read_numbers(*from, n);
    }
    for (size_t i = 0; i < g->folder->n && !v; i++) {
        *from = g->folder->series[i].path;
        if (fbp_has_extension(*from, ".txt .csv .dat"))
            v = read_numbers(*from, n);
    }
    return v;
}

static void put_listed_angles(struct fbp_guess *g, double *v, const char *from)
{
    const size_t n = g->found.of[FBP_INIT_PROJECTIONS]->info.n[2];
    double span = 0;

    for (size_t i = 0; i < n; i++)
        span = fmax(span, fabs(v[i] - v[0]));
    const bool radians = span < 6.5;
    for (size_t i = 0; radians && i < n; i++)
        v[i] = v[i] * (180 / FBP_PI);
    fbp_init_say(g, "angles_deg", "from %s; if the volume is mirrored reverse their sign",
                 fbp_init_inside(g->folder, from));
    if (radians)
        fbp_init_assume(g, "angles_deg",
                        "as they are no more than 6.5 apart, they are taken as radians");
    fbp_init_numbers(g->root, "angles_deg", v, n);
}

static void put_angles(struct fbp_guess *g)
{
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS];
    const size_t n = p->order.places ? p->order.places[p->info.n[2] - 1] + 1 : p->info.n[2];
    const char *from;
    double *list = g->known->arc_deg > 0 ? NULL : find_angles(g, &from);

    if (list) {
        put_listed_angles(g, list, from);
        free(list);
        return;
    }
    /* 181 and 361 views measure both ends. */
    const bool told = g->known->arc_deg > 0;
    const double arc = told ? g->known->arc_deg : g->cone ? 360 : 180;
    const bool both = n > 1 && (n - 1) % 10 == 0;
    const double step = arc / (double)(both ? n - 1 : n);
    (told ? fbp_init_say : fbp_init_assume)(
        g, "angles_deg", "%sover %.6g degrees, even steps%s; if the volume is mirrored give %.6g",
        told ? "as told, " : "", arc, both ? ", both ends measured" : "", -step);
    cJSON *angles = cJSON_AddObjectToObject(g->root, "angles_deg");
    cJSON_AddNumberToObject(angles, "start", 0);
    cJSON_AddNumberToObject(angles, "step", step);
}

static void put_number(struct fbp_guess *g, cJSON *to, const char *name, double told,
                       double assumed, const char *remedy)
{
    const char *dot = strchr(name, '.'), *key = dot ? dot + 1 : name;

    g->at = to;
    if (!(told > 0))
        fbp_init_assume(g, name, "%s", remedy);
    cJSON_AddNumberToObject(to, key, told > 0 ? told : assumed);
    g->at = g->root;
}

/* Does the file describe these views?  With a pitch if it needs one. */
static bool describes(struct fbp_guess *g, const char *path)
{
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS];
    struct fbp_geometry_known known = {.struct_size = sizeof known,
                                       .panel = {p->info.n[0], p->info.n[1]},
                                       .n_views = p->info.n[2]};
    struct fbp_scan scan = {.struct_size = sizeof scan};

    for (int with = 0; with < 2; with++) {
        g->pitch = with ? (g->known->pitch_mm > 0 ? g->known->pitch_mm : 1) : 0;
        known.pitch_mm[0] = known.pitch_mm[1] = g->pitch;
        const bool good = fbp_init_tried(fbp_geometry_load(&scan, path, NULL, &known)) &&
                          scan.n_views == known.n_views;
        g->i0 = good ? scan.i0 : 0;
        fbp_scan_clear(&scan);
        if (good)
            return true;
    }
    return false;
}

static void find_geometry(struct fbp_guess *g)
{
    for (size_t i = 0; i < g->folder->n && !g->geometry; i++) {
        const struct fbp_init_series *s = &g->folder->series[i];
        if (s != g->found.of[FBP_INIT_PROJECTIONS] && s->bytes > 0 &&
            fbp_init_is_geometry(s->path) && describes(g, s->path))
            g->geometry = s->path;
    }
}

/* "cone or parallel" */
static const char *which_kind(char *buf, size_t n)
{
    const char *name, *refused;
    size_t used = 0;

    buf[0] = 0;
    for (size_t i = 0; (name = fbp_kind_listed(i, &refused)) && used < n; i++)
        if (*name && !refused && fbp_kind_has_lines((enum fbp_kind)i))
            used += (size_t)snprintf(buf + used, n - used, "%s%s", used ? " or " : "", name);
    return buf;
}

static void put_geometry(struct fbp_guess *g)
{
    char question[120];
    const char *row_order = g->found.of[FBP_INIT_PROJECTIONS]->info.row_order == FBP_ROWS_TOP_DOWN
                                ? "top-down"
                                : "bottom-up";
    const char *geometry = g->geometry;
    cJSON *detector;

    if (geometry)
        fbp_init_say(g, "geometry", "%s describes these views",
                     fbp_init_inside(g->folder, geometry));
    if (geometry)
        fbp_init_put_path(g, "geometry", geometry);
    else {
        if (!g->known->kind)
            fbp_init_assume(g, "kind", "%s?", which_kind(question, sizeof question));
        cJSON_AddStringToObject(g->root, "kind", fbp_kind_name(kind_of(g->known)));
    }
    detector = cJSON_AddObjectToObject(g->root, "detector");
    if (!geometry || g->pitch > 0)
        put_number(g, detector, "detector.pitch_mm", g->known->pitch_mm, 1,
                   "the distance of pixels; lengths and values of the volume depend on it");
    g->at = detector;
    fbp_init_say(g, "row_order",
                 "the habit of the format; if the volume is upside down give the other");
    g->at = g->root;
    cJSON_AddStringToObject(detector, "row_order", row_order);
    if (geometry)
        return;
    if (g->cone) {
        put_number(g, g->root, "source_to_axis_mm", g->known->sod_mm,
                   g->known->sdd_mm > 0 ? g->known->sdd_mm * 0.625 : 750,
                   "from source to rotation axis");
        put_number(g, g->root, "source_to_detector_mm", g->known->sdd_mm,
                   g->known->sod_mm > 0 ? g->known->sod_mm * 1.6 : 1200, "from source to detector");
    }
    put_angles(g);
}

static void start(struct fbp_guess *g)
{
    g->root = g->at = cJSON_CreateObject();
    cJSON_AddStringToObject(g->root, "//",
                            "A first guess by fbp init: put right what is assumed and remove it "
                            "from the list, then fbp geometry check, and fbp recon --slice K -o "
                            "slice.png");
    cJSON_AddNumberToObject(g->root, "fbp_scan", 1);
    g->assumed = cJSON_AddObjectToObject(g->root, "assumed");
}

static void finish_lists(struct fbp_guess *g)
{
    if (!g->assumed || !g->assumed->child)
        cJSON_DeleteItemFromObject(g->root, "assumed");
}

static void build(struct fbp_guess *g)
{
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS];
    char *pattern = fbp_init_pattern(p);

    fbp_init_say(g, "projections", "%zu views of %zu x %zu pixels, %s", p->info.n[2], p->info.n[0],
                 p->info.n[1], fbp_type_name(p->info.type));
    fbp_init_put_path(g, "projections", pattern);
    free(pattern);
    if (p->order.gaps[0])
        fbp_init_warn("%s: %s", p->glob, p->order.gaps);
    put_intensity(g);
    put_geometry(g);
    finish_lists(g);
}

static fbp_status guess(struct fbp_guess *g)
{
    fbp_status st = FBP_OK;

    g->cone = fbp_kind_has_source(kind_of(g->known));
    fbp_init_assign(g->folder, &g->found);
    FBP_TRY(find_base(g));
    start(g);
    const bool planes = !g->known->kind && fbp_init_planes(g);
    if (!planes && fbp_init_is_complete())
        st = fbp_init_check_need(g->folder, &g->found);
    if (planes)
        finish_lists(g);
    else if (st == FBP_OK && fbp_init_is_complete()) {
        find_geometry(g);
        build(g);
    }
    if (st == FBP_OK)
        st = fbp_init_check_read();
    if (st == FBP_OK)
        fbp_message_clear();
    if (st == FBP_OK && !fbp_init_is_complete())
        st = fbp_fail(FBP_ERR_NOMEM,
                      "%s: there was not enough memory to look at all of it: close other programs",
                      g->folder->path);
    if (st == FBP_OK && !planes)
        fbp_init_say_rest(g->folder, &g->found);
    return st;
}

fbp_status fbp_init_write(cJSON **out, const struct fbp_init_folder *folder,
                          const struct fbp_folder_known *known)
{
    struct fbp_guess g = {.folder = folder, .known = known};
    const fbp_status st = guess(&g);

    *out = st == FBP_OK ? g.root : NULL;
    if (st != FBP_OK)
        cJSON_Delete(g.root);
    return st;
}
