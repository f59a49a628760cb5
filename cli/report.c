/* Writes the HTML page of fbp recon --report (functions report_…()): warnings, viewer of the
 * volume, settings with their reasons, drawings, times, inputs. The page of a failed run contains
 * the error and the facts found before it.
 * Used by: cmd_recon.c. */
#include "report.h"
#include "cli.h"
#include "program.h"
#include "say.h"

#include "commit.h"
#include "fbp/version.h"

#include "array/file/outfile.h"
#include "base/text.h"
#include "geometry/kind.h"
#include "picture/draw.h"
#include "pipeline/plan.h"
#include "scan/file/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 16 << 20, LEAST_PAGE = 256 << 10, DRAWING = 4 << 20 };

/* Append a blank and a word of the command line, quoted for a shell if necessary. */
static void put_word(struct markup *m, const char *word)
{
    const bool plain =
        *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "_-+=./:,@%^")] == '\0';

    markup_put(m, plain ? " " : " '");
    for (size_t n; *word; word += n) {
        n = strcspn(word, "'");
        markup_say(m, "%.*s%s", (int)n, word, word[n] ? "'\\''" : "");
        n += word[n] != '\0';
    }
    markup_put(m, plain ? "" : "'");
}

void report_begin(struct recon_report *report, int argc, char **argv)
{
    *report = (struct recon_report){.argc = argc, .argv = argv, .began = (double)time(NULL)};
    say_remember();
}

int report_draws(struct recon_report *report, const struct recon_args *a, fbp_plan *plan)
{
    const char *slash = strrchr(a->report, '/');
    /* Create a hidden temporary folder beside the report: drawings are written to files first. */
    const int n = snprintf(report->folder, sizeof report->folder, "%.*s.fbp-report-XXXXXX",
                           slash ? (int)(slash - a->report + 1) : 0, a->report);

    if (n < 0 || (size_t)n >= sizeof report->folder || !mkdtemp(report->folder)) {
        report->folder[0] = '\0';
        return cli_error(
            "%s: cannot create a temporary folder beside it: %s; choose another --report",
            a->report,
            (size_t)n >= sizeof report->folder ? "its name is too long" : strerror(errno));
    }
    snprintf(report->timeline, sizeof report->timeline, "%s/timeline.svg", report->folder);
    if (a->timeline)
        snprintf(report->timeline, sizeof report->timeline, "%s", a->timeline);
    fbp_plan_timeline(plan, report->timeline);
    return 0;
}

void report_end(struct recon_report *report)
{
    static const char *const names[] = {"timeline.svg", "geometry.svg"};
    char path[4200];

    for (size_t i = 0; *report->folder && i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", report->folder, names[i]);
        (void)unlink(path);
    }
    if (*report->folder)
        (void)rmdir(report->folder);
    report->folder[0] = '\0';
}

/* Append an image file to a page. If the file is larger than DRAWING or cannot be read, append a
 * line with the reason and the text `otherwise`, which may be empty. */
static void put_file(struct markup *m, const char *path, const char *type, const char *alt,
                     const char *otherwise)
{
    struct stat info;
    char size[24], why[80] = "cannot be read";
    FILE *f = stat(path, &info) == 0 ? fopen(path, "rb") : NULL;
    const size_t n = f ? (size_t)info.st_size : 0;
    char *bytes = f && n <= DRAWING ? malloc(n + 1) : NULL;

    if (bytes && fread(bytes, 1, n, f) == n) {
        markup_put(m, "<div class=\"drawing\">");
        markup_image(m, type, bytes, n, alt);
        markup_put(m, "</div>\n");
    } else {
        if (n > DRAWING)
            snprintf(why, sizeof why, "has %s, which is too large for this page",
                     fbp_bytes_text(size, sizeof size, n));
        markup_printf(m, "<p class=\"facts\">The image %s%s%s.</p>\n", why, *otherwise ? "; " : "",
                      otherwise);
    }
    free(bytes);
    if (f)
        (void)fclose(f);
}

static void put_element(struct markup *m, const char *begin, const char *text, const char *end)
{
    markup_put(m, begin);
    markup_escaped(m, text);
    markup_put(m, end);
}

static void put_item(struct markup *m, const char *text)
{
    put_element(m, "<li>", text, "</li>\n");
}

