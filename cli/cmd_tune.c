/* Command `fbp tune`: serves a page to a browser on this machine, in which three slices follow the
 * geometry, corrections and filter that the user chooses (analysis/preview.h).  The page can save
 * the scan file and start the reconstruction.
 * Used by: commands.c. */
#include "recon.h"
#include "say.h"
#include "serve/slices.h"

#include "analysis/calibrate.h"
#include "analysis/preview.h"
#include "base/math.h"
#include "base/system.h"
#include "scan/adjust.h"
#include "scan/file/scan.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Settings of the page. */
enum {
    COLUMN,
    ROW,
    ROLL,
    PITCH,
    YAW,
    SOD,
    SDD,
    ARC,
    FLIP_U,
    FLIP_V,
    REVERSE,
    FILTER,
    CUTOFF,
    PAD,
    RINGS,
    RING_WIDTH,
    HARDENING,
    PAGANIN,
    KEV,
    DISTANCE,
    N_SETTINGS
};

/* A setting: its control in the page is a slider, a check box (most 1, step 1) or a list. */
struct setting {
    const char *key, *label, *unit, *group;
    double least, most, step, value; /* value: that of the scan file */
    const char *(*name)(size_t);     /* names of the choices 0 to `most`; NULL: a number */
    bool left_out;                   /* the scan has no such property */
};

/* Greatest number of columns, rows and voxels per side of the slices. */
enum { MOST_SAMPLES = 1024 };

/* Longest time of an answer with slices [s]: the answer then has fewer views than the scan. */
static const double answer_seconds = 0.12;

struct tune {
    struct recon_args args;
    const char *save;
    size_t port;
    struct fbp_scan scan; /* as loaded, before reduction */
    struct fbp_grid grid; /* of the slices */
    size_t every, bin;    /* reduction of the views for the slices */
    struct setting settings[N_SETTINGS];
    pthread_mutex_t lock; /* protects the preview */
    fbp_preview *preview;
    double shown[N_SETTINGS]; /* settings of the preview */
    size_t at[3];             /* voxel of the preview */
    double column;            /* column of the axis in the preview, before reduction */
    bool begun;               /* the preview shows something */
    struct markup page;
    /* the run that the page has started */
    pthread_mutex_t run_lock; /* protects `state` and `message` */
    enum { IDLE, RUNNING, FINISHED, FAILED } state;
    char message[1000];
    pthread_t thread;
    atomic_bool stop;
    atomic_uint_fast64_t done, total;
    double run_settings[N_SETTINGS];
    struct volume_server volume;
};

#define T struct tune
static const struct opt table[] = {
    OPT(T, args.scan, .name = "scan", .positional = true, .required = true,
        .help = "scan file, or a folder with one scan file"),
    OPT(T, args.output, .name = "output", .letter = 'o', .arg = "VOLUME", .fallback = "tuned.mha",
        .help = "volume that Run in the page writes"),
    OPT(T, save, .name = "save", .arg = "SCAN.json", .fallback = "tuned.json",
        .help = "scan file that Save in the page writes"),
    OPT(T, port, .name = "port", .arg = "N", .min = 1, .max = 65535, .fallback = "any",
        .help = "port of the address"),
    OPT(T, args.size, .name = "size", .arg = "N|NxMxL", .min = 1, .max = FBP_SIDE_MAX,
        .fallback = "from the scan file", .help = "number of voxels along x, y, z"),
    OPT(T, args.voxel, .name = "voxel", .arg = "MM|XxYxZ", .min = FBP_PITCH_MM_MIN,
        .max = FBP_PITCH_MM_MAX, .fallback = "from the scan file",
        .help = "size of a voxel along x, y, z [mm]"),
    OPT(T, args.bin, .name = "bin", .arg = "N", .min = 1, .max = FBP_SIDE_MAX,
        .fallback = "at most 1024 columns",
        .help = "average blocks of N x N detector pixels for the slices of the page; Run uses all "
                "pixels"),
    OPT(T, args.every, .name = "every", .arg = "N", .min = 1, .max = FBP_VIEWS_MAX,
        .fallback = "as many as fit into memory",
        .help = "use every N-th view for the slices of the page; Run uses all views"),
    OPT(T, args.p.device, .name = "device", .arg = "NAME", .list = fbp_device_name,
        .fallback = "auto",
        .help = "device that computes: auto, cpu ... ('fbp devices' lists all)"),
    OPT(T, args.p.n_threads, .name = "threads", .arg = "N", .min = 0, .max = FBP_THREADS_MAX,
        .fallback = "all cores", .help = "number of threads"),
    OPT_BYTE_COUNT(T, args.p.memory_bytes, .name = "memory", .arg = "BYTES",
                   .fallback = "80% of what is free",
                   .help = "limit for the memory of this process, such as 8G"),
    FORCE_OPTION(T, args.p.output.force),
    OPT(T, args.json, .name = "json", .help = "print the address as a JSON object"),
    OPT(T, args.quiet, .name = "quiet", .letter = 'q', .help = "print only the address and errors"),
};
#undef T

