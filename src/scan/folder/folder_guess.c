/* Makes the contents of the scan file (JSON) that `fbp init` writes for a folder of projections:
 * fbp_init_write(). A comment before a key states where its value was found. A value that is only
 * a guess has an entry in "assumed", with the reason; commands warn of it until the entry is
 * removed. Comments and entries are also logged. Folders of EPR images (a .DSC with its .DTA, a
 * .mat file, or an array beside directions) are recognised first.
 * Used by: folder_scan.c. */
#include "array/file/bytes.h"
#include "geometry/kind.h"
#include "scan/folder/folder.h"

#include "array/array.h"
#include "base/math.h"
#include "base/text.h"
#include "scan/scan_file.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Greatest deviation from 1 of a unit vector's length; files may have few digits. */
static const double UNIT = 1e-3;

struct guess {
    const struct fbp_init_folder *folder;
    const struct fbp_folder_known *known;
    struct fbp_init_found found;
    const char *geometry; /* file of a geometry that fits; NULL: none */
    /* pitch: pixel pitch for a geometry file that contains none [mm], else 0; i0: intensity without
     * an object, from the geometry file; 0: not known */
    double pitch, i0;
    char base[PATH_MAX]; /* folder in which the caller will store the scan file */
    cJSON *root;
    cJSON *at;      /* object that is being written */
    cJSON *assumed; /* member "assumed" of root */
    bool cone;
};

enum origin { FOUND, ASSUMED };

/* Write the origin of a value to the scan file, as a comment (FOUND) or as an entry of "assumed"
 * (ASSUMED), and to the log. */
static void say(struct guess *g, enum origin origin, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void say(struct guess *g, enum origin origin, const char *key, const char *fmt, ...)
{
    const bool assumed = origin == ASSUMED;
    char text[600], comment[80];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap); // NOLINT(clang-analyzer-valist.Uninitialized): it is not
    va_end(ap);
    snprintf(comment, sizeof comment, "// %s", key);
    cJSON_AddStringToObject(assumed ? g->assumed : g->at, assumed ? key : comment, text);
    fbp_init_log(FBP_LOG_NOTE, "%s: %s%s", key, assumed ? "ASSUMED: " : "", text);
}

/* Write the path of a file or pattern to the scan file: relative if it lies in or below the scan
 * file's folder, else absolute. */
static void put_path(struct guess *g, const char *key, const char *pattern)
{
    char *scan = fbp_format("%s/scan.json", g->base);
    char *name = scan && pattern ? fbp_scan_relative(scan, pattern) : NULL;

    free(scan);
    (void)fbp_init_tried(name ? FBP_OK : FBP_ERR_NOMEM);
    cJSON_AddStringToObject(g->root, key, name ? name : "");
    free(name);
}

/* Plane integrals (EPR). */

/* Add the spectrum without a gradient as "reference", if the name of a file, such as fusillo-h.npy
 * or reference.txt, contains a word such as h, ref or spectrum.  Returns true if such a file
 * exists. */
static bool put_reference(struct guess *g, const char *projections)
{
    static const char *const words[] = {"h", "ref", "reference", "spectrum", "zerogradient"};

    for (size_t w = 0; w < N_OF(words); w++)
        for (size_t i = 0; i < g->folder->n; i++) {
            const char *path = g->folder->series[i].path;
            if (strcmp(path, projections) == 0 ||
                !fbp_has_extension(path, ".npy .txt .csv .dat .dsc") ||
                !fbp_init_has_word(fbp_base_name(path), words[w], true))
                continue;
            say(g, FOUND, "reference",
                "by its name, the spectrum without a gradient; give --cutoff or --wiener, too");
            put_path(g, "reference", path);
            return true;
        }
    return false;
}

/* Write a list, or one number if all numbers are equal. */
static void put_list(struct guess *g, const char *key, const double *v, size_t n)
{
    bool same = true;

    for (size_t k = 1; k < n; k++)
        same = same && fabs(v[k] - v[0]) <= 1e-12 * fabs(v[0]);
    if (same)
        cJSON_AddNumberToObject(g->root, key, v[0]);
    else
        cJSON_AddItemToObject(g->root, key, cJSON_CreateDoubleArray(v, (int)n));
}

