#include "array/format/mat/mat_print.h"

#include "array/file/inflate.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_NAMES = 256, NAME = 200, DEPTH = 6, SHOWN = 8 };

/* Arrays of numbers of a file. */
struct names {
    char name[MAX_NAMES][NAME];
    char size[MAX_NAMES][64];
    size_t n;
    char other[NAME + 80]; /* the first array of other numbers, "A is complex"; "" */
};

bool fbp_mat_detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    if (n < 128)
        return false;
    const unsigned char *end = head + 124; /* version, then which byte comes first */
    return memcmp(end, "\0\1IM", 4) == 0 || memcmp(end, "\1\0MI", 4) == 0;
}

struct fbp_child_limits fbp_mat_limits(const char *file)
{
    const uint64_t available = fbp_available_bytes(), least = (uint64_t)1 << 30;
    struct stat s;
    const uint64_t bytes = stat(file, &s) == 0 ? (uint64_t)s.st_size : 0;
    /* What zlib makes of all of it; matio holds the values once or twice. */
    const uint64_t most =
        bytes < available / FBP_DEFLATE_AT_MOST ? bytes * FBP_DEFLATE_AT_MOST : available;

    return (struct fbp_child_limits){.memory_bytes = least + most,
                                     .seconds = 60 + (double)bytes / 5e6};
}

/* In the child: the library said that memory ended, or that it could not read on; something is in
 * the file that it did not give. */
static bool no_memory, not_read, lost;

/* The file that was opened last, and how many variables of it were seen since the first. */
static struct fbp_mat_list listed;
static size_t seen;

static void listen(int level, char *message)
{
    (void)level;
    no_memory |= strcasestr(message, "alloc") || strcasestr(message, "memory");
    not_read |= strcasestr(message, "reading") != NULL;
}

struct entry {
    fbp_contained_fn *fn;
    void *arg;
    const char *path;
};

/* The library often gives nothing where it has no memory or cannot read, and says no word; what is
 * left then is errno. */
static fbp_status enter(void *arg, struct fbp_blob *reply)
{
    const struct entry *e = arg;

    no_memory = not_read = lost = false;
    errno = 0;
    Mat_LogInitFunc("fbp", listen); /* it begins with HDF5, which may have no memory for that */
    no_memory |= errno == ENOMEM;
    const fbp_status st = no_memory ? FBP_ERR_NOMEM : e->fn(e->arg, reply);
    const int error = errno;
    if (no_memory || error == ENOMEM) {
        fbp_message_clear();
        return fbp_fail(FBP_ERR_NOMEM,
                        "%s: " FBP_MAT_NAME " has not enough memory for it: close other programs",
                        e->path);
    }
    const bool failed = error == EIO || error == EMFILE || error == ENFILE;
    if (!lost && (failed ? st != FBP_OK && strstr(fbp_message(), strerror(error))
                         : st == FBP_OK || !not_read))
        return st;
    fbp_message_clear();
    if (failed)
        return fbp_fail(FBP_ERR_IO, "%s: cannot be read: %s", e->path, strerror(error));
    return fbp_fail(lost ? FBP_ERR_IO : FBP_ERR_INVALID, /* what it did not find may be there */
                    "%s: " FBP_MAT_NAME " could not read it to its end: the file is truncated, "
                    "damaged or still being written: copy it again",
                    e->path);
}

fbp_status fbp_mat_contain(const char *path, const struct fbp_child_limits *limits,
                           fbp_contained_fn *fn, void *arg, struct fbp_blob *reply)
{
    struct entry e = {fn, arg, path};

    return fbp_contain(path, FBP_MAT_NAME, limits, enter, &e, reply);
}

fbp_status fbp_mat_ask(const char *path, fbp_contained_fn *fn, struct fbp_blob *reply)
{
    const struct fbp_child_limits limits = fbp_mat_limits(path);

    return fbp_mat_contain(path, &limits, fn, (void *)(uintptr_t)path, reply);
}

fbp_status fbp_mat_look(const char *path, const unsigned char *head, size_t n, fbp_contained_fn *fn,
                        bool *is)
{
    struct fbp_blob reply = {0};

    if (!fbp_mat_detect(path, head, n))
        return FBP_OK;
    const fbp_status st = fbp_mat_ask(path, fn, &reply);
    *is = st == FBP_OK && reply.n == 1 && reply.bytes[0];
    free(reply.bytes);
    return st;
}

static fbp_status open_file(const char *file, mat_t **out)
{
    *out = Mat_Open(file, MAT_ACC_RDONLY);
    if (*out)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: cannot be opened as a MAT file: it is truncated or damaged, copy it "
                    "again, or there was not enough memory",
                    file);
}

fbp_status fbp_mat_open_unchecked(const char *file, mat_t **out)
{
    free(listed.v);
    listed = (struct fbp_mat_list){.v = NULL};
    seen = 0;
    return open_file(file, out);
}

static fbp_status open_checked(const char *file, bool prints, mat_t **out)
{
    free(listed.v);
    listed = (struct fbp_mat_list){.prints = prints};
    seen = 0;
    FBP_TRY(fbp_mat_check(file, &listed));
    return open_file(file, out);
}