/* ---- Settings ---- */

static const char *ring_method(size_t i)
{
    return fbp_ring_removal_name((enum fbp_ring_removal)i);
}

/* Angle between the first and the last view, sorted by angle [deg]; angles[n_views] in the order of
 * the scan, from the first view on [rad]. */
static fbp_status angles_of(const struct fbp_scan *scan, double axis[3], double *angles,
                            double *arc_deg)
{
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    double *sorted;

    FBP_TRY(fbp_views_facts(fbp_scan_views(scan), NULL, &facts));
    memcpy(axis, facts.axis, sizeof facts.axis);
    FBP_TRY(fbp_calloc((void **)&sorted, scan->n_views, sizeof *sorted, "angles"));
    const fbp_status st = fbp_views_angles(scan, &facts, angles, sorted);
    *arc_deg = (sorted[scan->n_views - 1] - sorted[0]) * 180 / FBP_PI;
    free(sorted);
    return st;
}

/* Describe all settings, with the values of the scan. */
static int find_settings(struct tune *t)
{
    const struct fbp_scan *s = &t->scan;
    const bool source = fbp_kind_has_source(s->kind);
    const double columns = fmax(10, (double)s->panel.n_columns / 8);
    const double rows = fmax(10, (double)s->panel.n_rows / 8);
    double sod = 1, sdd = 1, arc = 0, axis[3];
    double *angles = malloc(s->n_views * sizeof *angles);
    struct fbp_corrections c;

    if (!angles || angles_of(s, axis, angles, &arc) != FBP_OK ||
        fbp_corrections_of(s, &c) != FBP_OK ||
        (source && (fbp_adjust_get(s, FBP_ADJUST_SOD, &sod) != FBP_OK ||
                    fbp_adjust_get(s, FBP_ADJUST_SDD, &sdd) != FBP_OK))) {
        free(angles);
        return angles ? cli_fail() : cli_error("out of memory; close other programs");
    }
    free(angles);
    const double hardening = c.beam_hardening[0] > 0 ? c.beam_hardening[1] : 0;
    const struct setting all[] = {
        [COLUMN] = {"column", "Axis, shift", "columns", "Geometry", -columns, columns, .1},
        [ROW] = {"row", "Panel, vertical shift", "rows", "Geometry", -rows, rows, .1,
                 .left_out = s->panel.n_rows == 1},
        [ROLL] = {"roll", "Roll about the panel's normal", "deg", "Geometry", -5, 5, .02},
        [PITCH] = {"pitch", "Tilt about its rows", "deg", "Geometry", -5, 5, .05,
                   .left_out = !source || s->panel.n_rows == 1},
        [YAW] = {"yaw", "Yaw about its columns", "deg", "Geometry", -5, 5, .05,
                 .left_out = !source},
        [SOD] = {"sod", "Source to axis", "mm", "Geometry", .8 * sod, 1.25 * sod, sod / 2000, sod,
                 .left_out = !source},
        [SDD] = {"sdd", "Source to panel", "mm", "Geometry", .8 * sdd, 1.25 * sdd, sdd / 2000, sdd,
                 .left_out = !source},
        [ARC] = {"arc", "First to last view", "deg", "Geometry", arc / 2, fmin(2 * arc, 1800), .05,
                 arc},
        [FLIP_U] = {"flip-u", "Columns reversed", "", "Geometry", 0, 1, 1},
        [FLIP_V] = {"flip-v", "Rows reversed", "", "Geometry", 0, 1, 1,
                    .left_out = s->panel.n_rows == 1},
        [REVERSE] = {"reverse", "Rotation reversed", "", "Geometry", 0, 1, 1},
        [FILTER] = {"filter", "Filter", "", "Filter", 0, FBP_FILTER_HANN, 1,
                    .name = fbp_filter_name},
        [CUTOFF] = {"cutoff", "Cut-off", "of Nyquist", "Filter", .05, 1, .01, 1},
        [PAD] = {"pad", "Rows beyond the panel", "", "Filter", 0, 2, 1, .name = fbp_pad_name},
        [RINGS] = {"rings", "Rings", "", "Corrections", 0, FBP_RINGS_FLUCTUATING, 1,
                   (double)c.rings, .name = ring_method},
        [RING_WIDTH] = {"ring-width", "Rings, width (0: default)", "columns", "Corrections", 0, 102,
                        3, (double)c.ring_size},
        [HARDENING] = {"hardening", "Beam hardening, p + a p²", "", "Corrections", -.2, 1, .005,
                       hardening},
        [PAGANIN] = {"paganin", "Phase, delta / beta", "", "Corrections", 0, 2000, 10,
                     c.paganin_delta_beta},
        [KEV] = {"kev", "Phase, energy", "keV", "Corrections", 1, 200, 1,
                 c.paganin_kev > 0 ? c.paganin_kev : 30},
        [DISTANCE] = {"distance", "Phase, object to panel", "mm", "Corrections", 0, 5000, 1,
                      c.paganin_mm, .left_out = source},
    };
    memcpy(t->settings, all, sizeof all);
    return 0;
}

