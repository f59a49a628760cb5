/* --part K/N and auto/N: parsing, checks, and the list of all parts for fbp plan. Called by
 * cmd_recon.c, cmd_plan.c and plan_text.c. */
#include "recon.h"
#include "say.h"

#include "pipeline/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Environment variables of batch systems with the number of a task in a job array. */
static const char *const arrays[] = {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID",
                                     "SGE_TASK_ID"};

/* Read a text of n digits as a number; false: the text contains other characters or is too long. */
static bool read_number(const char *text, size_t n, size_t *out)
{
    char digits[20];
    char *end;

    if (n == 0 || n >= sizeof digits || strspn(text, "0123456789") < n)
        return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    *out = (size_t)strtoull(digits, &end, 10);
    return *end == '\0';
}

/* Set the part from the environment. Values that are not numbers are skipped: SGE sets "undefined"
 * outside a job array. */
static int take_index(struct recon_args *a)
{
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        const char *text = getenv(arrays[i]);
        if (!text || !read_number(text, strlen(text), &a->p.cluster.part))
            continue;
        if (a->p.cluster.part >= 1 && a->p.cluster.part <= a->p.cluster.n_parts)
            return OPT_GO_ON;
        return cli_error(
            "--part %s: %s is %s, but parts count from 1; submit a job array of tasks 1 to %zu",
            a->part, arrays[i], text, a->p.cluster.n_parts);
    }
    return cli_error("--part %s: none of the variables %s, %s, %s and %s is a number; run fbp in a "
                     "job array, or give the part, such as --part 1/%zu",
                     a->part, arrays[0], arrays[1], arrays[2], arrays[3], a->p.cluster.n_parts);
}

/* Name of a requested output that needs the whole volume; NULL: none. */
static const char *whole_only(const struct recon_args *a)
{
    return a->sweep              ? "--sweep"
           : a->preview          ? "--preview"
           : a->report           ? "--report"
           : recon_is_picture(a) ? "a picture"
                                 : NULL;
}

int recon_choose_part(const struct command *self, struct recon_args *a)
{
    const char *slash = a->part ? strchr(a->part, '/') : NULL;
    const size_t n = slash ? (size_t)(slash - a->part) : 0;

    if (!a->part)
        return OPT_GO_ON;
    const bool found = n == 4 && memcmp(a->part, "auto", n) == 0;
    if (!slash || (!found && !read_number(a->part, n, &a->p.cluster.part)) ||
        !read_number(slash + 1, strlen(slash + 1), &a->p.cluster.n_parts) ||
        a->p.cluster.n_parts == 0)
        return opt_usage(
            self, "--part: expected PART/NUMBER OF PARTS, such as 3/16 or auto/16, got \"%s\"",
            a->part);
    if (whole_only(a))
        return opt_usage(self,
                         "--part: %s needs the whole volume; omit it, and run fbp view when all "
                         "parts are complete",
                         whole_only(a));
    if (isinf(a->p.output.range[0]))
        return opt_usage(self, "--part: --output-range auto needs the whole volume; give the "
                               "range, such as --output-range 0,0.05");
    if (found)
        return take_index(a);
    if (a->p.cluster.part < 1 || a->p.cluster.part > a->p.cluster.n_parts)
        return cli_error("--part %s does not exist; parts count from 1 to %zu", a->part,
                         a->p.cluster.n_parts);
    return OPT_GO_ON;
}

static fbp_status part_of(const fbp_plan *plan, size_t k, struct fbp_part *out)
{
    *out = (struct fbp_part){.struct_size = sizeof *out};
    return fbp_plan_part(plan, k, out);
}

int recon_print_parts(const fbp_plan *plan)
{
    const struct fbp_plan_summary *p = fbp_plan_info(plan);
    struct fbp_part part;

    for (size_t k = 1; k <= p->n_parts; k++) {
        if (part_of(plan, k, &part) != FBP_OK)
            return cli_fail();
        printf("%-9s %zu of %zu%s: slices %zu to %zu, %.4g giga-updates\n", "part", k, p->n_parts,
               k == p->part ? " (this one)" : "", part.slices[0], part.slices[1] - 1,
               (double)part.updates * 1e-9);
    }
    return 0;
}

int recon_json_parts(cJSON *root, const fbp_plan *plan)
{
    const struct fbp_plan_summary *p = fbp_plan_info(plan);
    cJSON *list;

    if (p->n_parts == 0)
        return 0;
    cJSON_AddNumberToObject(root, "part", (double)p->part);
    list = cJSON_AddArrayToObject(root, "parts");
    for (size_t k = 1; k <= p->n_parts; k++) {
        struct fbp_part part;
        if (part_of(plan, k, &part) != FBP_OK)
            return cli_fail();
        cJSON *one = cJSON_CreateObject(), *runs = cJSON_AddArrayToObject(one, "slices");
        cJSON *run = cJSON_CreateArray();
        for (size_t i = 0; i < 2; i++)
            cJSON_AddItemToArray(run, cJSON_CreateNumber((double)part.slices[i]));
        cJSON_AddItemToArray(runs, run);
        cJSON_AddNumberToObject(one, "updates", (double)part.updates);
        cJSON_AddItemToArray(list, one);
    }
    return 0;
}
