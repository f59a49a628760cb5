/* Prints Table 1 of Ino et al. (2010) with the numbers of a job, and the division that was
 * chosen, as text or JSON. Called by command.c.
 * Used by: command.c. */
#include "base/text.h"
#include "bench/papers/ino2010/text.h"

#include <math.h>

enum { LABEL = 24, FORMULA = 16, COLUMN = 11 };

/* Rows of Table 1: formulas, unit of the numbers, offset in struct s2_cost. */
static const struct row {
    const char *text, *key, *original, *proposed, *unit;
    size_t at;
} rows[] = {
    {"download", "download_bytes", "O(KM^2)", "O(BKM^2/C)", "B",
     offsetof(struct s2_cost, download)},
    {"filtering", "filter_samples", "O(KM^2)", "O(KM^2/C)", "", offsetof(struct s2_cost, filter)},
    {"readback (projections)", "readback_bytes", "-", "O(KM^2/C)", "B",
     offsetof(struct s2_cost, readback)},
    {"backprojection", "updates", "O(KN^3)", "O(KN^3/C)", "",
     offsetof(struct s2_cost, backproject)},
    {"readback (volume)", "fetch_bytes", "O(N^3)", "O(N^3/C)", "B",
     offsetof(struct s2_cost, fetch)},
    {"concatenation", "boxes", "-", "O(B)", "", offsetof(struct s2_cost, boxes)},
    {"video memory", "video_bytes", "O(N^3+IM^2)", "O(N^3/B+IM^2)", "B",
     offsetof(struct s2_cost, video)},
    {"main memory", "memory_bytes", "O(N^3+KM^2)", "O(N^3+KM^2)", "B",
     offsetof(struct s2_cost, memory)},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static double value(const struct s2_cost *c, const struct row *row)
{
    return *(const double *)(const void *)((const char *)c + row->at);
}

/* Print a number with a prefix such as k, M or G, and its unit. */
static void cell(double v, const struct row *row)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    char text[40] = "-";
    size_t i = 0;

    for (; v >= 1000 && i < sizeof prefixes / sizeof *prefixes - 1; i++)
        v /= 1000;
    if (!isnan(v))
        snprintf(text, sizeof text, "%.4g%s%s%s", v, i > 0 || *row->unit ? " " : "", prefixes[i],
                 row->unit);
    printf(" %*s", COLUMN, text);
}

static void print_table1(const struct fbp_s2_plan *p)
{
    const struct s2_cost original = s2_original_cost(p);

    printf("%-*s %-*s %*s   %-*s", LABEL, "Table 1", FORMULA, "original", COLUMN, "", FORMULA,
           "proposed");
    for (size_t i = 0; i < S2_COUNTS; i++)
        printf(" %*s%zu", COLUMN - 1, "C = ", s2_counts[i]);
    putchar('\n');
    for (size_t k = 0; k < N_ROWS; k++) {
        printf("%-*s %-*s", LABEL, rows[k].text, FORMULA, rows[k].original);
        cell(value(&original, &rows[k]), &rows[k]);
        printf("   %-*s", FORMULA, rows[k].proposed);
        for (size_t i = 0; i < S2_COUNTS; i++) {
            const struct s2_cost cost = s2_proposed_cost(p, s2_counts[i]);
            const bool there = p->subvolumes >= s2_counts[i];
            cell(there ? value(&cost, &rows[k]) : NAN, &rows[k]);
        }
        putchar('\n');
    }
}

/* Why so many boxes. */
static void print_reason(const struct fbp_s2_plan *p)
{
    char limit[40];

    printf("B = %zu: ", p->subvolumes);
    if (p->given)
        printf("as given");
    else if (p->device_limit)
        printf("the fewest (a power of two, at least C = %zu) with which a box and its views fit "
               "into %s of device memory",
               p->n_devices, fbp_bytes_text(limit, sizeof limit, p->device_limit));
    else
        printf("the fewest (a power of two, at least C = %zu); device memory is not limited",
               p->n_devices);
    printf("\nboxes of %zu x %zu x %zu voxels, %zu along x and %zu along y; I = %zu views per "
           "launch; %s\n",
           p->box[0], p->box[1], p->n[2], p->split[0], p->split[1], p->launch_views,
           p->volumes > 1 ? "two boxes on a device: one is fetched while the next is computed"
                          : "one box on a device");
}