/* Apply settings to a copy of the scan. */
static fbp_status apply(const struct tune *t, const double v[N_SETTINGS], struct fbp_scan *out,
                        struct fbp_recon_params *p)
{
    const struct setting *s = t->settings;
    struct fbp_change change = {{0}};
    struct fbp_corrections c;
    char rings[40];
    double *angles = NULL, axis[3], arc, pitch[2];
    fbp_status st;

    *p = t->args.p;
    p->filter = (enum fbp_filter)v[FILTER];
    p->cutoff = v[CUTOFF];
    p->pad = (enum fbp_pad_kind)v[PAD];
    out->struct_size = sizeof *out;
    FBP_TRY(fbp_scan_copy(out, &t->scan));
    FBP_TRY(fbp_scan_flip(out, (v[FLIP_U] > 0 ? FBP_FLIP_U : 0) | (v[FLIP_V] > 0 ? FBP_FLIP_V : 0) |
                                   (v[REVERSE] > 0 ? FBP_FLIP_DIRECTION : 0)));
    if (fabs(v[SOD] - s[SOD].value) > 0)
        FBP_TRY(fbp_adjust_set(out, FBP_ADJUST_SOD, v[SOD]));
    FBP_TRY(fbp_calloc((void **)&angles, out->n_views, sizeof *angles, "angles"));
    FBP_TRY_GOTO(angles_of(out, axis, angles, &arc));
    for (int i = 0; i < 2; i++)
        pitch[i] = fbp_norm(i == 0 ? out->views[0].u : out->views[0].v);
    /* a shift of the panel moves the axis to the other side */
    change.p[FBP_CALIBRATED_COLUMN] = -v[COLUMN] * pitch[0];
    change.p[FBP_CALIBRATED_ROW] = -v[ROW] * pitch[1];
    change.p[FBP_CALIBRATED_ROLL] = v[ROLL] * FBP_PI / 180;
    change.p[FBP_CALIBRATED_PITCH] = v[PITCH] * FBP_PI / 180;
    change.p[FBP_CALIBRATED_YAW] = v[YAW] * FBP_PI / 180;
    change.p[FBP_CALIBRATED_SDD] = v[SDD] / s[SDD].value - 1;
    change.p[FBP_CALIBRATED_ARC] = v[ARC] / s[ARC].value - 1;
    if (s[SDD].left_out)
        change.p[FBP_CALIBRATED_SDD] = 0;
    bool changes = false;
    for (int i = 0; i < FBP_CALIBRATED_COUNT; i++)
        changes |= fabs(change.p[i]) > 0;
    if (changes)
        fbp_views_change(out->views, out->views, out->n_views, out->kind, axis, angles, &change);