/* Fill the scan file from a .dsc or .mat file with a whole EPR scan; false: it has none. */
static bool from_spectrometer(struct guess *g, const struct fbp_init_series *s)
{
    const char *name = fbp_init_inside(g->folder, s->path);
    struct fbp_scan scan = {.struct_size = sizeof scan};

    if (s->bytes == 0 || !fbp_has_extension(s->path, ".dsc .mat") ||
        !fbp_init_tried(fbp_scan_load(&scan, s->path, NULL)) || fbp_kind_has_lines(scan.kind)) {
        fbp_scan_clear(&scan);
        return false;
    }
    say(g, FOUND, "projections", "%zu views of %zu samples, from %s", scan.n_views,
        scan.panel.n_columns, name);
    cJSON_AddStringToObject(g->root, "kind", fbp_kind_name(scan.kind));
    put_path(g, "projections", scan.projections);
    const bool sweep = scan.n_assumed > 0 && strcmp(scan.assumed[0].key, "reference") == 0;
    const bool divided = sweep && put_reference(g, s->path);
    const struct fbp_grid *grid = &scan.volume;
    if (grid->n[0] > 0) {
        cJSON *volume = cJSON_AddObjectToObject(g->root, "volume");
        const double size[3] = {(double)grid->n[0], (double)grid->n[1], (double)grid->n[2]};
        cJSON_AddItemToObject(volume, "size", cJSON_CreateDoubleArray(size, 3));
        cJSON_AddItemToObject(volume, "voxel_mm", cJSON_CreateDoubleArray(grid->voxel_mm, 3));
    }
    say(g, FOUND, "directions", "from %s; fbp geometry show draws them", name);
    double(*n)[3] = calloc(scan.n_views, sizeof *n);
    double *step = calloc(scan.n_views, 2 * sizeof *step);
    if (fbp_init_tried(n && step ? FBP_OK : FBP_ERR_NOMEM)) {
        double *const first = step + scan.n_views;
        for (size_t k = 0; k < scan.n_views; k++) {
            const struct fbp_view *v = &scan.views[k];
            step[k] = fbp_norm(v->u);
            for (int i = 0; i < 3; i++)
                n[k][i] = v->u[i] / step[k];
            first[k] = fbp_dot(v->d, n[k]) - ((double)scan.panel.n_columns - 1) / 2 * step[k];
        }
        put_list(g, "spacing_mm", step, scan.n_views);
        put_list(g, "first_mm", first, scan.n_views);
        cJSON *list = cJSON_AddArrayToObject(g->root, "directions");
        for (size_t k = 0; k < scan.n_views; k++)
            cJSON_AddItemToArray(list, cJSON_CreateDoubleArray(n[k], 3));
    }
    free(n);
    free(step);
    for (size_t i = 0; i < scan.n_assumed; i++) {
        const struct fbp_assumed *a = &scan.assumed[i];
        if (strcmp(a->key, "reference") != 0)
            say(g, ASSUMED, a->key, "%s: %s", a->value ? a->value : "", a->why);
        else if (!divided)
            say(g, ASSUMED, a->key,
                "%s; name the file of the spectrum without a gradient, one number per sample, in "
                "\"reference\"",
                a->why);
    }
    fbp_scan_clear(&scan);
    return true;
}

/* Fill the scan file from an EPR array (views of one row, or one image whose rows are the views)
 * and a file with one direction or gradient vector per view; false: there are no such files. */
static bool from_array(struct guess *g)
{
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS], *s = NULL;
    double(*v)[3] = NULL;
    size_t n = 0;
    char path[4096];

    if (!p || p->first != p->last)
        return false;
    const size_t *size = p->info.n, n_views = size[1] == 1 ? size[2] : size[2] == 1 ? size[1] : 0;
    if (n_views < 2)
        return false;
    for (size_t i = 0; i < g->folder->n && !s; i++) {
        const struct fbp_init_series *one = &g->folder->series[i];
        if (one == p || one->bytes == 0 || !fbp_has_extension(one->path, ".csv .txt .dat .npy") ||
            !fbp_init_tried(fbp_directions_load(one->path, &v, &n)))
            continue;
        if (n == n_views) {
            s = one;
            break;
        }
        free(v);
        v = NULL;
    }
    if (!s)
        return false;
    bool unit = true;
    for (size_t k = 0; k < n_views; k++)
        unit = unit && fabs(sqrt(fbp_dot(v[k], v[k])) - 1) <= UNIT;
    free(v);

    const char *key = unit ? "directions" : "gradients";
    const double pitch = g->known->pitch_mm;
    say(g, FOUND, "projections", "%zu views of %zu samples, %s", n_views, size[0],
        fbp_type_name(p->info.type));
    cJSON_AddStringToObject(g->root, "kind", fbp_kind_name(FBP_PLANES));
    snprintf(path, sizeof path, "%s%s", p->path, size[2] == 1 && size[1] > 1 ? "?sinogram" : "");
    put_path(g, "projections", path);
    say(g, FOUND, key, "from %s, %s", fbp_init_inside(g->folder, s->path),
        unit ? "unit vectors" : "vectors of gradients");
    put_path(g, key, s->path);
    if (!(pitch > 0))
        say(g, ASSUMED, "spacing_mm",
            unit ? "the distance between samples; all lengths depend on it"
                 : "the distance between samples under the strongest gradient: the field step "
                   "divided by the gradient (--pitch)");
    cJSON_AddNumberToObject(g->root, "spacing_mm", pitch > 0 ? pitch : 1);
    if (!unit)
        (void)put_reference(g, p->path);
    return true;
}

