/* The HTML page of fbp recon --report: viewer, warnings, drawings and times. fbp recon calls the
 * functions; report_chosen.c, report_inputs.c and report_failed.c write sections of the page. */
#include "recon_report.h"

#include "files.h"
#include "say.h"

#include "base/text.h"
#include "geometry/kind.h"
#include "picture/draw.h"
#include "pipeline/plan.h"
#include "scan/file/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 16 << 20, LEAST_PAGE = 256 << 10, DRAWING = 4 << 20 };

/* Append a blank and a word, quoted for a shell if necessary. */
static void add_word(char *out, size_t room, const char *word)
{
    size_t n = strlen(out);
    const bool plain =
        *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "_-+=./:,@%^")] == '\0';

    n += (size_t)snprintf(out + n, room - n, plain ? " %s" : " '", word);
    for (; !plain && *word && n + 8 < room; word++)
        n += (size_t)snprintf(out + n, room - n, *word == '\'' ? "'\\''" : "%c", *word);
    if (!plain && n + 2 < room)
        snprintf(out + n, room - n, "'");
}

void report_begin(struct recon_report *report, int argc, char **argv)
{
    const size_t room = sizeof report->command - 8;

    *report = (struct recon_report){.began = (double)time(NULL)};
    snprintf(report->command, room, "fbp recon");
    for (int i = 0; i < argc; i++) {
        if (strlen(report->command) + 4 * strlen(argv[i]) + 8 > room) {
            snprintf(report->command + strlen(report->command), sizeof " …", " …");
            break;
        }
        add_word(report->command, room, argv[i]);
    }
    say_remember();
}

/* Create a hidden temporary folder beside the report, for drawings, which are written to files. */
static int make_folder(struct recon_report *report, const char *path)
{
    const char *slash = strrchr(path, '/');
    const int n = snprintf(report->folder, sizeof report->folder, "%.*s.fbp-report-XXXXXX",
                           slash ? (int)(slash - path + 1) : 0, path);

    if (n < 0 || (size_t)n >= sizeof report->folder || !mkdtemp(report->folder)) {
        report->folder[0] = '\0';
        return cli_error("%s: cannot create a temporary folder beside it: %s", path,
                         strerror(errno));
    }
    return 0;
}

int report_draws(struct recon_report *report, const struct recon_args *a, fbp_plan *plan)
{
    if (make_folder(report, a->report) != 0)
        return 1;
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

/* Read a whole file of at most `most` bytes. *n: its size. Returns NULL if the file is larger or
 * cannot be read. */
static char *read_file(const char *path, size_t most, size_t *n)
{
    struct stat info;
    FILE *f = stat(path, &info) == 0 ? fopen(path, "rb") : NULL;

    *n = f ? (size_t)info.st_size : 0;
    char *bytes = f && *n <= most ? malloc(*n + 1) : NULL;
    if (bytes && fread(bytes, 1, *n, f) != *n) {
        free(bytes);
        bytes = NULL;
    }
    if (f)
        (void)fclose(f);
    return bytes;
}

/* Embed an image file or, if it is too large, a line with its size and the text `otherwise`. */
static void put_file(struct markup *m, const char *path, const char *type, const char *alt,
                     const char *otherwise)
{
    char size[24];
    size_t n;
    char *bytes = read_file(path, DRAWING, &n);

    if (bytes) {
        markup_put(m, "<div class=\"drawing\">");
        markup_image(m, type, bytes, n, alt);
        markup_put(m, "</div>\n");
    } else {
        markup_printf(m, "<p class=\"facts\">The preview has %s: %s.</p>\n",
                      fbp_bytes_text(size, sizeof size, n), otherwise);
    }
    free(bytes);
}

static void put_list(struct markup *m, const char *class, const cJSON *list)
{
    const cJSON *line;

    if (!list || !list->child)
        return;
    markup_printf(m, "<ul class=\"%s\">\n", class);
    cJSON_ArrayForEach(line, list)
    {
        markup_put(m, "<li>");
        markup_escaped(m, line->valuestring);
        markup_put(m, "</li>\n");
    }
    markup_put(m, "</ul>\n");
}

void report_said(struct markup *m, const struct recon_result *result)
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
        for (size_t i = 0; recon_note(result, i, line, sizeof line); i++) {
            markup_put(m, "<li>");
            markup_escaped(m, line);
            markup_put(m, "</li>\n");
        }
        markup_put(m, "</ul>\n");
    }
    markup_put(m, "</section>\n");
}