    FBP_TRY_GOTO(fbp_corrections_of(out, &c));
    if (fabs(v[HARDENING] - s[HARDENING].value) > 0) {
        memset(c.beam_hardening, 0, sizeof c.beam_hardening);
        c.beam_hardening[0] = 1;
        c.beam_hardening[1] = v[HARDENING];
    }
    if (fabs(v[RINGS] - s[RINGS].value) > 0 || fabs(v[RING_WIDTH] - s[RING_WIDTH].value) > 0) {
        const char *method = ring_method((size_t)v[RINGS]);
        const bool wide = v[RINGS] > 0 && strcmp(method, "wavelet") != 0 && v[RING_WIDTH] > 0;
        snprintf(rings, sizeof rings, wide ? "%s:%.0f" : "%s", method, v[RING_WIDTH]);
        FBP_TRY_GOTO(fbp_corrections_rings(&c, rings));
    }
    if (v[PAGANIN] > 0 || s[PAGANIN].value > 0) {
        c.paganin_delta_beta = v[PAGANIN];
        c.paganin_kev = v[KEV];
        c.paganin_mm = v[DISTANCE];
    }
    FBP_TRY_GOTO(fbp_scan_correct(out, &c));
fail:
    free(angles);
    return st;
}

/* Read the settings KEY=NUMBER from a query; settings that it does not contain keep the values of
 * the scan file. False: a value is no number in the range of its setting. */
static bool read_settings(const struct tune *t, const char *query, double v[N_SETTINGS])
{
    char key[24];

    for (int i = 0; i < N_SETTINGS; i++)
        v[i] = t->settings[i].value;
    for (const char *at = query; *at; at += strcspn(at, "&"), at += *at == '&') {
        const size_t n = strcspn(at, "=&");
        if (at[n] != '=' || n >= sizeof key)
            return false;
        memcpy(key, at, n);
        key[n] = '\0';
        for (int i = 0; i < N_SETTINGS; i++) {
            const struct setting *s = &t->settings[i];
            char *end;
            if (strcmp(key, s->key) != 0)
                continue;
            v[i] = strtod(at + n + 1, &end);
            /* a slider may round its ends */
            if (end == at + n + 1 || (*end && *end != '&') || s->left_out ||
                !(v[i] >= s->least - 1e-6 * fabs(s->least) &&
                  v[i] <= s->most + 1e-6 * fabs(s->most)))
                return false;
        }
    }
    return true;
}

/* ---- Slices ---- */

/* Store n values from `least` on as integers of 16 bits, value = least + integer * step: a browser
 * draws 256 grey values, and half the bytes take half the time. */
static void pack(const float *values, size_t n, float least, float step, uint16_t *out)
{
    const float scale = step > 0 ? 1 / step : 0;

    for (size_t i = 0; i < n; i++) /* the integer is positive and below 65536 */
        out[i] = (uint16_t)(int)((values[i] - least) * scale + 0.5f);
}

/* Compose the answer: 4 bytes length of the JSON text, the text, and three slices as uint16. */
static fbp_status compose(struct tune *t, double begin, struct answer *out)
{
    struct fbp_preview_state s;
    const size_t *n = t->grid.n;
    const size_t voxels[] = {n[0] * n[1], n[0] * n[2], n[1] * n[2]};
    const size_t head = 400, bytes = head + (voxels[0] + voxels[1] + voxels[2]) * sizeof(uint16_t);
    char *text = malloc(bytes);
    float range[3][2], step[3];

    if (!text)
        return fbp_fail_nomem(bytes, "slices");
    *out = (struct answer){.status = 200,
                           .type = "application/octet-stream",
                           .bytes = text,
                           .n = bytes,
                           .release = answer_free,
                           .user = text};
    uint16_t *at = (uint16_t *)(void *)(text + head);
    for (int i = 0; i < 3; at += voxels[i++]) {
        const float *values;
        FBP_TRY(fbp_preview_slice(t->preview, i, &values, range[i]));
        step[i] = (range[i][1] - range[i][0]) / 65535;
        pack(values, voxels[i], range[i][0], step[i], at);
    }
    fbp_preview_state(t->preview, &s);
    size_t views = s.done[0];
    for (int i = 1; i < 3; i++)
        views = s.done[i] < views ? s.done[i] : views;
    memset(text, ' ', head);
    const uint32_t length = (uint32_t)head - 4;
    memcpy(text, &length, 4);
    const int used = snprintf(
        text + 4, length,
        "{\"views\":%zu,\"all\":%zu,\"read\":%s,\"filtered\":%s,\"column\":%.9g,\"ms\":%.1f,"
        "\"least\":[%.9g,%.9g,%.9g],\"step\":[%.9g,%.9g,%.9g]}",
        views, s.n_views, s.has_read ? "true" : "false", s.has_filtered ? "true" : "false",
        t->column, 1e3 * (fbp_seconds() - begin), (double)range[0][0], (double)range[1][0],
        (double)range[2][0], (double)step[0], (double)step[1], (double)step[2]);
    text[4 + used] = ' '; /* instead of the final 0 */
    return FBP_OK;
}