static void put_list(struct markup *m, const char *class, const cJSON *list)
{
    const cJSON *line;

    if (!list || !list->child)
        return;
    markup_printf(m, "<ul class=\"%s\">\n", class);
    cJSON_ArrayForEach(line, list) put_item(m, line->valuestring);
    markup_put(m, "</ul>\n");
}

static void put_messages(struct markup *m, const struct recon_result *result)
{
    const cJSON *warnings = say_remembered(true), *notes = say_remembered(false);
    char line[300];

    markup_put(m, "<section aria-label=\"Warnings\">\n");
    put_list(m, "warnings", warnings);
    if (!warnings || !warnings->child)
        markup_put(m, "<p class=\"facts\">No warnings.</p>\n");
    put_list(m, "notes", notes);
    if (result && recon_note(result, 0, line, sizeof line)) {
        markup_put(m, "<ul class=\"notes\">\n");
        for (size_t i = 0; recon_note(result, i, line, sizeof line); i++)
            put_item(m, line);
        markup_put(m, "</ul>\n");
    }
    markup_put(m, "</section>\n");
}

/* Append a viewer of the volume, or the picture, or a line why there is neither. */
static int put_volume(struct page *page, const struct recon_args *a,
                      const struct recon_result *result)
{
    char written[4200];
    const size_t share = a->p.memory_bytes / 10;
    const struct page_wish wish = {.volume = {.name = a->output,
                                              .frame = SIZE_MAX,
                                              .bytes = !share || share > PAGE ? PAGE
                                                       : share < LEAST_PAGE   ? LEAST_PAGE
                                                                              : share,
                                              .quiet = a->quiet},
                                   .window = {NAN, NAN}};
    static struct reduced reduced;
    fbp_source *volume;

    if (recon_is_picture(a)) {
        put_file(&page->before, a->output, "image/png", "the slice", "");
        return 0;
    }
    if (!recon_is_file(a->output)) {
        markup_put(&page->before, "<p class=\"facts\">No values were stored, so this page has no "
                                  "slices and no histogram; -o FILE stores them.</p>\n");
        return 0;
    }
    cli_written(written, sizeof written, a->output,
                result->plan->volume.n[2] *
                    (result->plan->time_points > 1 ? result->plan->time_points : 1));
    const fbp_status st = fbp_source_open(&volume, written, NULL);
    /* FBP_ERR_UNSUPPORTED: the output is a raw file, which does not contain its size and type */
    if (st == FBP_ERR_UNSUPPORTED) {
        markup_put(&page->before,
                   "<p class=\"facts\">A file of this format cannot be read without a description, "
                   "so this page has no slices and no histogram.</p>\n");
        return 0;
    }
    if (st != FBP_OK)
        return cli_fail();
    const int rc = page_view(page, volume, &wish, &reduced);
    reduced_clear(&reduced);
    fbp_source_close(&volume);
    return rc;
}

static fbp_status put_geometry(struct markup *m, const struct recon_report *report,
                               const struct fbp_scan *scan, const struct fbp_plan_summary *p)
{
    char path[4200], line[400];

    snprintf(path, sizeof path, "%s/geometry.svg", report->folder);
    FBP_TRY(fbp_geometry_svg(fbp_scan_views(scan), &p->whole, p->facts, path));
    markup_put(m, "<section aria-label=\"Geometry\">\n<h2>Geometry</h2>\n");
    put_file(m, path, "image/svg+xml", "the set-up from above and from the side",
             "fbp geometry show writes this drawing to a separate file");
    if (p->facts->n_angles > 2 && fbp_kind_has_lines(scan->kind)) {
        const double *e = p->facts->method_error;
        markup_printf(
            m,
            "<p class=\"facts\">Errors of the method: the mean of a small ball deviates by "
            "%+.2f %% in the middle, %+.2f %% at the rim, %+.2f %% at the top and %+.2f %% at "
            "the bottom of the volume.</p>\n",
            100 * e[0], 100 * e[1], 100 * e[2], 100 * e[3]);
    }
    for (size_t i = 0; fbp_geometry_remark(p->facts, i, line, sizeof line); i++)
        put_element(m, "<p class=\"facts\">", line, "</p>\n");
    markup_put(m, "</section>\n");
    return FBP_OK;
}