/* Line integrals (CT). */

static void put_series(struct guess *g, const char *key, enum fbp_init_role role)
{
    if (!g->found.of[role])
        return;
    char *pattern = fbp_init_pattern(g->found.of[role]);
    say(g, FOUND, key, "found by its name: %zu images", g->found.of[role]->info.n[2]);
    put_path(g, key, pattern);
    free(pattern);
}

/* Request the search for bad pixels in views of intensities, unless a file lists them. */
static void put_bad_pixels(struct guess *g)
{
    if (g->found.of[FBP_INIT_BAD])
        return;
    say(g, FOUND, "bad_pixels",
        "auto: dead, stuck, hot and saturated pixels are searched in 8 views and interpolated");
    cJSON_AddStringToObject(g->root, "bad_pixels", "auto");
}

/* Add darks, flats and bad pixels.  Without flats, add i0 from the geometry file or as a guess,
 * unless the projections are floats below 100, which are taken for line integrals. */
static void put_intensity(struct guess *g)
{
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS];
    const bool whole = p->info.type != FBP_F32 && p->info.type != FBP_F64;
    double range[2] = {INFINITY, -INFINITY};
    double *samples = NULL; /* every `stride`-th of three views, at most about MOST */
    enum { MOST = 1 << 20 };
    size_t n_samples = 0;

    put_series(g, "dark", FBP_INIT_DARK);
    put_series(g, "flat", FBP_INIT_FLAT);
    put_series(g, "bad_pixels", FBP_INIT_BAD);
    if (g->found.of[FBP_INIT_FLAT]) {
        put_bad_pixels(g);
        return;
    }
    if (g->known->i0 > 0 || g->i0 > 0) {
        if (g->known->i0 > 0)
            say(g, FOUND, "i0", "as given");
        else
            say(g, FOUND, "i0", "from %s", fbp_init_inside(g->folder, g->geometry));
        cJSON_AddNumberToObject(g->root, "i0", g->known->i0 > 0 ? g->known->i0 : g->i0);
        put_bad_pixels(g);
        return;
    }

    /* Get the least and greatest value of the first, the middle and the last view. */
    const size_t n = p->info.n[0] * p->info.n[1], last = p->info.n[2] - 1;
    const size_t stride = 3 * n / MOST + 1;
    char *pattern = fbp_init_pattern(p);
    float *v = malloc(n * sizeof *v);
    samples = malloc((3 * n / stride + 3) * sizeof *samples);
    fbp_source *source = NULL;
    bool good = fbp_init_tried(pattern && v && samples ? FBP_OK : FBP_ERR_NOMEM) &&
                fbp_init_tried(fbp_source_open(&source, pattern, NULL)) &&
                (!g->known->sinograms || fbp_init_tried(fbp_source_transpose(&source)));
    for (int k = 0; good && k < 3; k++) {
        good = fbp_init_tried(
            fbp_source_read(source, last * (size_t)k / 2, 1, 0, p->info.n[1], FBP_F32, v));
        for (size_t i = 0; good && i < n; i++)
            if (isfinite(v[i])) {
                range[0] = fmin(range[0], (double)v[i]);
                range[1] = fmax(range[1], (double)v[i]);
                if (i % stride == 0)
                    samples[n_samples++] = (double)v[i];
            }
    }
    /* The beam without the object: the median of the bright samples, because the greatest value is
     * one of noise, or of a pixel that is too sensitive. */
    double beam = range[1];
    if (n_samples > 0) {
        fbp_sort(samples, n_samples);
        const double bright = 0.9 * samples[n_samples * 99 / 100];
        size_t dark = 0;
        while (dark + 1 < n_samples && samples[dark] < bright)
            dark++;
        beam = samples[dark + (n_samples - dark) / 2];
    }
    fbp_source_close(&source);
    free(v);
    free(samples);
    free(pattern);
    if (!good || range[0] > range[1])
        return;
    if (!whole && range[1] < 100) {
        say(g, ASSUMED, "i0",
            "values are from %.4g to %.4g and used as line integrals; if they are intensities, add "
            "\"i0\"",
            range[0], range[1]);
        return;
    }
    say(g, ASSUMED, "i0",
        "there are no flats, so the median of the brightest pixels of three views is used as the "
        "intensity of the unattenuated beam; if you know it, give --i0");
    cJSON_AddNumberToObject(g->root, "i0", beam);
    put_bad_pixels(g);
}