/* Show settings v at voxel at[]: as many views as the time of an answer permits. */
static fbp_status show(struct tune *t, const double v[N_SETTINGS], const size_t at[3],
                       struct answer *out)
{
    const double begin = fbp_seconds();
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_recon_params p;
    double last = 0;
    bool more = true;
    fbp_status st;

    if (!t->begun || memcmp(t->shown, v, sizeof t->shown) != 0 ||
        memcmp(t->at, at, sizeof t->at) != 0) {
        FBP_TRY_GOTO(apply(t, v, &scan, &p));
        FBP_TRY_GOTO(fbp_adjust_get(&scan, FBP_ADJUST_CENTRE, &t->column));
        FBP_TRY_GOTO(fbp_scan_reduce(&scan, t->every, t->bin));
        scan.volume = t->grid;
        t->begun = false;
        FBP_TRY_GOTO(fbp_preview_set(t->preview, &scan, &p, at));
        memcpy(t->shown, v, sizeof t->shown);
        memcpy(t->at, at, sizeof t->at);
        t->begun = true;
    }
    for (double now = fbp_seconds(), next; more; now = next) {
        FBP_TRY_GOTO(fbp_preview_step(t->preview, &more));
        next = fbp_seconds();
        last = next - now;
        if (next - begin + last > answer_seconds)
            break;
    }
    st = compose(t, begin, out);
fail:
    fbp_scan_clear(&scan);
    return st;
}

/* ---- Save, and run ---- */

/* Write the command that repeats a reconstruction with these settings. */
static void command_of(const struct tune *t, const double v[N_SETTINGS], char *out, size_t n)
{
    snprintf(out, n, "fbp recon %s -o %s", t->save, t->args.output);
    if (v[FILTER] > 0)
        fbp_text_add(out, n, " ", "--filter %s", fbp_filter_name((size_t)v[FILTER]));
    if (v[CUTOFF] < 1)
        fbp_text_add(out, n, " ", "--cutoff %.4g", v[CUTOFF]);
    if (v[PAD] > 0)
        fbp_text_add(out, n, " ", "--pad %s", fbp_pad_name((size_t)v[PAD]));
}

static fbp_status save(const struct tune *t, const double v[N_SETTINGS], struct answer *out)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_recon_params p;
    char command[300];
    fbp_status st;

    FBP_TRY_GOTO(apply(t, v, &scan, &p));
    if (geometry_save(&scan, t->save) != 0)
        FBP_TRY_GOTO(
            fbp_fail(FBP_ERR_IO, "%s: the file was not written; the terminal shows why", t->save));
    command_of(t, v, command, sizeof command);
    answer_text(out, 200, "%s\n%s\n", t->save, command);
fail:
    fbp_scan_clear(&scan);
    return st;
}

static int run_progress(void *user, const struct fbp_progress *p)
{
    struct tune *t = user;

    atomic_store(&t->done, p->done);
    atomic_store(&t->total, p->total);
    return atomic_load(&t->stop);
}