fbp_status fbp_mat_open(const char *file, mat_t **out)
{
    return open_checked(file, true, out);
}

fbp_status fbp_mat_open_to_look(const char *file, mat_t **out)
{
    return open_checked(file, false, out);
}

/* It says no word where the tag of a variable could not be read. */
matvar_t *fbp_mat_next(mat_t *mat)
{
    matvar_t *v = Mat_VarReadNextInfo(mat);

    if (v)
        seen++;
    else
        lost = lost || (seen < listed.n && !listed.odd);
    return v;
}

void fbp_mat_rewind(mat_t *mat)
{
    Mat_Rewind(mat);
    seen = 0;
}

matvar_t *fbp_mat_read(mat_t *mat, const char *name)
{
    matvar_t *v = Mat_VarRead(mat, name);
    uint64_t print = 0;

    for (size_t i = 0; i < listed.n; i++) {
        if (strcmp(listed.v[i].name, name) != 0)
            continue;
        lost = lost || !v ||
               (listed.prints && (!fbp_mat_print_of(v, &print) || print != listed.v[i].print));
        return v;
    }
    return v;
}

enum fbp_type fbp_mat_type(const matvar_t *v)
{
    return v && !v->isComplex ? fbp_mat_type_of_parts(v) : FBP_TYPE_NONE;
}

const void *fbp_mat_real(const matvar_t *v)
{
    return v->isComplex && v->data ? ((const mat_complex_split_t *)v->data)->Re : v->data;
}

enum fbp_type fbp_mat_type_of_parts(const matvar_t *v)
{
    static const enum fbp_type types[] = {
        [MAT_C_DOUBLE] = FBP_F64, [MAT_C_SINGLE] = FBP_F32, [MAT_C_INT8] = FBP_I8,
        [MAT_C_UINT8] = FBP_U8,   [MAT_C_INT16] = FBP_I16,  [MAT_C_UINT16] = FBP_U16,
        [MAT_C_INT32] = FBP_I32,  [MAT_C_UINT32] = FBP_U32};

    if (!v || (size_t)v->class_type >= sizeof types / sizeof *types)
        return FBP_TYPE_NONE;
    return types[v->class_type];
}

matvar_t *fbp_mat_field(matvar_t *parent, const char *name)
{
    if (!parent || parent->class_type != MAT_C_STRUCT || !parent->data || !parent->dims)
        return NULL;
    for (int i = 0; i < parent->rank; i++)
        if (parent->dims[i] != 1)
            return NULL;
    /* matio's own function trusts tables that a damaged file does not have. */
    const size_t n = Mat_VarGetNumberOfFields(parent);
    char *const *names = Mat_VarGetStructFieldnames(parent);
    if (!names || parent->nbytes < n * sizeof(matvar_t *))
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (names[i] && strcmp(names[i], name) == 0)
            return ((matvar_t **)parent->data)[i];
    return NULL;
}

matvar_t *fbp_mat_find(mat_t *mat, const char *member, matvar_t **top)
{
    char *text = fbp_strdup(member), *save = NULL;
    const char *name = text ? strtok_r(text, ".", &save) : NULL;
    matvar_t *v = *top = name ? fbp_mat_read(mat, name) : NULL;

    while (v && (name = strtok_r(NULL, ".", &save)))
        v = fbp_mat_field(v, name);
    free(text);
    return v;
}

/* What is wrong with an array; NULL: nothing, or it is no array of numbers at all. */
static const char *why_not(const matvar_t *v)
{
    if (v->isComplex)
        return "complex";
    switch (v->class_type) {
    case MAT_C_SPARSE:
        return "sparse";
    case MAT_C_INT64:
    case MAT_C_UINT64:
        return "of 64-bit integers";
    default:
        return NULL;
    }
}

static void add(struct names *out, const matvar_t *v, const char *name)
{
    char *size = out->size[out->n];
    size_t used = 0;

    if (why_not(v) && !out->other[0])
        snprintf(out->other, sizeof out->other, "%s is %s", name, why_not(v));
    if (fbp_mat_type(v) == FBP_TYPE_NONE || v->rank < 2 || v->rank > 8 || out->n == MAX_NAMES ||
        (v->rank == 2 && (v->dims[0] < 2 || v->dims[1] < 2)))
        return;
    snprintf(out->name[out->n++], NAME, "%s", name);
    for (int i = 0; i < v->rank && used < 60; i++)
        used += (size_t)snprintf(size + used, 64 - used, "%s%zu", i ? " x " : "", v->dims[i]);
}

static void walk(struct names *out, matvar_t *v, const char *prefix, int depth)
{
    char name[NAME];

    if (!v || !v->name || depth > DEPTH ||
        snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] ? "." : "", v->name) >= NAME)
        return;
    if (v->class_type != MAT_C_STRUCT) {
        add(out, v, name);
        return;
    }
    char *const *fields = Mat_VarGetStructFieldnames(v);
    const unsigned n = Mat_VarGetNumberOfFields(v);
    for (unsigned i = 0; fields && i < n; i++)
        walk(out, fbp_mat_field(v, fields[i]), name, depth + 1);
}