/* Read n numbers, one per view, from a text file or an array into memory that the caller frees.
 * NULL: the file does not contain n numbers. */
static double *read_numbers(const char *path, size_t n)
{
    double *v = NULL;
    size_t got = 0;

    if (fbp_init_tried(fbp_number_table_load(path, 1, "one angle per view", &v, &got)) && got == n)
        return v;
    free(v);
    return NULL;
}

static void put_angles(struct guess *g)
{
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS];
    const struct fbp_init_series *file = g->found.of[FBP_INIT_ANGLES];
    const size_t n_views = p->info.n[2];
    const bool given = g->known->arc_deg > 0;
    const char *from = file ? file->path : NULL;
    double *v = !given && file ? read_numbers(from, n_views) : NULL;

    for (size_t i = 0; !given && !file && i < g->folder->n && !v; i++) {
        from = g->folder->series[i].path;
        if (fbp_has_extension(from, ".txt .csv .dat"))
            v = read_numbers(from, n_views);
    }
    if (v) {
        double span = 0;
        for (size_t i = 0; i < n_views; i++)
            span = fmax(span, fabs(v[i] - v[0]));
        const bool radians = span < 6.5;
        for (size_t i = 0; radians && i < n_views; i++)
            v[i] = v[i] * (180 / FBP_PI);
        say(g, FOUND, "angles_deg", "from %s; if the volume is %s, reverse the sign of the angles",
            fbp_init_inside(g->folder, from), g->cone ? "blurred" : "mirrored");
        if (radians)
            say(g, ASSUMED, "angles_deg",
                "assumed to be in radians, because their range is at most 6.5");
        cJSON_AddItemToObject(g->root, "angles_deg", cJSON_CreateDoubleArray(v, (int)n_views));
        free(v);
        return;
    }

    /* a number of views such as 181 or 361 suggests that the arc includes both ends */
    const size_t n = p->order.places ? p->order.places[n_views - 1] + 1 : n_views;
    const double arc = given ? g->known->arc_deg : g->cone ? 360 : 180;
    const bool both = n > 1 && (n - 1) % 10 == 0;
    const double step = arc / (double)(both ? n - 1 : n);
    say(g, given ? FOUND : ASSUMED, "angles_deg",
        "%sover %.6g degrees, in even steps%s; if the volume is %s, %schange the step to %.6g",
        given ? "as given, " : "", arc, both ? ", including both ends" : "",
        g->cone ? "blurred" : "mirrored", g->cone ? "run fbp calibrate, or " : "", -step);
    cJSON *angles = cJSON_AddObjectToObject(g->root, "angles_deg");
    cJSON_AddNumberToObject(angles, "start", 0);
    cJSON_AddNumberToObject(angles, "step", step);
}

/* Write a number to the scan file: that of the caller if it is above 0, else an assumed number,
 * which is listed in "assumed". */
static void put_number(struct guess *g, cJSON *to, const char *name, double given, double assumed,
                       const char *remedy)
{
    const char *dot = strchr(name, '.'), *key = dot ? dot + 1 : name;

    if (!(given > 0))
        say(g, ASSUMED, name, "%s", remedy);
    cJSON_AddNumberToObject(to, key, given > 0 ? given : assumed);
}

/* Find a geometry file that fits the views: each file is loaded without a pixel pitch first, then
 * with one, because files of some formats contain no pitch. */