static void *reconstruct(void *user)
{
    struct tune *t = user;
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_report report = {.struct_size = sizeof report};
    struct page_wish wish = {.volume = {.name = t->args.output,
                                        .frame = SIZE_MAX,
                                        .bytes = (16 << 20) - (96 << 10),
                                        .quiet = true},
                             .window = {NAN, NAN}};
    struct fbp_recon_params p;
    fbp_plan *plan = NULL;
    bool opened = true;
    fbp_status st;

    FBP_TRY_GOTO(apply(t, t->run_settings, &scan, &p));
    FBP_TRY_GOTO(recon_grid(&t->args, &scan, &scan.volume) == 0 ? FBP_OK : FBP_ERR_INVALID);
    p.callbacks.progress = run_progress;
    p.callbacks.user = t;
    FBP_TRY_GOTO(fbp_plan_create(&plan, &scan, &p));
    FBP_TRY_GOTO(fbp_plan_run(plan, t->args.output, &report));
    opened = volume_server_open(&t->volume, t->args.output, "fbp tune", &wish) == 0;
fail:
    pthread_mutex_lock(&t->run_lock);
    t->state = st == FBP_OK && opened ? FINISHED : FAILED;
    if (st == FBP_ERR_CANCELLED)
        snprintf(t->message, sizeof t->message, "stopped: %s was not written", t->args.output);
    else if (st == FBP_OK)
        snprintf(t->message, sizeof t->message, "%s: %.2f s", t->args.output, report.total);
    else
        snprintf(t->message, sizeof t->message, "%s", fbp_message());
    pthread_mutex_unlock(&t->run_lock);
    fbp_plan_destroy(&plan);
    fbp_scan_clear(&scan);
    return NULL;
}

/* Wait for the end of a run, if one was started. */
static void end_run(struct tune *t)
{
    if (t->state == IDLE)
        return;
    pthread_join(t->thread, NULL);
    volume_server_close(&t->volume);
    t->state = IDLE;
}

static void start_run(struct tune *t, const double v[N_SETTINGS], struct answer *out)
{
    pthread_mutex_lock(&t->run_lock);
    const bool runs = t->state == RUNNING;
    if (!runs) {
        end_run(t);
        memcpy(t->run_settings, v, sizeof t->run_settings);
        atomic_store(&t->stop, false);
        atomic_store(&t->done, 0);
        atomic_store(&t->total, 1);
        if (pthread_create(&t->thread, NULL, reconstruct, t) == 0)
            t->state = RUNNING;
    }
    if (runs || t->state != RUNNING)
        answer_text(out, 500,
                    runs ? "a run is in progress; stop it first\n"
                         : "no thread could be started; close other programs\n");
    else
        answer_text(out, 200, "%s\n", t->args.output);
    pthread_mutex_unlock(&t->run_lock);
}

static void tell_progress(struct tune *t, struct answer *out)
{
    static const char *const names[] = {"idle", "running", "finished", "failed"};

    pthread_mutex_lock(&t->run_lock);
    answer_text(out, 200, "%s %.4f\n%s", names[t->state],
                (double)atomic_load(&t->done) / fmax(1, (double)atomic_load(&t->total)),
                t->state > RUNNING ? t->message : "");
    pthread_mutex_unlock(&t->run_lock);
}

/* Answer a request; server.c calls this function from several threads. */
static void answer(void *user, const struct http_request *request, struct answer *out)
{
    struct tune *t = user;
    const char *query = request->query, *path = request->path;
    double v[N_SETTINGS];
    size_t at[3] = {0};
    fbp_status st = FBP_OK;

    fbp_message_clear();
    if (!*path) {
        *out = (struct answer){.status = 200,
                               .type = "text/html; charset=utf-8",
                               .bytes = t->page.bytes,
                               .n = t->page.n};
    } else if (strcmp(path, "progress") == 0) {
        tell_progress(t, out);
    } else if (strcmp(path, "stop") == 0) {
        atomic_store(&t->stop, true);
        answer_text(out, 200, "stopping\n");
    } else if (strncmp(path, "view/", 5) == 0) {
        pthread_mutex_lock(&t->run_lock);
        if (t->state == FINISHED)
            volume_server_answer(&t->volume, path + 5, query, out);
        else
            answer_text(out, 404, "There is no volume: start the reconstruction first.\n");
        pthread_mutex_unlock(&t->run_lock);
    } else if (strcmp(path, "slices") != 0 && strcmp(path, "save") != 0 &&
               strcmp(path, "run") != 0) {
        answer_text(out, 404, "No such page.\n");
    } else if ((strcmp(path, "slices") == 0 &&
                (!http_number(query, "x", t->grid.n[0] - 1, &at[0]) ||
                 !http_number(query, "y", t->grid.n[1] - 1, &at[1]) ||
                 !http_number(query, "z", t->grid.n[2] - 1, &at[2]))) ||
               !read_settings(t, query, v)) {
        answer_text(out, 400, "Expected settings KEY=NUMBER, each in its range.\n");
    } else if (strcmp(path, "run") == 0) {
        start_run(t, v, out);
    } else {
        pthread_mutex_lock(&t->lock);
        st = strcmp(path, "save") == 0 ? save(t, v, out) : show(t, v, at, out);
        pthread_mutex_unlock(&t->lock);
    }
    if (st != FBP_OK) {
        if (out->release)
            out->release(out);
        answer_text(out, 500, "%s\n", fbp_message());
    }
}

