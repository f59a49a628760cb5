/* Command `fbp calibrate`: determines the geometry of a scan from its views (fbp_calibrate()),
 * prints the values, and writes a scan file with the geometry found.
 * Used by: commands.c. */
#include "geometry.h"
#include "say.h"

#include "fbp/analysis.h"

#include "base/system.h"

#include <math.h>
#include <stdio.h>

struct calibrate_args {
    struct geometry_from from;
    const char *output;
    int threads;
    bool beads, drift, force, json, quiet;
};

#define C struct calibrate_args
static const struct opt table[] = {
    GEOMETRY_FROM_OPTIONS(C),
    OPT(C, output, .name = "output", .letter = 'o', .arg = "SCAN.json",
        .help = "scan file to write, with the geometry found"),
    OPT(C, drift, .name = "drift",
        .help = "also find movement of the panel or of the object between views; CALIBRATED.json "
                "has one detector.offset_mm per view"),
    OPT(C, threads, .name = "threads", .arg = "N", .min = 1, .max = 4096, .fallback = "all cores",
        .help = "number of threads"),
    OPT(C, beads, .name = "beads",
        .help = "the object is a phantom of small dense beads, at unknown positions"),
    FORCE_OPTION(C, force),
    OPT(C, json, .name = "json", .help = "print one JSON object"),
    OPT(C, quiet, .name = "quiet", .letter = 'q', .help = "print only the result and errors"),
};
#undef C

/* Movement between views along rows and columns of the panel [pixels]. */
static const char *const drifts[] = {"drift_u", "drift_v"};

static int print_json(const struct fbp_calibration *c, bool drift, double seconds)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "method", c->method);
    cJSON_AddBoolToObject(root, "reliable", c->reliable);
    if (c->sense_known)
        cJSON_AddBoolToObject(root, "reversed", c->reversed);
    for (int i = 0; i < FBP_CALIBRATED_COUNT; i++) {
        const struct fbp_estimate *v = &c->values[i];
        cJSON *value = cJSON_AddObjectToObject(root, fbp_calibrated_name((enum fbp_calibrated)i));
        cli_json_add(value, {"before", v->before});
        cJSON_AddStringToObject(value, "unit", fbp_calibrated_unit((enum fbp_calibrated)i));
        cJSON_AddBoolToObject(value, "observable", v->observable);
        if (v->observable)
            cli_json_add(value, {"value", v->value}, {"uncertainty", v->uncertainty});
    }
    for (int i = 0; drift && i < 2; i++) {
        const struct fbp_drift *d = &c->drift[i];
        cJSON *one = cJSON_AddObjectToObject(root, drifts[i]);
        cJSON_AddBoolToObject(one, "observable", d->observable);
        if (!d->observable)
            continue;
        cJSON_AddBoolToObject(one, "slow", d->slow);
        cJSON_AddBoolToObject(one, "found", d->found);
        cli_json_add(one, {"range", d->range}, {"uncertainty", d->uncertainty});
    }
    if (isfinite(c->misfit_before))
        cli_json_add(root, {"misfit_before", c->misfit_before});
    cli_json_add(root, {"misfit", c->misfit}, {"seconds", seconds});
    if (c->why[0])
        cJSON_AddStringToObject(root, "why", c->why);
    return cli_json(root, false);
}

/* Format a value with the decimals that its uncertainty leaves. */
static const char *rounded(char buf[32], double value, double uncertainty)
{
    const int decimals = uncertainty > 0 ? (int)fmax(0, 1 - floor(log10(uncertainty))) : 6;

    snprintf(buf, 32, "%.*f", decimals < 9 ? decimals : 9, value);
    return buf;
}