static void put_times(struct markup *m, const struct recon_report *report,
                      const struct fbp_report *r)
{
    const struct cli_number times[] = {{"all", r->total},
                                       {"opening", r->open},
                                       {"reading", r->read},
                                       {"filtering", r->filter},
                                       {"backprojecting", r->backproject},
                                       {"writing", r->write},
                                       {"finishing the file", r->finish},
                                       {"waiting for input", r->waiting_read},
                                       {"waiting for output", r->waiting_write}};
    char t[24];

    markup_put(m, "<section aria-label=\"Times\">\n<h2>Time</h2>\n");
    put_file(m, report->timeline, "image/svg+xml", "when each stage worked",
             "--timeline FILE.svg writes this drawing to a separate file");
    markup_put(m, "<table class=\"card\"><tbody>\n");
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        markup_printf(m, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", times[i].key,
                      cli_seconds(t, sizeof t, times[i].value));
    markup_put(m, "</tbody></table>\n<p class=\"facts\">The stages overlap.</p>\n</section>\n");
}

enum { WHY = 600 };

/* Write to why[WHY] the reason for the choice in line `name` of a plan ("slabs"); "": none. */
static void find_why(char *why, const char *name, const struct recon_args *a,
                     const struct fbp_plan_summary *p)
{
    static const struct {
        const char *word, *text;
    } parts[] = {
        {"rot90", "voxels a quarter of a turn apart share an interpolation"},
        {"rot180", "voxels half a turn apart share an interpolation"},
        {"column", "the detector column of a voxel does not depend on z"},
        {"parallel", "sums of parallel beams are products of matrices, on tensor cores"},
        {"planes", "backprojects plane integrals in cubes of voxels"},
        {"matrix", "uses a 3x4 matrix per view, for every geometry"},
    };
    const struct fbp_geometry_facts *f = p->facts;
    const bool size = a->size[0] > 0;
    char peak[24];
    size_t n = 0;

    why[0] = '\0';
    if (strcmp(name, "device") == 0) {
        const bool given = a->p.device && strcmp(a->p.device, "auto") != 0;
        snprintf(why, WHY, "device: %s; kernel: %s%s", given ? "--device" : "the best usable one",
                 a->p.tuning.kernel ? "--kernel" : "the fastest for this scan and volume",
                 a->p.n_threads ? "; --threads" : "");
        n = strlen(why); /* why the kernel is fast: one phrase for each part of its name */
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (strstr(p->kernel, parts[i].word) && n < WHY)
                n += (size_t)snprintf(why + n, WHY - n, "; %s: %s", parts[i].word, parts[i].text);
    } else if (strcmp(name, "volume") == 0) {
        snprintf(why, WHY, "size: %s; voxels: %s; centre: %s",
                 size              ? "--size"
                 : a->scans_volume ? "the scan's"
                                   : "covers the field of view",
                 a->voxel[0] > 0   ? "--voxel"
                 : size            ? "chosen to keep the extent"
                 : a->scans_volume ? "the scan's"
                                   : "the pixel size, scaled to the axis",
                 isnan(a->volume_centre[0]) ? "the scan's" : "--volume-centre");
    } else if (strcmp(name, "weights") == 0) {
        if (fbp_kind_has_lines(a->kind))
            n = (size_t)snprintf(why, WHY,
                                 "the views cover %.6g degrees, of %.6g that are needed%s; ",
                                 cli_degrees(f->arc_rad), cli_degrees(f->needed_rad),
                                 f->offset ? ", with an offset panel" : "");
        snprintf(why + n, WHY - n, "window %s%s",
                 a->p.filter ? "by --filter" : "ram-lak, because no --filter was given",
                 a->p.cutoff > 0 ? ", cut off by --cutoff" : "");
    } else if (strcmp(name, "filter") == 0) {
        snprintf(why, WHY, "%s",
                 p->filtered ? "the scan file states that the views are already filtered"
                 : p->fft_length
                     ? "rows are padded with zeros, so that the convolution does not wrap around"
                 : a->p.filtering.half_width ? "--half-width"
                 : a->p.filtering.spatial    ? "--spatial"
                                             : "the device's own choice");
    } else if (strcmp(name, "slabs") == 0) {
        snprintf(why, WHY, "%s",
                 a->p.tuning.slab_slices ? "--slab"
                 : p->n_slabs > 1 ? "limited by the memory of the host or the device; does not "
                                    "change any bit of the result"
                                  : "the whole volume fits into memory");
    } else if (strcmp(name, "batches") == 0) {
        snprintf(why, WHY, "%s",
                 a->p.tuning.batch_views ? "--batch"
                 : a->p.input.follow     ? "--follow"
                                         : "read, filtered and backprojected at the same time");
    } else if (strcmp(name, "memory") == 0) {
        snprintf(why, WHY, "limit: %s; greatest so far: %s",
                 a->p.memory_bytes ? "--memory" : "80 % of the free memory",
                 fbp_bytes_text(peak, sizeof peak, cli_peak_bytes()));
    } else if (strcmp(name, "of") == 0) {
        snprintf(why, WHY, "%s", a->roi[0].given ? "--roi" : "--slice");
    } else if (strcmp(name, "region") == 0) {
        snprintf(why, WHY, "--region %s", a->p.region.shape ? a->p.region.shape : "");
    } else if (strcmp(name, "prepared") == 0) {
        const bool beam = !isnan(a->correct.beam_hardening[0]), phase = !isnan(a->paganin[0]);
        const bool zingers = !isnan(a->correct.zingers);
        snprintf(why, WHY, "%s%s%s%s%s%s", a->prepare ? "--prepare, " : "",
                 zingers ? "--zingers, " : "", a->rings ? "--rings, " : "",
                 beam ? "--beam-hardening, " : "", phase ? "--paganin, " : "",
                 a->prepare || zingers || a->rings || beam || phase ? "or from the scan file"
                                                                    : "the scan's");
    } else if (strcmp(name, "views") == 0) {
        snprintf(why, WHY, "%s%s", p->scratch_bytes ? "--scratch, and saves time" : "",
                 a->p.epr.stages == 2 ? "--stages 2" : "");
    }
}