/* free() them. */
static fbp_status list(mat_t *mat, struct names **all)
{
    struct names *out = NULL;
    matvar_t *v;

    FBP_TRY(fbp_calloc((void **)all, 1, sizeof *out, "names of arrays"));
    out = *all;
    fbp_mat_rewind(mat);
    while ((v = fbp_mat_next(mat))) {
        walk(out, v, "", 0);
        Mat_VarFree(v);
    }
    return FBP_OK;
}

static fbp_status missing(const struct names *all, const char *file, const char *member)
{
    const char *names[MAX_NAMES], *nearest;
    char known[900] = "";

    for (size_t i = 0; i < all->n; i++)
        names[i] = all->name[i];
    nearest = member && all->n ? fbp_nearest(member, names, all->n) : NULL;
    for (size_t i = 0; i < all->n && i < SHOWN; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%.60s (%s)", i ? ", " : "",
                 all->name[i], all->size[i]);
    if (!all->n && all->other[0])
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: %s: double, single and integers of 8 to 32 bits are read, full and "
                        "real: save it as single",
                        file, all->other);
    if (!member)
        return fbp_fail(FBP_ERR_INVALID, "%s: %s%s%s", file,
                        all->n ? "holds several arrays: name one as FILE:VARIABLE; it has "
                               : "holds no array of real numbers: is it the right file?",
                        known, all->n > SHOWN ? ", …" : "");
    return fbp_fail(FBP_ERR_INVALID, "%s: has no array \"%.80s\"%s%s%s: it has %s%s", file, member,
                    nearest ? ": did you mean \"" : "", nearest ? nearest : "",
                    nearest ? "\"?" : "", all->n ? known : "no array of real numbers",
                    all->n > SHOWN ? ", …" : "");
}

fbp_status fbp_mat_missing(mat_t *mat, const char *file, const char *member)
{
    struct names *all = NULL;

    FBP_TRY(list(mat, &all));
    const fbp_status st = missing(all, file, member);
    free(all);
    return st;
}

fbp_status fbp_mat_only(mat_t *mat, const char *file, char *out, size_t n)
{
    struct names *all = NULL;

    FBP_TRY(list(mat, &all));
    const fbp_status st = all->n == 1 ? FBP_OK : missing(all, file, NULL);
    if (st == FBP_OK)
        snprintf(out, n, "%s", all->name[0]);
    free(all);
    return st;
}

double fbp_mat_element(const matvar_t *v, size_t i)
{
    switch (v->class_type) {
    case MAT_C_DOUBLE:
        return ((const double *)v->data)[i];
    case MAT_C_SINGLE:
        return (double)((const float *)v->data)[i];
    case MAT_C_INT64:
        return (double)((const int64_t *)v->data)[i];
    case MAT_C_UINT64:
        return (double)((const uint64_t *)v->data)[i];
    case MAT_C_INT32:
        return ((const int32_t *)v->data)[i];
    case MAT_C_UINT32:
        return ((const uint32_t *)v->data)[i];
    case MAT_C_INT16:
        return ((const int16_t *)v->data)[i];
    case MAT_C_UINT16:
        return ((const uint16_t *)v->data)[i];
    case MAT_C_INT8:
        return ((const int8_t *)v->data)[i];
    case MAT_C_UINT8:
        return ((const uint8_t *)v->data)[i];
    default:
        return NAN;
    }
}

fbp_status fbp_mat_numbers(const char *path, const char *name, const matvar_t *v, double **out,
                           size_t *n)
{
    const size_t size = fbp_type_size(fbp_mat_type(v));

    *out = NULL;
    *n = size && v->data ? v->nbytes / size : 0;
    if (*n == 0 || v->data_size != (int)size)
        return fbp_fail(FBP_ERR_INVALID, "%s: %s: expected numbers, found none", path, name);
    FBP_TRY(fbp_calloc((void **)out, *n, sizeof **out, name));
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = fbp_mat_element(v, i);
    return FBP_OK;
}

bool fbp_mat_doubles(mat_t *mat, const char *name, double *out, size_t n)
{
    matvar_t *v = fbp_mat_read(mat, name);
    const bool there = v && v->class_type == MAT_C_DOUBLE && !v->isComplex && v->data &&
                       v->nbytes == n * sizeof *out;

    if (there)
        memcpy(out, v->data, n * sizeof *out);
    Mat_VarFree(v);
    return there;
}

void fbp_mat_text(mat_t *mat, const char *name, char *out, size_t n)
{
    matvar_t *v = fbp_mat_read(mat, name);
    const size_t size = v && v->class_type == MAT_C_CHAR && v->data ? (size_t)v->data_size : 0;
    size_t i = 0;

    for (; size > 0 && i + 1 < n && (i + 1) * size <= v->nbytes; i++)
        out[i] = ((const char *)v->data)[i * size];
    out[i] = '\0';
    Mat_VarFree(v);
}
