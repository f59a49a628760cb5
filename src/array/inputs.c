#include "array/inputs.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/names.h"
#include "array/stack.h"

#include "fbp/scan.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/sizes.h"
#include "base/text.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

fbp_status fbp_inputs_add(struct fbp_inputs *s, const char *name)
{
    if (!name || (s->n > 0 && strcmp(s->names[s->n - 1], name) == 0))
        return FBP_OK;
    if (s->n == s->room) {
        const size_t room = s->room ? 2 * s->room : 4;
        char **more = realloc(s->names, room * sizeof *more);
        if (!more)
            return fbp_fail_nomem(room * sizeof *more, "names of files");
        s->names = more;
        s->room = room;
    }
    s->names[s->n] = fbp_strdup(name);
    if (!s->names[s->n])
        return fbp_fail_nomem(strlen(name), "a path");
    s->n++;
    return FBP_OK;
}

fbp_status fbp_inputs_add_all(struct fbp_inputs *s, const struct fbp_inputs *more, size_t skip)
{
    for (size_t i = skip; i < more->n; i++)
        FBP_TRY(fbp_inputs_add(s, more->names[i]));
    return FBP_OK;
}

fbp_status fbp_inputs_hash(uint64_t *h, const struct fbp_inputs *s)
{
    for (size_t i = 0; i < s->n; i++) {
        *h = fbp_hash(*h, s->names[i], strlen(s->names[i]));
        FBP_TRY(fbp_stack_hash(h, s->names[i]));
    }
    return FBP_OK;
}

void fbp_inputs_clear(struct fbp_inputs *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->names[i]);
    free(s->names);
    *s = (struct fbp_inputs){0};
}

/* The file that is to be written, and whether it was found among others. */
struct search {
    const char *file;
    bool is_there, found;
    struct stat is;
    size_t missing; /* files of a pattern, one after another */
    fbp_status status;
};

/* A pattern may name more files than any disk holds. */
enum { MOST_MISSING = 10000 };

static bool compare(void *user, const char *file)
{
    struct search *s = user;
    struct stat st;

    bool there = false;

    if (s->is_there)
        s->status = fbp_stat(file, &st, &there);
    s->missing = there ? 0 : s->missing + 1;
    s->found = strcmp(file, s->file) == 0 ||
               (there && st.st_dev == s->is.st_dev && st.st_ino == s->is.st_ino);
    return s->status == FBP_OK && !s->found && s->missing < MOST_MISSING;
}

fbp_status fbp_input_is(const char *input, const char *file, bool *is)
{
    struct search s = {.file = file, .status = FBP_OK};

    *is = false;
    FBP_TRY(fbp_stat(file, &s.is, &s.is_there));
    FBP_TRY(fbp_stack_each(input, compare, &s));
    FBP_TRY(s.status);
    *is = s.found;
    return s.found ? FBP_OK : fbp_stack_joins(input, file, is);
}

/* An array that cannot be opened is what its name says. */
static fbp_status add_array(struct fbp_inputs *s, const char *path, const struct fbp_raw *raw)
{
    fbp_source *source = NULL;

    if (!path)
        return FBP_OK;
    fbp_status st = fbp_source_open(&source, path, raw);
    if (st == FBP_ERR_NOMEM)
        return st;
    if (st != FBP_OK) {
        fbp_message_clear();
        return fbp_inputs_add(s, path);
    }
    st = fbp_inputs_add_all(s, &source->inputs, 0);
    fbp_source_close(&source);
    return st;
}

fbp_status fbp_scan_add_file(struct fbp_scan *scan, const char *path)
{
    struct fbp_inputs files = {scan->files, scan->n_files, scan->n_files};
    const fbp_status st = fbp_inputs_add(&files, path);

    scan->files = files.names;
    scan->n_files = files.n;
    return st;
}

fbp_status fbp_scan_inputs(struct fbp_inputs *out, const struct fbp_scan *scan,
                           const struct fbp_source *projections)
{
    struct fbp_raw raw = scan->raw;

    FBP_TRY(fbp_inputs_add(out, scan->path));
    for (size_t i = 0; i < scan->n_files; i++)
        FBP_TRY(fbp_inputs_add(out, scan->files[i]));
    if (projections)
        FBP_TRY(fbp_inputs_add_all(out, &projections->inputs, 0));
    else
        FBP_TRY(add_array(out, scan->projections, &raw));
    raw.n[2] = 0; /* headerless images: as many as there are */
    FBP_TRY(add_array(out, scan->dark, &raw));
    FBP_TRY(add_array(out, scan->flat, &raw));
    return add_array(out, scan->bad_pixels, &raw);
}

static fbp_status hold(const struct fbp_inputs *s, const char *file, bool *held)
{
    *held = false;
    for (size_t i = 0; i < s->n && !*held; i++)
        FBP_TRY(fbp_input_is(s->names[i], file, held));
    return FBP_OK;
}

/* An output, and the files that are there of it, against what is read. */
struct output {
    const struct fbp_inputs *inputs;
    bool is_there, hit;
    fbp_status status;
};

static bool look_at_output(void *user, const char *file)
{
    struct output *o = user;
    struct stat is;
    bool there;

    o->status = fbp_stat(file, &is, &there);
    if (o->status == FBP_OK)
        o->status = hold(o->inputs, file, &o->hit);
    o->is_there |= there;
    return o->status == FBP_OK && !o->hit;
}

static fbp_status compare_output(const struct fbp_inputs *inputs, const char *name,
                                 struct output *out)
{
    *out = (struct output){.inputs = inputs, .status = FBP_OK};
    FBP_TRY(hold(inputs, name, &out->hit));
    if (!out->hit)
        FBP_TRY(fbp_stack_each_there(name, look_at_output, out));
    return out->status;
}

/* Names first: arrays are opened only if there is something that could be replaced. */
static bool scan_reads(const struct fbp_scan *scan, const char *file)
{
    const char *const names[] = {scan->path, scan->projections, scan->dark, scan->flat,
                                 scan->bad_pixels};
    struct fbp_inputs named = {0}, all = {0};
    struct output o = {0};
    fbp_status st = FBP_OK;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        FBP_TRY_GOTO(fbp_inputs_add(&named, names[i]));
    for (size_t i = 0; i < scan->n_files; i++)
        FBP_TRY_GOTO(fbp_inputs_add(&named, scan->files[i]));
    FBP_TRY_GOTO(compare_output(&named, file, &o));
    if (!o.hit && o.is_there) {
        FBP_TRY_GOTO(fbp_scan_inputs(&all, scan, NULL));
        FBP_TRY_GOTO(compare_output(&all, file, &o));
    }
fail:
    fbp_inputs_clear(&named);
    fbp_inputs_clear(&all);
    if (st == FBP_OK)
        fbp_message_clear();
    return st != FBP_OK || o.hit;
}

bool fbp_scan_reads(const struct fbp_scan *scan, const char *file)
{
    struct fbp_scan whole;

    fbp_message_clear();
    return FBP_TAKE(scan, &whole, scan) != FBP_OK || scan_reads(&whole, file);
}

bool fbp_array_reads(const char *array, const char *file)
{
    char *name = fbp_strdup(array);
    const struct fbp_scan scan = {.projections = name};

    fbp_message_clear();
    if (!name)
        return fbp_fail_nomem(strlen(array), "a path") != FBP_OK;
    const bool is = scan_reads(&scan, file);
    free(name);
    return is;
}