static void put_result(struct markup *m, const struct recon_args *a,
                       const struct recon_result *result)
{
    const struct fbp_report *r = &result->report;
    char t[24];

    markup_put(m, "<p>");
    markup_escaped(m, recon_is_file(a->output) ? a->output : "values");
    if (recon_had_all(a, result))
        markup_say(m, ": nothing remained to be computed");
    else
        markup_say(m, ": from %.5g to %.5g, mean %.5g %s; %s at %.3g GUPS", r->min, r->max, r->mean,
                   result->plan->unit, cli_seconds(t, sizeof t, r->total), r->gups);
    if (strcmp(a->output, "hash:") == 0)
        markup_printf(m, "; hash %016" PRIx64, r->hash);
    markup_put(m, "</p>\n");
}

/* Add a viewer of the stored volume, the picture of the slice, or a line about why there is
 * neither. */
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
        put_file(&page->before, a->output, "image/png", "the slice", "too large for this page");
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
    if (st == FBP_ERR_UNSUPPORTED) { /* a file without a header */
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

fbp_status report_geometry(struct markup *m, const struct recon_report *report,
                           const struct fbp_scan *scan, const struct fbp_plan_summary *p)
{
    char path[4200], line[400];

    snprintf(path, sizeof path, "%s/geometry.svg", report->folder);
    const fbp_status st = fbp_geometry_svg(fbp_scan_views(scan), &p->whole, p->facts, path);
    if (st != FBP_OK)
        return st;
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
    for (size_t i = 0; fbp_geometry_remark(p->facts, i, line, sizeof line); i++) {
        markup_put(m, "<p class=\"facts\">");
        markup_escaped(m, line);
        markup_put(m, "</p>\n");
    }
    markup_put(m, "</section>\n");
    return FBP_OK;
}

static void put_seconds(struct markup *m, const char *name, double seconds)
{
    char t[24];

    markup_printf(m, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", name,
                  cli_seconds(t, sizeof t, seconds));
}

static void put_times(struct markup *m, const struct recon_report *report,
                      const struct fbp_report *r)
{
    markup_put(m, "<section aria-label=\"Times\">\n<h2>Time</h2>\n");
    put_file(m, report->timeline, "image/svg+xml", "when each stage worked",
             "--timeline FILE.svg writes this drawing to a separate file");
    markup_put(m, "<table class=\"card\"><tbody>\n");
    put_seconds(m, "all", r->total);
    put_seconds(m, "opening", r->open);
    put_seconds(m, "reading", r->read);
    put_seconds(m, "filtering", r->filter);
    put_seconds(m, "backprojecting", r->backproject);
    put_seconds(m, "writing", r->write);
    put_seconds(m, "finishing the file", r->finish);
    put_seconds(m, "waiting for input", r->waiting_read);
    put_seconds(m, "waiting for output", r->waiting_write);
    markup_put(m, "</tbody></table>\n<p class=\"facts\">The stages overlap.</p>\n</section>\n");
}

int report_write(struct recon_report *report, const struct recon_args *a,
                 const struct fbp_scan *scan, const struct recon_result *result)
{
    char title[600];
    struct page page = {.title = title};

    report->written = true;
    snprintf(title, sizeof title, "Reconstruction of %.500s", a->scan);
    report_said(&page.before, result);
    put_result(&page.before, a, result);
    int rc = put_volume(&page, a, result);
    report_chosen(&page.after, a, result->plan);
    if (rc == 0 && report_geometry(&page.after, report, scan, result->plan) != FBP_OK)
        rc = cli_fail();
    put_times(&page.after, report, &result->report);
    report_inputs(&page.after, a, scan);
    report_again(&page.after, report, result->plan);
    if (rc == 0)
        rc = page_save(&page, a->report);
    page_clear(&page);
    return rc;
}
