/* The section of the --report page with the decisions of the plan and the reason of each: an
 * option, the scan, or a default. Called by recon_report.c and report_failed.c. */
#include "recon_report.h"

#include "base/text.h"
#include "geometry/kind.h"

#include <math.h>
#include <string.h>

enum { WHY = 600 };

/* Append what makes the kernel fast, one phrase per part of its name. */
static void say_kernel(char *why, const char *name)
{
    static const struct {
        const char *word, *text;
    } parts[] = {
        {"rot90", "voxels a quarter of a turn apart share an interpolation"},
        {"rot180", "voxels half a turn apart share an interpolation"},
        {"column", "the detector column of a voxel does not depend on z"},
        {"planes", "backprojects plane integrals in cubes of voxels"},
        {"matrix", "uses a 3x4 matrix per view, for every geometry"},
    };
    size_t n = strlen(why);

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i].word) && n < WHY)
            n += (size_t)snprintf(why + n, WHY - n, "; %s: %s", parts[i].word, parts[i].text);
}

static void why_device(char *why, const struct recon_args *a, const struct fbp_plan_summary *p)
{
    const bool given = a->p.device && strcmp(a->p.device, "auto") != 0;

    snprintf(why, WHY, "device: %s; kernel: %s%s", given ? "--device" : "the best usable one",
             a->p.tuning.kernel ? "--kernel" : "the fastest for this scan and volume",
             a->p.n_threads ? "; --threads" : "");
    say_kernel(why, p->kernel);
}

static void why_volume(char *why, const struct recon_args *a, const struct fbp_plan_summary *p)
{
    const bool size = a->size[0] > 0, voxel = a->voxel[0] > 0;

    (void)p;
    snprintf(why, WHY, "size: %s; voxels: %s; centre: %s",
             size              ? "--size"
             : a->scans_volume ? "the scan's"
                               : "covers the field of view",
             voxel             ? "--voxel"
             : size            ? "chosen to keep the extent"
             : a->scans_volume ? "the scan's"
                               : "the pixel size, scaled to the axis",
             isnan(a->volume_centre[0]) ? "the scan's" : "--volume-centre");
}

static void why_weights(char *why, const struct recon_args *a, const struct fbp_plan_summary *p)
{
    const struct fbp_geometry_facts *f = p->facts;
    size_t n = 0;

    if (fbp_kind_has_lines(a->kind))
        n = (size_t)snprintf(why, WHY, "the views cover %.6g degrees, of %.6g that are needed%s; ",
                             cli_degrees(f->arc_rad), cli_degrees(f->needed_rad),
                             f->offset ? ", with an offset panel" : "");
    snprintf(why + n, WHY - n, "window %s%s",
             a->p.filter ? "by --filter" : "ram-lak, because no --filter was given",
             a->p.cutoff > 0 ? ", cut off by --cutoff" : "");
}

static void why_filter(char *why, const struct recon_args *a, const struct fbp_plan_summary *p)
{
    snprintf(why, WHY, "%s",
             p->filtered ? "the scan file states that the views are already filtered"
             : p->fft_length
                 ? "rows are padded with zeros, so that the convolution does not wrap around"
             : a->p.filtering.half_width ? "--half-width"
             : a->p.filtering.spatial    ? "--spatial"
                                         : "the device's own choice");
}

static void why_slabs(char *why, const struct recon_args *a, const struct fbp_plan_summary *p)
{
    snprintf(why, WHY, "%s",
             a->p.tuning.slab_slices ? "--slab"
             : p->n_slabs > 1 ? "limited by the memory of the host or the device; does not change "
                                "any bit of the result"
                              : "the whole volume fits into memory");
}

static void why_batches(char *why, const struct recon_args *a, const struct fbp_plan_summary *p)
{
    (void)p;
    snprintf(why, WHY, "%s",
             a->p.tuning.batch_views ? "--batch"
             : a->p.input.follow     ? "--follow"
                                     : "read, filtered and backprojected at the same time");
}

static void why_memory(char *why, const struct recon_args *a, const struct fbp_plan_summary *p)
{
    char peak[24];

    (void)p;
    snprintf(why, WHY, "limit: %s; greatest so far: %s",
             a->p.memory_bytes ? "--memory" : "80 % of the free memory",
             fbp_bytes_text(peak, sizeof peak, cli_peak_bytes()));
}

