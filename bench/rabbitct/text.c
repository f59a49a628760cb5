/* Text and JSON that the commands fbp rabbitct … share: errors, contents of files,
 * sizes; and the command `fbp rabbitct info`.
 * Used by: bench/commands.c, compare_command.c, make_command.c, run_command.c. */
#include "bench/rabbitct/text.h"
#include "say.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

bool rabbitct_is_size(size_t size)
{
    return size == 128 || size == 256 || size == 512 || size == 1024;
}

void rabbitct_print(const struct fbp_rabbitct_error *e)
{
    printf("rmse     %.5g HU\nmax      %g HU\n", e->rmse, e->max);
    if (isinf(e->psnr_db))
        printf("psnr     infinite\n");
    else
        printf("psnr     %.2f dB\n", e->psnr_db);
    printf("|error|  voxels\n");
    for (int i = 0; i < FBP_RABBITCT_BINS; i++)
        printf("%s%-6d %10u\n", i == FBP_RABBITCT_BINS - 1 ? ">=" : "  ", i,
               (unsigned)e->histogram[i]);
}

void rabbitct_json(cJSON *root, const struct fbp_rabbitct_error *e)
{
    cJSON_AddNumberToObject(root, "mse", e->mse);
    cJSON_AddNumberToObject(root, "rmse", e->rmse);
    cJSON_AddNumberToObject(root, "max", e->max);
    cJSON_AddNumberToObject(root, "psnr_db", isinf(e->psnr_db) ? 999 : e->psnr_db);
    cJSON *bins = cJSON_AddArrayToObject(root, "histogram");
    for (int i = 0; i < FBP_RABBITCT_BINS; i++)
        cJSON_AddItemToArray(bins, cJSON_CreateNumber((double)e->histogram[i]));
}

static int info_json(const char *path, const struct fbp_rabbitct_info *i)
{
    const double hu[2] = {(double)i->hu[0], (double)i->hu[1]};
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "file", path);
    cJSON_AddStringToObject(root, "format", "rabbitct");
    cJSON_AddNumberToObject(root, "version", i->version);
    cJSON_AddNumberToObject(root, "views", (double)i->n_views);
    cJSON_AddNumberToObject(root, "columns", (double)i->n_columns);
    cJSON_AddNumberToObject(root, "rows", (double)i->n_rows);
    cJSON_AddBoolToObject(root, "matrices_only", i->matrices_only);
    cli_json_numbers(root, "hu", hu, 2);
    cJSON *sizes = cJSON_AddArrayToObject(root, "references");
    for (size_t r = 0; r < i->n_references; r++)
        cJSON_AddItemToArray(sizes, cJSON_CreateNumber((double)((size_t)128 << r)));
    cJSON_AddNumberToObject(root, "bytes", (double)i->bytes);
    return cli_json(root, false);
}

static int info_text(const char *path, const struct fbp_rabbitct_info *i)
{
    char bytes[24];

    printf("file        %s (RabbitCT, version %d), %s\n", say_name(path), i->version,
           fbp_bytes_text(bytes, sizeof bytes, i->bytes));
    printf("views       %zu of %zu x %zu pixels, %s\n", i->n_views, i->n_columns, i->n_rows,
           i->matrices_only ? "matrices only" : "filtered");
    printf("grey value  %g f + %g, from 0 to 4095\n", (double)i->hu[0], (double)i->hu[1]);
    printf("references  %s", i->n_references ? "" : "none");
    for (size_t r = 0; r < i->n_references; r++)
        printf("%s%zu^3", r ? ", " : "", (size_t)128 << r);
    printf("\n");
    if (!i->matrices_only)
        printf("more        fbp geometry check %s\n", say_name(path));
    return 0;
}

static double seconds_of(const struct fbp_rabbitct_result *r)
{
    double sum = 0;

    for (size_t k = 0; k < r->n_views; k++)
        sum += (double)r->us[k] * 1e-6;
    return sum;
}

static int result_json(const char *path, const struct fbp_rabbitct_result *r)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "file", path);
    cJSON_AddStringToObject(root, "format", "rabbitct result");
    cJSON_AddNumberToObject(root, "version", r->version);
    cJSON_AddNumberToObject(root, "size", (double)r->size);
    cJSON_AddNumberToObject(root, "views", (double)r->n_views);
    cJSON_AddNumberToObject(root, "seconds", seconds_of(r));
    rabbitct_json(root, &r->error);
    return cli_json(root, false);
}

static int result_text(const char *path, const struct fbp_rabbitct_result *r)
{
    char t[24];

    printf("file     %s (RabbitCT, result of version %d)\n", say_name(path), r->version);
    printf("volume   %zu^3 from %zu views in %s\n", r->size, r->n_views,
           cli_seconds(t, sizeof t, seconds_of(r)));
    rabbitct_print(&r->error);
    return 0;
}

int rabbitct_info(const char *path, bool json)
{
    struct fbp_rabbitct_result result;
    struct fbp_rabbitct_info info;

    if (fbp_rabbitct_result_read(path, &result) == FBP_OK) {
        const int rc = (json ? result_json : result_text)(path, &result);
        fbp_rabbitct_result_clear(&result);
        return rc;
    }

    if (fbp_rabbitct_probe(path, &info) != FBP_OK)
        return cli_fail();
    return (json ? info_json : info_text)(path, &info);
}

/* Command `fbp rabbitct info`. */

struct info_args {
    const char *file;
    bool json;
};

static const struct opt info_table[] = {
    OPT(struct info_args, file, .name = "file", .positional = true, .required = true,
        .help = "a data set (.rctd, .rct), or the result of a runner"),
    OPT(struct info_args, json, .name = "json", .help = "print one JSON object"),
};

static int run_info(const struct command *self, int argc, char **argv)
{
    struct info_args a = {0};
    const int rc = opt_parse(self, &a, argc, argv);

    return rc == OPT_GO_ON ? rabbitct_info(a.file, a.json) : rc;
}

const struct command cmd_rabbitct_info = {
    .name = "rabbitct info",
    .summary = "what is in a RabbitCT data set or result",
    .usage = "FILE [options]",
    .examples = "  fbp rabbitct info rabbitct_512-v2.rctd\n",
    COMMAND_OPTS(info_table),
    .run = run_info,
};

uint16_t *rabbitct_load_reference(const char *path, size_t size)
{
    uint16_t *out = malloc(size * size * size * sizeof *out);

    if (!out) {
        cli_error("out of memory for a reference of %zu^3 voxels: close other programs", size);
        return NULL;
    }
    if (fbp_rabbitct_reference(path, size, out) == FBP_OK)
        return out;
    cli_fail();
    free(out);
    return NULL;
}
