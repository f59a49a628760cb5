/* Implementation of cli.h: error messages (cli_error(), cli_fail()), the log callback of the
 * library (cli_log()), warnings about scans and arrays, JSON output, checks of file names, the
 * scan file of a folder (cli_scan_in_folder()), the check that outputs replace no inputs
 * (cli_check_files()), and texts for durations and voxel grids.
 * Used by: bench/, cli/. */
#include "cli.h"
#include "say.h"

#include "fbp/folder.h"

#include "array/file/outfile.h"
#include "array/names.h"
#include "base/text.h"
#include "scan/file/scan.h"
#include "scan/folder/folder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

const struct command *const *commands;
size_t n_commands;

int cli_error(const char *fmt, ...)
{
    char line[1400];

    FBP_PRINT_ARGUMENTS(line, sizeof line, fmt);
    say_error(line);
    return 1;
}

int cli_fail(void)
{
    const char *text = fbp_message();

    /* An empty message usually means that memory is exhausted. */
    return cli_error(
        "%s",
        *text
            ? text
            : "out of memory; close other programs, or report this error if enough memory is free");
}

int cli_replace_name(char **name, const char *path)
{
    free(*name);
    *name = strdup(path);
    return *name ? 0 : cli_error("out of memory for a file name; close other programs");
}

int cli_json(cJSON *root, bool compact)
{
    return say_keep(root, compact) ? 0 : say_json(root, compact);
}

int cli_json_save(cJSON *root, const char *path, bool replace)
{
    char *text = say_json_text(root, false);

    if (!text)
        return cli_error("%s: out of memory for the JSON output; close other programs", path);
    const fbp_status st = fbp_text_save(path, text, replace);
    free(text);
    return st == FBP_OK ? 0 : cli_fail();
}

cJSON *cli_json_numbers(cJSON *object, const char *key, const double *v, size_t n)
{
    cJSON *list = cJSON_AddArrayToObject(object, key);

    for (size_t i = 0; list && i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(v[i]));
    return list;
}

cJSON *cli_json_sizes(cJSON *object, const char *key, const size_t *v, size_t n)
{
    cJSON *list = cJSON_AddArrayToObject(object, key);

    for (size_t i = 0; list && i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)v[i]));
    return list;
}

void cli_json_grid(cJSON *object, const struct fbp_grid *grid)
{
    cli_json_sizes(object, "size", grid->n, 3);
    cli_json_numbers(object, "voxel_mm", grid->voxel_mm, 3);
    cli_json_numbers(object, "centre_mm", grid->centre_mm, 3);
}

void cli_json_views(cJSON *object, const struct fbp_scan *scan)
{
    cli_json_add(object, {"views", (double)scan->n_views},
                 {"columns", (double)scan->panel.n_columns}, {"rows", (double)scan->panel.n_rows});
}

void cli_json_add_all(cJSON *object, const struct cli_number *numbers)
{
    for (; numbers->key; numbers++)
        cJSON_AddNumberToObject(object, numbers->key, numbers->value);
}

bool cli_ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

bool cli_is_stack(const char *output)
{
    const char *percent = strrchr(output, '%');

    return percent && percent[1 + strspn(percent + 1, "0123456789")] == 'd';
}

char *cli_written(char *buf, size_t n, const char *output, size_t n_slices)
{
    if (cli_is_stack(output))
        snprintf(buf, n, "%s 0 %zu", output, n_slices - 1);
    else
        snprintf(buf, n, "%s", output);
    return buf;
}

bool cli_has_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path + 1) : 1;
    char folder[4096] = "."; /* longer paths fail in every system call */

    if (n >= sizeof folder)
        return false;
    if (slash)
        memcpy(folder, path, n);
    return access(folder, W_OK) == 0;
}

void cli_say_uncertain(const struct fbp_scan *scan, bool quiet)
{
    char line[1200];

    if (fbp_scan_assumed(scan, line, sizeof line) > 0)
        say_warning(quiet, "%s", line);
    if (scan->note)
        say_warning(quiet, "%s", scan->note);
}

void cli_warn_missing(const char *path, bool quiet)
{
    fbp_source *source = NULL;

    if (fbp_source_open(&source, path, NULL) == FBP_OK && fbp_source_info(source)->missing[0])
        say_warning(quiet, "%s", fbp_source_info(source)->missing);
    fbp_source_close(&source);
}

bool cli_is_scan(const char *path)
{
    if (!cli_ends_with(path, ".json"))
        return false;
    cli_error("%s: is a JSON file, not an array; name a volume, or the file of projections that "
              "fbp info %s prints for a scan file",
              path, path);
    return true;
}

char *cli_seconds(char *buf, size_t n, double seconds)
{
    if (!(seconds >= 0) || seconds > 1e9)
        snprintf(buf, n, "?");
    else if (seconds < 0.9995)
        snprintf(buf, n, "%.*f ms", seconds < 0.01, seconds * 1e3);
    else if (seconds < 99.95)
        snprintf(buf, n, "%.1f s", seconds);
    else if (seconds < 3599.5)
        snprintf(buf, n, "%d:%02d min", (int)(seconds + .5) / 60, (int)(seconds + .5) % 60);
    else
        snprintf(buf, n, "%d:%02d h", (int)(seconds / 3600), (int)(seconds / 60) % 60);
    return buf;
}