static void find_geometry(struct guess *g)
{
    enum { MOST = 64 };
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS];
    struct fbp_geometry_format_info formats[MOST] = {{.struct_size = sizeof *formats}};
    const size_t n_formats = fbp_geometry_formats(formats, MOST);

    for (size_t i = 0; i < g->folder->n && !g->geometry; i++) {
        const struct fbp_init_series *s = &g->folder->series[i];
        bool geometry = false;
        for (size_t k = 0; k < n_formats && k < MOST; k++)
            geometry |= formats[k].reads && fbp_has_extension(s->path, formats[k].extensions);
        for (int with = 0; geometry && s != p && s->bytes > 0 && with < 2 && !g->geometry; with++) {
            struct fbp_geometry_known known = {.struct_size = sizeof known,
                                               .panel = {p->info.n[0], p->info.n[1]},
                                               .n_views = p->info.n[2]};
            struct fbp_scan scan = {.struct_size = sizeof scan};
            g->pitch = with ? (g->known->pitch_mm > 0 ? g->known->pitch_mm : 1) : 0;
            known.pitch_mm[0] = known.pitch_mm[1] = g->pitch;
            const bool good = fbp_init_tried(fbp_geometry_load(&scan, s->path, NULL, &known)) &&
                              scan.n_views == known.n_views;
            g->i0 = good ? scan.i0 : 0;
            g->geometry = good ? s->path : NULL;
            fbp_scan_clear(&scan);
        }
    }
}

static void put_geometry(struct guess *g)
{
    const struct fbp_folder_known *known = g->known;
    const char *row_order = g->found.of[FBP_INIT_PROJECTIONS]->info.row_order == FBP_ROWS_TOP_DOWN
                                ? "top-down"
                                : "bottom-up";

    if (g->geometry) {
        say(g, FOUND, "geometry", "%s describes these views",
            fbp_init_inside(g->folder, g->geometry));
        put_path(g, "geometry", g->geometry);
    } else {
        char question[120] = ""; /* "cone or parallel" */
        const char *name;
        for (size_t i = 0; (name = fbp_kind_listed(i)); i++)
            if (fbp_kind_has_lines((enum fbp_kind)i))
                fbp_text_add(question, sizeof question, " or ", "%s", name);
        if (!known->kind && (known->sod_mm > 0 || known->sdd_mm > 0))
            say(g, FOUND, "kind", "cone, because parallel beams have no distances of a source");
        else if (!known->kind)
            say(g, ASSUMED, "kind", "%s?", question);
        const enum fbp_kind kind = known->kind ? (enum fbp_kind)(known->kind - 1) : FBP_CONE;
        cJSON_AddStringToObject(g->root, "kind", fbp_kind_name(kind));
    }
    cJSON *detector = cJSON_AddObjectToObject(g->root, "detector");
    if (!g->geometry || g->pitch > 0)
        put_number(g, detector, "detector.pitch_mm", known->pitch_mm, 1,
                   "the distance between pixels; lengths and values of the volume depend on it");
    g->at = detector;
    say(g, FOUND, "row_order",
        "usual for this format; if the volume is upside down, give the other order");
    g->at = g->root;
    cJSON_AddStringToObject(detector, "row_order", row_order);
    if (g->geometry)
        return;
    if (g->cone) {
        put_number(g, g->root, "source_to_axis_mm", known->sod_mm,
                   known->sdd_mm > 0 ? known->sdd_mm * 0.625 : 750, "from source to rotation axis");
        put_number(g, g->root, "source_to_detector_mm", known->sdd_mm,
                   known->sod_mm > 0 ? known->sod_mm * 1.6 : 1200, "from source to detector");
    }
    put_angles(g);
}

/* Fail if the folder has no projections, if a file in it describes a complete scan, or if the .dsc
 * file of the projections cannot be loaded. */
static fbp_status check_need(const struct guess *g)
{
    const struct fbp_init_folder *folder = g->folder;
    const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS];
    fbp_status st = FBP_OK;

    for (size_t i = 0; i < folder->n; i++) {
        const bool whole = fbp_init_is_whole_scan(&folder->series[i], p);
        fbp_message_clear();
        if (whole)
            return FBP_INVALID("%s: describes a complete scan; give this file to fbp recon",
                               folder->series[i].path);
    }
    if (!p)
        return fbp_init_no_projections(folder);
    if (!fbp_has_extension(p->path, ".dsc .dta"))
        return FBP_OK;

    /* Projections in Bruker's EPR format: fail if their .dsc file cannot be loaded. */
    const size_t stem = strlen(p->path) - 4;
    for (size_t i = 0; st == FBP_OK && i < folder->n; i++) {
        const char *path = folder->series[i].path;
        struct fbp_scan scan = {.struct_size = sizeof scan};
        if (strlen(path) != stem + 4 || strncmp(path, p->path, stem) != 0 ||
            !fbp_has_extension(path, ".dsc"))
            continue;
        st = fbp_scan_load(&scan, path, NULL);
        fbp_scan_clear(&scan);
    }
    return st;
}

