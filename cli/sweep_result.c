/* Results of a sweep: contact sheet of all slices, curve of the scores, best value. Called by
 * sweep.c. */
#include "say.h"
#include "sweep_state.h"

#include "analysis/score.h"
#include "picture/draw.h"
#include "scan/adjust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t nearest(const struct sweep *s)
{
    return (size_t)lrint((s->best - s->range->from) / s->range->step);
}

static int write_sheet(const struct sweep *s)
{
    const char *name = fbp_adjust_name(s->range->parameter);
    const struct fbp_grid *g = &s->grid;
    struct fbp_tile *tiles = calloc(s->range->n, sizeof *tiles);
    char(*labels)[64] = calloc(s->range->n, sizeof *labels), title[200];
    struct fbp_sheet_params p = {.n = {s->w, s->h}, .title = title};
    int rc = tiles && labels
                 ? 0
                 : cli_error("out of memory for the contact sheet; close other programs");

    for (size_t i = 0; rc == 0 && i < s->range->n; i++) {
        snprintf(labels[i], sizeof labels[i], "%s %.7g\n%.5g", name, sweep_value(s->range, i),
                 s->scores[i]);
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is no error */
        tiles[i] = (struct fbp_tile){s->pictures + i * s->w * s->h, labels[i], i == nearest(s)};
    }
    snprintf(title, sizeof title, "%s by %s, best %.7g, slice %zu, z = %.5g mm", name,
             sweep_scores[s->args->score], s->best, s->slice,
             fbp_grid_coordinate(g, 2, (double)s->shown));
    if (rc == 0 && fbp_sheet_write(s->args->output, tiles, s->range->n, &p) != FBP_OK)
        rc = cli_fail();
    free(tiles);
    free(labels);
    return rc;
}

static int write_curve(const struct sweep *s, const double *x)
{
    char title[200], x_name[60];
    const struct fbp_curve c = {.title = title,
                                .x_name = x_name,
                                .y_name = sweep_scores[s->args->score],
                                .x = x,
                                .y = s->scores,
                                .n = s->range->n,
                                .best = s->best};

    snprintf(x_name, sizeof x_name, "%s [%s]", fbp_adjust_name(s->range->parameter),
             fbp_adjust_unit(s->range->parameter));
    snprintf(title, sizeof title, "%s by %s", fbp_adjust_name(s->range->parameter),
             sweep_scores[s->args->score]);
    return fbp_curve_svg(&c, s->args->curve) == FBP_OK ? 0 : cli_fail();
}

static void print_option(const char *name, double value)
{
    if (!isnan(value))
        printf(" --%s %.7g", name, value);
}

/* Print the best value and the other geometry options, in a form that fbp recon and fbp geometry
 * convert accept. */
static void print_options(const struct sweep *s)
{
    const struct recon_args *a = s->args;

    printf("%s%s%s", a->flip_u ? " --flip-u" : "", a->flip_v ? " --flip-v" : "",
           a->reverse ? " --reverse" : "");
    for (int i = 0; i < FBP_ADJUSTS; i++)
        print_option(fbp_adjust_name((size_t)i),
                     i == (int)s->range->parameter ? s->best : a->adjust[i]);
}

static void say_how(const struct sweep *s)
{
    printf("use it:");
    print_options(s);
    printf("\nto store it: fbp geometry convert %s", say_name(s->args->scan));
    print_options(s);
    puts(" -o FILE.json");
}

/* Difference between best and mean score, as a fraction of the best score. */
static double spread_of(const struct sweep *s)
{
    const double best = s->scores[nearest(s)];
    double sum = 0;

    for (size_t i = 0; i < s->range->n; i++)
        sum += s->scores[i];
    return fabs(best - sum / (double)s->range->n) / fabs(best);
}

static void print_table(const struct sweep *s)
{
    const char *name = fbp_adjust_name(s->range->parameter);
    char head[40], t[24];

    snprintf(head, sizeof head, "%s [%s]", name, fbp_adjust_unit(s->range->parameter));
    printf("%-16s %s\n", head, sweep_scores[s->args->score]);
    for (size_t i = 0; i < s->range->n; i++)
        printf("%-16.7g %.6g%s\n", sweep_value(s->range, i), s->scores[i],
               i == nearest(s) ? "  *" : "");
    printf("best %s: %.7g %s, in slice %zu; %zu slices in %s\n", name, s->best,
           fbp_adjust_unit(s->range->parameter), s->slice, s->range->n * s->grid.n[2],
           cli_seconds(t, sizeof t, s->seconds));
    if (spread_of(s) < 0.002)
        printf("the scores differ by only %.2g %%, so the best value is uncertain; sweep another "
               "slice\n",
               100 * spread_of(s));
    if (s->at_end)
        printf("the best value is at the end of the range; extend the range, because the true "
               "value may lie beyond it\n");
    const size_t rival = fbp_score_rival(s->scores, s->range->n);
    if (rival < s->range->n)
        printf("the score has a second maximum at %.7g, nearly as high; compare the images before "
               "you use the best value\n",
               sweep_value(s->range, rival));
    say_how(s);
}

static int print_json(const struct sweep *s, const double *x)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "parameter", fbp_adjust_name(s->range->parameter));
    cJSON_AddStringToObject(root, "unit", fbp_adjust_unit(s->range->parameter));
    cJSON_AddStringToObject(root, "score", sweep_scores[s->args->score]);
    cli_json_numbers(root, "values", x, s->range->n);
    cli_json_numbers(root, "scores", s->scores, s->range->n);
    cJSON_AddNumberToObject(root, "best", s->best);
    cJSON_AddBoolToObject(root, "at_end", s->at_end);
    cJSON_AddNumberToObject(root, "spread", spread_of(s));
    const size_t rival = fbp_score_rival(s->scores, s->range->n);
    if (rival < s->range->n)
        cJSON_AddNumberToObject(root, "rival", sweep_value(s->range, rival));
    cJSON_AddNumberToObject(root, "slice", (double)s->slice);
    cJSON_AddNumberToObject(root, "z_mm", fbp_grid_coordinate(&s->grid, 2, (double)s->shown));
    cJSON_AddNumberToObject(root, "seconds", s->seconds);
    cJSON_AddStringToObject(root, "output", s->args->output);
    return cli_json(root, false);
}

int sweep_finish(struct sweep *s)
{
    double *x = calloc(s->range->n, sizeof *x);
    int rc = x ? 0 : cli_error("out of memory for the sweep; close other programs");

    for (size_t i = 0; x && i < s->range->n; i++)
        x[i] = sweep_value(s->range, i);
    s->best = s->range->from + s->range->step * fbp_score_peak(s->scores, s->range->n, &s->at_end);
    if (rc == 0 && !isfinite(s->best))
        rc =
            cli_error("--sweep: the slices of all values are empty; sweep another slice (--slice)");
    free(s->slices);
    s->slices = NULL;
    if (rc == 0)
        rc = write_sheet(s);
    if (rc == 0 && s->args->curve)
        rc = write_curve(s, x);
    if (rc == 0 && s->args->json)
        rc = print_json(s, x);
    else if (rc == 0 && !s->args->quiet)
        print_table(s);
    free(x);
    return rc;
}