static void print_memory(const struct fbp_s2_plan *p)
{
    char needs[40], limit[40];

    printf("memory of each device: boxes and buffers of views need %s; allowed: %s\n",
           fbp_bytes_text(needs, sizeof needs, p->device_bytes),
           p->device_limit ? fbp_bytes_text(limit, sizeof limit, p->device_limit)
                           : "no limit, because the device does not report its free memory");
    printf("memory of the host: views, buffers%s need %s; allowed: %s\n",
           p->in_file ? " (the volume does not fit beside them, and goes to a file)"
                      : " and volume",
           fbp_bytes_text(needs, sizeof needs, p->host_bytes),
           fbp_bytes_text(limit, sizeof limit, p->host_limit));
    if (p->in_file)
        printf("in a file: %s; the paper cuts along x and y\n",
               p->split[0] == 1 ? "boxes are slabs of whole rows, cut along y alone"
                                : "boxes are cut along x as few times as possible");
}

void s2_print_plan(const struct s2_result *r)
{
    const struct fbp_s2_plan *p = &r->plan;

    printf("Ino 2010 (S2): %zu^3 voxels from %zu views of %zu x %zu, kernel %s, filter in space "
           "(Shepp-Logan, "
           "S = %zu)\non %zu x %s: %s\n\n",
           r->size, r->views, p->n_columns, p->n_rows, p->kernel, p->half_width, p->n_devices,
           p->backend, p->device);
    print_table1(p);
    printf("N: voxels per side; K: views of M x M pixels; B: boxes; C: devices; I: views per "
           "launch; GB = 10^9 bytes.\n"
           "The columns are costs per device: filtering in samples, backprojection in updates of "
           "voxels, concatenation in boxes.\n"
           "Download, proposed: each view once for the filter, and once per box of the device, "
           "KM^2/C + ceil(B/C) KM^2 samples\nof 4 bytes; the paper's formula omits the filter.\n");
    print_reason(p);
    print_memory(p);
    fflush(stdout);
}

static void add_cost(cJSON *to, const char *key, const struct s2_cost *c)
{
    cJSON *o = cJSON_AddObjectToObject(to, key);

    for (size_t k = 0; k < N_ROWS; k++)
        if (!isnan(value(c, &rows[k])))
            cJSON_AddNumberToObject(o, rows[k].key, value(c, &rows[k]));
}

int s2_json_plan(const struct s2_result *r)
{
    const struct fbp_s2_plan *p = &r->plan;
    const struct cli_number numbers[] = {{"size", (double)r->size},
                                         {"views", (double)r->views},
                                         {"devices", (double)p->n_devices},
                                         {"subvolumes", (double)p->subvolumes},
                                         {"split_x", (double)p->split[0]},
                                         {"split_y", (double)p->split[1]},
                                         {"launch_views", (double)p->launch_views},
                                         {"boxes_on_a_device", (double)p->volumes},
                                         {"device_bytes", (double)p->device_bytes},
                                         {"device_limit", (double)p->device_limit},
                                         {"host_bytes", (double)p->host_bytes},
                                         {"host_limit", (double)p->host_limit}};
    const struct s2_cost original = s2_original_cost(p);
    cJSON *root = bench_json_begin("S2", r->name, p->backend, p->kernel, p->isa);
    char key[20];

    cJSON_AddStringToObject(root, "what", "plan");
    cJSON_AddBoolToObject(root, "given", p->given);
    cJSON_AddBoolToObject(root, "in_file", p->in_file);
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    add_cost(root, "original", &original);
    for (size_t i = 0; i < S2_COUNTS; i++) {
        const struct s2_cost cost = s2_proposed_cost(p, s2_counts[i]);
        if (p->subvolumes < s2_counts[i])
            continue;
        snprintf(key, sizeof key, "proposed_%zu", s2_counts[i]);
        add_cost(root, key, &cost);
    }
    return bench_json_add(root);
}