fbp_status fbp_init_write(cJSON **out, const struct fbp_init_folder *folder,
                          const struct fbp_folder_known *known)
{
    struct guess own = {.folder = folder, .known = known}, *const g = &own;
    const char *base = known->base ? known->base : ".";
    fbp_status st = FBP_OK;

    g->cone = fbp_kind_has_source(known->kind ? (enum fbp_kind)(known->kind - 1) : FBP_CONE);
    fbp_init_assign(folder, &g->found);
    *out = NULL;
    if (!realpath(base, g->base))
        return fbp_fail(FBP_ERR_IO,
                        "%s: this folder cannot be found: %s; create it, or correct the path", base,
                        strerror(errno));
    g->root = g->at = cJSON_CreateObject();
    cJSON_AddStringToObject(
        g->root, "//",
        "Written by fbp init: correct the values in \"assumed\", if there are any, and remove them "
        "from it; then run fbp calibrate (axis, roll, direction of rotation), or fbp geometry check");
    cJSON_AddNumberToObject(g->root, "fbp_scan", 1);
    g->assumed = cJSON_AddObjectToObject(g->root, "assumed");

    /* Decide whether the folder contains an EPR image: not if the caller has stated the kind of
     * scan, or if a JSON file describes a complete scan (check_need() then fails and names this
     * file). */
    bool planes = false, other = known->kind;
    for (size_t i = 0; i < folder->n && !other; i++)
        other = fbp_has_extension(folder->series[i].path, ".json") &&
                fbp_init_is_whole_scan(&folder->series[i], g->found.of[FBP_INIT_PROJECTIONS]);
    for (size_t i = 0; i < folder->n && !other && !planes; i++)
        planes = from_spectrometer(g, &folder->series[i]);
    planes = planes || (!other && from_array(g));
    if (!planes && !fbp_init_now->lost_memory)
        st = check_need(g);
    if (!planes && st == FBP_OK && !fbp_init_now->lost_memory) {
        const struct fbp_init_series *p = g->found.of[FBP_INIT_PROJECTIONS];
        find_geometry(g);
        char *pattern = fbp_init_pattern(p);
        say(g, FOUND, "projections", "%zu views of %zu x %zu pixels, %s", p->info.n[2],
            p->info.n[0], p->info.n[1], fbp_type_name(p->info.type));
        put_path(g, "projections", pattern);
        free(pattern);
        if (known->sinograms)
            cJSON_AddTrueToObject(g->root, "sinograms");
        if (p->order.gaps[0])
            fbp_init_log(FBP_LOG_WARNING, "%s: %s", p->glob, p->order.gaps);
        put_intensity(g);
        put_geometry(g);
    }
    if (!g->assumed || !g->assumed->child)
        cJSON_DeleteItemFromObject(g->root, "assumed");
    if (st == FBP_OK && fbp_init_now->unread[0])
        st = fbp_fail(FBP_ERR_IO, "%s; make it readable, or move it away", fbp_init_now->unread);
    if (st == FBP_OK)
        fbp_message_clear();
    if (st == FBP_OK && fbp_init_now->lost_memory)
        st = fbp_fail(FBP_ERR_NOMEM,
                      "%s: not enough memory to inspect the whole folder; close other programs",
                      folder->path);
    for (size_t i = 0; st == FBP_OK && !planes && i < folder->n; i++) { /* log unused arrays */
        const struct fbp_init_series *s = &folder->series[i];
        const bool slices = fbp_init_role_of(folder, s) == FBP_INIT_VOLUME;
        bool used = false;
        for (int k = 0; k < FBP_INIT_ROLES; k++)
            used = used || g->found.of[k] == s;
        if (s->missing)
            fbp_init_log(FBP_LOG_NOTE, "%s: %zu files after a gap in the numbers are ignored",
                         s->path, s->missing);
        if (!used && s->volume)
            fbp_init_log(FBP_LOG_NOTE, "%s: ignored, because it is a volume", s->path);
        else if (!used && s->info.n[2] > 0)
            fbp_init_log(FBP_LOG_NOTE, "%s: %zu x %zu x %zu, %signored", s->path, s->info.n[0],
                         s->info.n[1], s->info.n[2], slices ? "by its name a volume, " : "");
    }
    *out = st == FBP_OK ? g->root : NULL;
    if (st != FBP_OK)
        cJSON_Delete(g->root);
    return st;
}