char *cli_grid(char *buf, size_t n, const struct fbp_grid *g)
{
    const double *v = g->voxel_mm;
    const int len =
        snprintf(buf, n, "%zu x %zu x %zu voxels of %.6g", g->n[0], g->n[1], g->n[2], v[0]);
    const bool cubes = fabs(v[0] - v[1]) < 1e-9 * v[0] && fabs(v[0] - v[2]) < 1e-9 * v[0];

    if (len > 0 && (size_t)len < n) {
        if (cubes)
            snprintf(buf + len, n - (size_t)len, " mm");
        else
            snprintf(buf + len, n - (size_t)len, " x %.6g x %.6g mm", v[1], v[2]);
    }
    return buf;
}

double cli_degrees(double rad)
{
    return rad * (180 / 3.14159265358979323846);
}

uint64_t cli_peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

void cli_log(void *user, enum fbp_log_level level, const char *line)
{
    const bool *quiet = user;

    if (level == FBP_LOG_WARNING)
        say_warning(false, "%s", line);
    else
        say_note(*quiet, "%s", line);
}

int cli_scan_in_folder(const char *path, bool quiet, char **out)
{
    const struct fbp_folder_known known = {
        .struct_size = sizeof known, .log = cli_log, .user = &quiet};

    return fbp_folder_scan(out, path, &known) == FBP_OK ? 0 : cli_fail();
}

enum { INPUTS = sizeof((struct cli_files *)0)->inputs / sizeof(char *) };
enum { OUTPUTS = sizeof((struct cli_files *)0)->outputs / sizeof(char *) };

/* An output: path of its file, and the results of stat() for its folder and for the file. */
struct place {
    const char *path; /* NULL: no output */
    bool has_folder, is_there;
    struct stat folder, file;
};

/* Read the status of a file by stat(). If the file is missing or unreachable, *there is set to
 * false. Other failures of stat() are errors, because the path could be that of an input file. */
static int read_status(const char *path, struct stat *out, bool *there)
{
    *there = stat(path, out) == 0;
    if (*there || errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP ||
        errno == EACCES)
        return 0;
    return cli_error("%s: cannot read its file status: %s", path, strerror(errno));
}

static int find_place(const char *path, struct place *out)
{
    char folder[4096] = ""; /* longer paths fail in every system call */

    *out = (struct place){.path = path};
    if (!path)
        return 0;
    const size_t n = (size_t)(fbp_base_name(path) - path);
    if (n < sizeof folder) {
        memcpy(folder, path, n);
        const int rc = read_status(n ? folder : ".", &out->folder, &out->has_folder);
        if (rc != 0)
            return rc;
    }
    return read_status(path, &out->file, &out->is_there);
}

static bool is_same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_folder(const struct place *a, const struct place *b)
{
    return a->has_folder && b->has_folder && is_same_inode(&a->folder, &b->folder);
}

/* True if `name` is the file of a slice, such as out/0012.png of the pattern out/%04d.png. */
static bool is_slice(const struct place *name, const struct place *stack)
{
    if (!cli_is_stack(stack->path) || !same_folder(name, stack))
        return false;
    const char *base = fbp_base_name(name->path), *pattern = fbp_base_name(stack->path);
    const size_t before = strcspn(pattern, "%");
    if (strncmp(base, pattern, before) != 0)
        return false;
    const size_t digits = strspn(base + before, "0123456789");
    return digits > 0 &&
           strcmp(base + before + digits,
                  strrchr(pattern, '%') + strcspn(strrchr(pattern, '%'), "d") + 1) == 0;
}

static bool is_same_place(const struct place *a, const struct place *b)
{
    if (!a->path || !b->path)
        return false;
    return (same_folder(a, b) && strcmp(fbp_base_name(a->path), fbp_base_name(b->path)) == 0) ||
           (a->is_there && b->is_there && is_same_inode(&a->file, &b->file)) || is_slice(a, b) ||
           is_slice(b, a);
}

static int refuse(const char *output, const char *input)
{
    if (*fbp_message()) /* the library could not check the files */
        return cli_fail();
    return cli_error("%s: this output would overwrite the input %s, or become a part of that "
                     "series; choose another name, or give --force",
                     output, input);
}

int cli_check_files(const struct cli_files *f)
{
    struct place places[OUTPUTS + 1];
    int rc = find_place(f->volume, &places[0]);

    for (size_t i = 1; i <= OUTPUTS && rc == 0; i++) {
        rc = find_place(f->outputs[i - 1], &places[i]);
        for (size_t k = 0; k < i && rc == 0; k++)
            if (is_same_place(&places[i], &places[k]))
                rc =
                    cli_error("%s: two outputs have this name; choose another name for one of them",
                              places[i].path);
    }
    for (size_t i = 0; i < OUTPUTS && rc == 0 && !f->force; i++) {
        if (!f->outputs[i])
            continue;
        for (size_t k = 0; k < INPUTS && rc == 0; k++)
            if (f->inputs[k] && fbp_array_reads(f->inputs[k], f->outputs[i]))
                rc = refuse(f->outputs[i], f->inputs[k]);
        if (rc == 0 && f->scan && fbp_scan_reads(f->scan, f->outputs[i]))
            rc = refuse(f->outputs[i], f->scan->path ? f->scan->path : "the scan");
    }
    return rc;
}