static void put_row(struct markup *m, const char *name, const char *text, const char *why)
{
    put_element(m, "<tr><th scope=\"row\">", name, "</th>");
    put_element(m, "<td>", text, "</td>");
    put_element(m, "<td>", why, "</td></tr>\n");
}

static void put_settings(struct markup *m, const struct recon_args *a,
                         const struct fbp_plan_summary *plan)
{
    static struct plan_lines lines;
    char why[WHY], text[160];

    markup_put(m, "<section aria-label=\"What was chosen\">\n<h2>Chosen settings, and "
                  "why</h2>\n<table class=\"chosen\"><thead><tr><th></th><th "
                  "scope=\"col\">What</th><th scope=\"col\">Why</th></tr></thead>\n<tbody>\n");
    plan_tell(plan, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        find_why(why, lines.lines[i].name, a, plan);
        put_row(m, lines.lines[i].name, lines.lines[i].text, why);
    }
    /* add the rows that plan_tell() does not provide: rotation axis, unit of the values */
    if (a->has_centre) {
        snprintf(text, sizeof text, "column %.6g%s", a->centre.column,
                 a->centre.sure ? "" : ", which is not reliable");
        put_row(m, "axis", text, "--centre auto: opposite views agree best");
    }
    if (a->p.mu_water > 0 && a->water[3] > 0) {
        snprintf(text, sizeof text, "%s, water is %.6g 1/mm, deviation %.3g", plan->unit,
                 a->found.mean, a->found.sd);
        put_row(m, "values", text, "--hu-from-roi: the mean value in the sphere");
    } else {
        put_row(m, "values", plan->unit,
                a->p.mu_water > 0 ? "--hu" : "from the calibration of the views");
    }
    markup_put(m, "</tbody></table>\n</section>\n");
}

static void put_time(char *buf, size_t n, time_t t)
{
    struct tm utc;

    if (!gmtime_r(&t, &utc) || strftime(buf, n, "%Y-%m-%d %H:%M:%S UTC", &utc) == 0)
        snprintf(buf, n, "?");
}

static void put_input(struct markup *m, const char *role, const char *path)
{
    struct stat info;
    char size[24], when[40], file[4096];

    if (!path)
        return;
    /* read the status of the file, or of FILE in "FILE:ARRAY"; a pattern of files has none */
    bool found = stat(path, &info) == 0;
    for (size_t n = strlen(path); !found && n > 0 && n < sizeof file; n--)
        if (path[n - 1] == ':') {
            snprintf(file, sizeof file, "%.*s", (int)n - 1, path);
            found = stat(file, &info) == 0;
        }
    markup_printf(m, "<tr><th scope=\"row\">%s</th>", role);
    put_element(m, "<td>", path, "</td><td>");
    if (!found)
        markup_put(m, "several files");
    else if (S_ISDIR(info.st_mode))
        markup_put(m, "a folder");
    else {
        put_time(when, sizeof when, info.st_mtime);
        markup_printf(m, "%s, of %s", fbp_bytes_text(size, sizeof size, (uint64_t)info.st_size),
                      when);
    }
    markup_put(m, "</td></tr>\n");
}