static void why_box(char *why, const struct recon_args *a, const struct fbp_plan_summary *p)
{
    (void)p;
    snprintf(why, WHY, "%s", a->roi[0].given ? "--roi" : "--slice");
}

static void why_region(char *why, const struct recon_args *a, const struct fbp_plan_summary *p)
{
    (void)p;
    snprintf(why, WHY, "--region %s", a->p.region.shape ? a->p.region.shape : "");
}

static void why_prepared(char *why, const struct recon_args *a, const struct fbp_plan_summary *p)
{
    const bool given[] = {a->prepare != NULL, a->rings != NULL,
                          !isnan(a->correct.beam_hardening[0]), !isnan(a->paganin[0])};
    static const char *const options[] = {"--prepare", "--rings", "--beam-hardening", "--paganin"};
    size_t n = 0;

    (void)p;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (given[i])
            n += (size_t)snprintf(why + n, WHY - n, "%s, ", options[i]);
    snprintf(why + n, WHY - n, "%s", n ? "or from the scan file" : "the scan's");
}

static void why_views(char *why, const struct recon_args *a, const struct fbp_plan_summary *p)
{
    snprintf(why, WHY, "%s%s", p->scratch_bytes ? "--scratch, and saves time" : "",
             a->p.epr.stages == 2 ? "--stages 2" : "");
}

/* The reason of a line of a plan; "": the line follows from other lines. */
static void find_why(char why[WHY], const char *name, const struct recon_args *a,
                     const struct fbp_plan_summary *p)
{
    static const struct {
        const char *name;
        void (*say)(char *why, const struct recon_args *a, const struct fbp_plan_summary *p);
    } reasons[] = {{"volume", why_volume},     {"of", why_box},          {"region", why_region},
                   {"prepared", why_prepared}, {"weights", why_weights}, {"filter", why_filter},
                   {"device", why_device},     {"slabs", why_slabs},     {"batches", why_batches},
                   {"views", why_views},       {"memory", why_memory}};

    why[0] = '\0';
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(name, reasons[i].name) == 0)
            reasons[i].say(why, a, p);
}

static void put_row(struct markup *m, const char *name, const char *text, const char *why)
{
    markup_put(m, "<tr><th scope=\"row\">");
    markup_escaped(m, name);
    markup_put(m, "</th><td>");
    markup_escaped(m, text);
    markup_put(m, "</td><td>");
    markup_escaped(m, why);
    markup_put(m, "</td></tr>\n");
}

/* Rows that are not decisions of the plan: rotation axis and unit of the values. */
static void put_values(struct markup *m, const struct recon_args *a,
                       const struct fbp_plan_summary *p)
{
    char text[160];

    if (a->has_centre) {
        snprintf(text, sizeof text, "column %.6g%s", a->centre.column,
                 a->centre.sure ? "" : ", which is not reliable");
        put_row(m, "axis", text, "--centre auto: opposite views agree best");
    }
    if (a->p.mu_water > 0 && a->water[3] > 0) {
        snprintf(text, sizeof text, "%s, water is %.6g 1/mm, deviation %.3g", p->unit,
                 a->found.mean, a->found.sd);
        put_row(m, "values", text, "--hu-from-roi: the mean value in the sphere");
    } else {
        snprintf(text, sizeof text, "%s", p->unit);
        put_row(m, "values", text,
                a->p.mu_water > 0 ? "--hu" : "from the calibration of the views");
    }
}

void report_chosen(struct markup *m, const struct recon_args *a,
                   const struct fbp_plan_summary *plan)
{
    static struct plan_lines lines;
    char why[WHY];

    markup_put(m, "<section aria-label=\"What was chosen\">\n<h2>Chosen settings, and "
                  "why</h2>\n<table class=\"chosen\"><thead><tr><th></th><th "
                  "scope=\"col\">What</th><th scope=\"col\">Why</th></tr></thead>\n<tbody>\n");
    plan_tell(plan, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        find_why(why, lines.lines[i].name, a, plan);
        put_row(m, lines.lines[i].name, lines.lines[i].text, why);
    }
    put_values(m, a, plan);
    markup_put(m, "</tbody></table>\n</section>\n");
}