/* ---- The command ---- */

/* Choose the slices' grid, and reduce views to at most MOST_SAMPLES columns that fit memory. */
static int choose_sizes(struct tune *t)
{
    const uint64_t room = t->args.p.memory_bytes ? t->args.p.memory_bytes
                                                 : (uint64_t)(0.7 * (double)fbp_available_bytes());
    const struct fbp_panel *panel = &t->scan.panel;
    struct fbp_grid *g = &t->grid;

    t->bin = t->args.bin ? t->args.bin : 1;
    t->every = t->args.every ? t->args.every : 1;
    while (!t->args.bin && panel->n_columns / t->bin > MOST_SAMPLES)
        t->bin++;
    for (;;) {
        struct fbp_scan few = t->scan;
        few.panel.n_columns /= t->bin;
        few.panel.n_rows = (few.panel.n_rows + t->bin - 1) / t->bin;
        few.n_views /= t->every;
        if (fbp_preview_bytes(&few) <= room)
            break;
        if (few.n_views < 16 || few.panel.n_columns < 16)
            return cli_error("--memory: %zu bytes are too few for the slices of this scan; raise "
                             "the limit",
                             (size_t)room);
        if (!t->args.bin && few.panel.n_columns > MOST_SAMPLES / 2)
            t->bin++;
        else
            t->every++;
    }
    if (recon_grid(&t->args, &t->scan, g) != 0)
        return 1;
    for (int i = 0; i < 3; i++) {
        const size_t k = (g->n[i] + MOST_SAMPLES - 1) / MOST_SAMPLES;
        g->voxel_mm[i] *= (double)k;
        g->n[i] = (g->n[i] + k - 1) / k;
    }
    return 0;
}

/* Describe settings and slices as a JSON object for the scripts of the page. */
static cJSON *describe(const struct tune *t)
{
    cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "settings");
    double origin[3];
    size_t middle[3];

    for (int i = 0; i < 3; i++) {
        origin[i] = fbp_grid_coordinate(&t->grid, i, 0);
        middle[i] = t->grid.n[i] / 2;
    }
    cli_json_sizes(root, "size", t->grid.n, 3);
    cli_json_sizes(root, "bins", t->grid.n, 3);
    cli_json_sizes(root, "start", middle, 3);
    cli_json_numbers(root, "mm", t->grid.voxel_mm, 3);
    cli_json_numbers(root, "origin", origin, 3);
    cJSON_AddBoolToObject(root, "has_mm", true);
    for (int i = 0; i < N_SETTINGS; i++) {
        const struct setting *s = &t->settings[i];
        cJSON *o = s->left_out ? NULL : cJSON_CreateObject();
        if (!o)
            continue;
        cJSON_AddStringToObject(o, "key", s->key);
        cJSON_AddStringToObject(o, "label", s->label);
        cJSON_AddStringToObject(o, "unit", s->unit);
        cJSON_AddStringToObject(o, "group", s->group);
        cli_json_add(o, {"least", s->least}, {"most", s->most}, {"step", s->step},
                     {"value", s->value});
        cJSON *names = s->name ? cJSON_AddArrayToObject(o, "names") : NULL;
        for (size_t k = 0; names && k <= (size_t)s->most; k++)
            cJSON_AddItemToArray(names, cJSON_CreateString(s->name(k)));
        cJSON_AddItemToArray(list, o);
    }
    return root;
}

