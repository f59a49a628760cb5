/* Implementation of files.h: compares a command's outputs with its inputs and with each other;
 * called by recon, simulate, view, geometry and rabbitct. */
#include "files.h"

#include "array/names.h"
#include "base/text.h"
#include "scan/file/scan.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { INPUTS = sizeof((struct cli_files *)0)->inputs / sizeof(char *) };
enum { OUTPUTS = sizeof((struct cli_files *)0)->outputs / sizeof(char *) };

/* Path of an output, with the status of its folder and of its file, each read once. */
struct place {
    const char *path; /* NULL: no output */
    bool has_folder, is_there;
    struct stat folder, file;
};

/* Read the status of a file.  A missing or unreachable file is no error: *there is false.  Other
 * failures are errors, because the path could be any file. */
static int look(const char *path, struct stat *out, bool *there)
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
        const int rc = look(n ? folder : ".", &out->folder, &out->has_folder);
        if (rc != 0)
            return rc;
    }
    return look(path, &out->file, &out->is_there);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_folder(const struct place *a, const struct place *b)
{
    return a->has_folder && b->has_folder && is_same(&a->folder, &b->folder);
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

static bool collide(const struct place *a, const struct place *b)
{
    if (!a->path || !b->path)
        return false;
    return (same_folder(a, b) && strcmp(fbp_base_name(a->path), fbp_base_name(b->path)) == 0) ||
           (a->is_there && b->is_there && is_same(&a->file, &b->file)) || is_slice(a, b) ||
           is_slice(b, a);
}

static int check_outputs(const struct cli_files *f)
{
    struct place places[OUTPUTS + 1];
    int rc = find_place(f->volume, &places[0]);

    for (size_t i = 1; i <= OUTPUTS && rc == 0; i++) {
        rc = find_place(f->outputs[i - 1], &places[i]);
        for (size_t k = 0; k < i && rc == 0; k++)
            if (collide(&places[i], &places[k]))
                rc =
                    cli_error("%s: two outputs have this name; choose another name for one of them",
                              places[i].path);
    }
    return rc;
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
    int rc = check_outputs(f);

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