static void put_inputs(struct markup *m, const struct recon_args *a, const struct fbp_scan *scan)
{
    struct stat info;

    markup_put(m, "<section aria-label=\"Inputs\">\n<h2>Files that were read</h2>\n<table "
                  "class=\"card\"><tbody>\n");
    put_input(m, "scan", a->scan);
    for (size_t i = 0; i < scan->n_files; i++)
        put_input(m, "geometry", scan->files[i]);
    put_input(m, "projections", scan->projections);
    put_input(m, "dark", scan->dark);
    put_input(m, "flat", scan->flat);
    put_input(m, "flat", scan->flat_after);
    put_input(m, "bad pixels", scan->bad_pixels);
    put_input(m, "reference", scan->reference);
    put_input(m, "profile", scan->preparation ? scan->preparation->profile : NULL);
    if (a->p.region.shape && stat(a->p.region.shape, &info) == 0)
        put_input(m, "region", a->p.region.shape);
    put_input(m, "response", a->p.epr.response);
    markup_put(m, "</tbody></table>\n");
    markup_printf(m, "<p class=\"facts\">%s beam: %zu views of %zu x %zu pixels",
                  fbp_kind_name(scan->kind), scan->n_views, scan->panel.n_columns,
                  scan->panel.n_rows);
    const struct fbp_panel *stored = scan->every ? &scan->stored : &scan->panel;
    if (scan->stored_views > 0)
        markup_printf(m, ", from %zu of %zu x %zu", scan->stored_views, stored->n_columns,
                      stored->n_rows);
    markup_put(m, ".</p>\n</section>\n");
}

static void put_device(struct markup *m, const char *name, const char *text, const char *driver)
{
    markup_put(m, "<tr><th scope=\"row\">device</th><td>");
    markup_say(m, "%s: %s%s%s", name, text, *driver ? ", driver " : "", driver);
    markup_put(m, "</td></tr>\n");
}

/* Append the name of the processor, from /proc/cpuinfo, or for a GPU all usable devices of its
 * backend; only then fbp_devices() is called, which starts all drivers. */
static void put_devices(struct markup *m, const struct fbp_plan_summary *p)
{
    enum { MOST = 16 };
    static const char key[] = "model name";
    const char *name = p->backend;

    if (strcmp(name, "cpu") == 0 || strcmp(name, "ref") == 0 || strcmp(name, "mock") == 0) {
        FILE *f = fopen("/proc/cpuinfo", "r");
        char line[300] = "";
        while (f && fgets(line, sizeof line, f) && strncmp(line, key, strlen(key)) != 0)
            line[0] = '\0';
        if (f)
            (void)fclose(f);
        line[strcspn(line, "\n")] = '\0';
        const char *colon = strchr(line, ':');
        if (colon)
            put_device(m, name, colon + 1 + strspn(colon + 1, " "), "");
        return;
    }
    struct fbp_device_info *all = calloc(MOST, sizeof *all);
    if (!all)
        return;
    all[0].struct_size = sizeof *all;
    const size_t n = fbp_devices(all, MOST);
    for (size_t i = 0; i < n && i < MOST; i++)
        if (strncmp(all[i].name, name, strlen(name)) == 0 && !all[i].reason[0])
            put_device(m, all[i].name, all[i].text, all[i].driver);
    free(all);
}

static void put_repeat(struct markup *m, const struct recon_report *report,
                       const struct fbp_plan_summary *plan)
{
    char folder[4096], when[40];
    struct utsname system = {0};

    markup_put(m, "<section aria-label=\"Again\">\n<h2>How to repeat this run</h2>\n<pre>");
    if (getcwd(folder, sizeof folder))
        markup_say(m, "cd %s\n", folder);
    markup_put(m, "fbp recon");
    for (int i = 0; i < report->argc; i++)
        put_word(m, report->argv[i]);
    markup_put(m, "</pre>\n<table class=\"card\"><tbody>\n");
    put_time(when, sizeof when, (time_t)report->began);
    markup_printf(m, "<tr><th scope=\"row\">begun</th><td>%s</td></tr>\n", when);
    markup_put(m, "<tr><th scope=\"row\">program</th><td>");
    markup_say(m, "fbp %s, library %s, commit %s", FBP_VERSION, fbp_version(), FBP_COMMIT);
    markup_put(m, "</td></tr>\n");
    if (uname(&system) == 0) {
        markup_put(m, "<tr><th scope=\"row\">system</th><td>");
        markup_say(m, "%s %s, %s", system.sysname, system.release, system.machine);
        markup_put(m, "</td></tr>\n");
    }
    if (plan)
        put_devices(m, plan);
    markup_put(
        m, "</tbody></table>\n<p class=\"facts\">The same command on the same files gives the same "
           "values, bit for bit, with the same release, kind of device and instruction set; the "
           "numbers of threads and slabs and the memory limits do not matter.</p>\n</section>\n");
}