static void print_text(const struct fbp_calibration *c, bool drift, double seconds,
                       const char *output)
{
    const char *before = "unknown  ";

    printf("%-9s %s, %.2g s\n", "method", c->method, seconds);
    for (int i = 0; i < FBP_CALIBRATED_COUNT; i++) {
        const struct fbp_estimate *v = &c->values[i];
        const char *unit = fbp_calibrated_unit((enum fbp_calibrated)i);
        char a[32], b[32];
        if (v->observable)
            printf("%-9s %s +- %.2g %s (%s%s)\n", fbp_calibrated_name((enum fbp_calibrated)i),
                   rounded(a, v->value, v->uncertainty), v->uncertainty, unit,
                   fabs(v->value - v->before) > 0 ? "scan file: " : "as in the scan file",
                   fabs(v->value - v->before) > 0 ? rounded(b, v->before, v->uncertainty) : "");
    }
    for (int i = 0; drift && i < 2; i++) {
        const struct fbp_drift *d = &c->drift[i];
        char a[32];
        if (d->observable && d->found)
            printf("%-9s %s +- %.2g pixels between views%s\n", drifts[i],
                   rounded(a, d->range, d->uncertainty), d->uncertainty,
                   d->slow ? "" : "; slow movement is unknown");
        else
            printf("%-9s %s\n", drifts[i],
                   !d->observable ? "unknown"
                   : d->slow      ? "none"
                                  : "none; slow movement is unknown");
    }
    printf("%-9s %s\n", "rotation",
           !c->sense_known ? "direction not observable: that of the scan file is kept"
           : !c->reversed  ? "as in the scan file, which the views confirm"
           : output        ? "opposite to that of the scan file; the new file has the right one"
                           : "opposite to that of the scan file (--reverse)");
    for (int i = 0; i < FBP_CALIBRATED_COUNT; i++)
        if (!c->values[i].observable) {
            printf("%s %s", before, fbp_calibrated_name((enum fbp_calibrated)i));
            before = ",";
        }
    if (*before == ',')
        printf(": these views do not determine them; the scan file's values are kept\n");
    if (isfinite(c->misfit_before))
        printf("%-9s %.2g %% before, %.2g %% after; noise, rings and bad pixels add to it\n",
               "misfit", 100 * c->misfit_before, 100 * c->misfit);
    if (output)
        printf("%-9s %s; next: fbp recon %s -o volume.mha\n", "written", output, output);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct calibrate_args a = {.from = GEOMETRY_FROM};
    struct fbp_scan scan = {.struct_size = sizeof scan}, found = {.struct_size = sizeof found};
    struct fbp_recon_params params = {.struct_size = sizeof params};
    struct fbp_calibration c = {.struct_size = sizeof c};
    double seconds = 0;

    OPT_TRY(opt_parse(self, &a, argc, argv));
    OPT_TRY(geometry_check_usage(self, &a.from));
    if (a.output && !cli_ends_with(a.output, ".json"))
        return opt_usage(self, "-o: expected a name that ends in .json, got \"%s\"", a.output);
    if (a.beads && a.drift)
        return opt_usage(self, "--drift: excludes --beads; omit one of the two");
    int rc = geometry_load(&a.from, &scan, a.quiet);
    if (rc == 0 && a.output)
        rc = cli_check_files(&(struct cli_files){
            .force = a.force, .scan = &scan, .inputs = {a.from.path}, .outputs = {a.output}});
    if (rc == 0) {
        params.n_threads = a.threads;
        const double begin = fbp_seconds();
        rc = (a.beads   ? fbp_calibrate_beads
              : a.drift ? fbp_calibrate_drift
                        : fbp_calibrate)(&scan, &params, &c, &found) == FBP_OK
                 ? 0
                 : cli_fail();
        seconds = fbp_seconds() - begin;
    }
    if (rc == 0 && a.output)
        rc = geometry_save(&found, a.output);
    if (rc == 0) {
        if (c.why[0])
            say_warning(a.quiet, "%s", c.why);
        if (a.json)
            rc = print_json(&c, a.drift, seconds);
        else
            print_text(&c, a.drift, seconds, a.output);
    }
    fbp_scan_clear(&scan);
    fbp_scan_clear(&found);
    return rc;
}

const struct command cmd_calibrate = {
    .name = "calibrate",
    .summary = "determine the geometry of a scan from its views",
    .usage = "SCAN [-o CALIBRATED.json] [options]",
    .about = "No phantom is needed; a scan of a phantom of beads (--beads) gives smaller "
             "uncertainties. Values are printed with half of their 95 % confidence "
             "interval; values that the views do not determine keep those of the scan file. roll, "
             "pitch and yaw are rotations of the panel about its normal, its rows and its columns, "
             "in addition to those of the scan file. The distance from source to axis is a matter "
             "of scale, which needs an object of known size.",
    .examples = "  fbp calibrate scan.json -o calibrated.json\n"
                "  fbp calibrate phantom.json --beads -o calibrated.json\n"
                "  fbp calibrate scan.json --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