static int make_page(struct tune *t)
{
    struct page page = {.title = t->args.scan, .server = "fbp tune", .script = "tune.js"};
    struct markup facts = {0}, meta = {0}, save = {0}, volume = {0};
    const struct page_slot slots[] = {
        {"facts", &facts}, {"save", &save}, {"volume", &volume}, {"meta", &meta}, {0}};
    struct fbp_preview_state state;
    char grid[100];

    fbp_preview_state(t->preview, &state);
    markup_say(&facts, "%zu views of %zu x %zu pixels; slices of %s, computed by %s",
               t->scan.n_views, t->scan.panel.n_columns, t->scan.panel.n_rows,
               cli_grid(grid, sizeof grid, &t->grid), state.device);
    if (t->every > 1 || t->bin > 1)
        markup_say(&facts, ", from every view of %zu, binned %zu x %zu; Run uses all views",
                   t->every, t->bin, t->bin);
    markup_escaped(&save, t->save);
    markup_escaped(&volume, t->args.output);
    markup_json(&meta, describe(t));
    page_fill(&page.viewer, page_text_of("tune.html")->text, slots);
    page_put(&t->page, &page);
    page_clear(&page);
    markup_clear(&facts);
    markup_clear(&save);
    markup_clear(&volume);
    markup_clear(&meta);
    return t->page.failed ? cli_error("out of memory for the page; close other programs") : 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    static struct tune t;
    struct server server = {.socket = -1, .answer = answer, .user = &t};
    struct markup policy = {0};
    fbp_source *views = NULL;
    char *kept = NULL;

    t.args = (struct recon_args){RECON_ARGS, .p = *fbp_recon_params()};
    int rc = opt_parse(self, &t, argc, argv);
    if (rc != OPT_GO_ON)
        return rc;
    t.args.output = t.args.output ? t.args.output : "tuned.mha";
    t.save = t.save ? t.save : "tuned.json";
    if (!cli_ends_with(t.save, ".json"))
        return opt_usage(self, "--save: expected a name that ends in .json, got \"%s\"", t.save);
    recon_complete(&t.args);
    pthread_mutex_init(&t.lock, NULL);
    pthread_mutex_init(&t.run_lock, NULL);
    t.scan.struct_size = sizeof t.scan;
    rc = server_open(&server, (unsigned)t.port);
    if (rc == 0)
        rc = recon_name_scan(&t.args, &kept);
    if (rc == 0)
        rc = recon_load(&t.args, &t.scan);
    if (rc == 0 && !fbp_kind_has_lines(t.scan.kind))
        rc = cli_error("%s: fbp tune shows scans of line integrals, not of kind %s; use fbp recon",
                       t.args.scan, fbp_kind_name(t.scan.kind));
    if (rc == 0 && t.scan.filtered)
        rc = cli_error("%s: the views are filtered already; name the scan file of the unfiltered "
                       "projections",
                       t.args.scan);
    if (rc == 0)
        rc = cli_check_files(&(struct cli_files){.force = t.args.p.output.force,
                                                 .scan = &t.scan,
                                                 .inputs = {t.args.scan},
                                                 .outputs = {t.save},
                                                 .volume = t.args.output});
    /* an error is printed now, not in the page */
    if (rc == 0 && fbp_source_open(&views, t.scan.projections, &t.scan.raw) != FBP_OK)
        rc = cli_fail();
    fbp_source_close(&views);
    if (rc == 0)
        rc = find_settings(&t);
    if (rc == 0)
        rc = choose_sizes(&t);
    if (rc == 0 && fbp_preview_create(&t.preview, &t.args.p) != FBP_OK)
        rc = cli_fail();
    if (rc == 0)
        rc = make_page(&t);
    page_policy(&policy, true);
    server.policy = policy.bytes;
    if (rc == 0)
        rc = server_run(&server, t.args.quiet, t.args.json);
    atomic_store(&t.stop, true);
    end_run(&t);
    fbp_preview_destroy(&t.preview);
    markup_clear(&t.page);
    markup_clear(&policy);
    server_close(&server);
    fbp_scan_clear(&t.scan);
    free(kept);
    return rc;
}

const struct command cmd_tune = {
    .name = "tune",
    .summary = "tune geometry, corrections and filter in a browser",
    .usage = "SCAN [-o VOLUME] [options]",
    .about = "Prints the address of a page for a browser on this machine. Three slices of the page "
             "follow its controls. Save writes a scan file; Run computes the volume, and shows it. "
             "Filter, cut-off and padding are no properties of a scan: the page shows the command "
             "that applies them.",
    .examples = "  fbp tune scan.json\n"
                "  fbp tune scan.json --save calibrated.json -o volume.mha --size 512\n",
    COMMAND_OPTS(table),
    .run = run,
};