int report_write(struct recon_report *report, const struct recon_args *a,
                 const struct fbp_scan *scan, const struct recon_result *result)
{
    const struct fbp_report *r = &result->report;
    char title[600], t[24];
    struct page page = {.title = title};

    report->written = true;
    snprintf(title, sizeof title, "Reconstruction of %.500s", a->scan);
    put_messages(&page.before, result);
    markup_put(&page.before, "<p>");
    markup_escaped(&page.before, recon_is_file(a->output) ? a->output : "values");
    if (recon_had_all(a, result))
        markup_say(&page.before, ": nothing remained to be computed");
    else
        markup_say(&page.before, ": from %.5g to %.5g, mean %.5g %s; %s at %.3g GUPS", r->min,
                   r->max, r->mean, result->plan->unit, cli_seconds(t, sizeof t, r->total),
                   r->gups);
    if (strcmp(a->output, "hash:") == 0)
        markup_printf(&page.before, "; hash %016" PRIx64, r->hash);
    markup_put(&page.before, "</p>\n");
    int rc = put_volume(&page, a, result);
    put_settings(&page.after, a, result->plan);
    if (rc == 0 && put_geometry(&page.after, report, scan, result->plan) != FBP_OK)
        rc = cli_fail();
    put_times(&page.after, report, r);
    put_inputs(&page.after, a, scan);
    put_repeat(&page.after, report, result->plan);
    if (rc == 0)
        rc = page_save(&page, a->report);
    page_clear(&page);
    return rc;
}

/* True if there is no such file, or if it is a page of fbp, which may be replaced. */
static bool is_free(const char *path)
{
    static const char mark[] = "<meta name=\"generator\" content=\"fbp ";
    char head[4096] = "";
    struct stat info;

    if (stat(path, &info) != 0)
        return true;
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;
    if (f)
        (void)fclose(f);
    head[n] = '\0';
    return strstr(head, mark) != NULL;
}

void report_failed(struct recon_report *report, const struct recon_args *a,
                   const struct fbp_scan *scan, const struct fbp_plan_summary *plan)
{
    char title[600];
    struct page page = {.title = title};
    struct markup text = {0}, drawing = {0};

    if (report->written || signals_status() != 0 || (!a->loaded && !is_free(a->report)))
        return;
    snprintf(title, sizeof title, "Failed: reconstruction of %.500s", a->scan);
    markup_put(&page.before, "<section aria-label=\"Failure\">\n<h2>This run failed</h2>\n");
    put_element(&page.before, "<p class=\"problem\" role=\"alert\">", say_first_error(), "</p>\n");
    markup_printf(&page.before, "<p class=\"facts\">%s</p>\n</section>\n",
                  report->computed ? "The volume was already complete, and has been kept."
                                   : "This run wrote no volume.");
    put_messages(&page.before, NULL);
    /* Append the sections of the page whose data exist; further errors are ignored. */
    if (plan)
        put_settings(&page.after, a, plan);
    else
        markup_put(&page.after,
                   "<p class=\"facts\">The run failed before any settings were chosen.</p>\n");
    if (plan && *report->folder && put_geometry(&drawing, report, scan, plan) == FBP_OK &&
        drawing.bytes)
        markup_add(&page.after, drawing.bytes, drawing.n);
    markup_clear(&drawing);
    if (scan)
        put_inputs(&page.after, a, scan);
    put_repeat(&page.after, report, plan);
    page_put(&text, &page);
    page_clear(&page);
    /* If saving fails, too, nothing is printed: the run's error was reported. */
    if (!text.failed)
        (void)!fbp_text_save(a->report, text.bytes, true);
    markup_clear(&text);
}
