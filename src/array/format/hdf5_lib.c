/* Calls of the HDF5 library that several readers of HDF5 files share: running them in a child
 * process (fbp_hdf5_contain()), error messages, opening files, listing data sets, reading
 * attributes and short lists of numbers. hdf5.h describes the functions.
 * Used by: array/format/, scan/format/. */
#include "array/file/bytes.h"
#include "array/format/hdf5.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "the HDF5 library"

const struct fbp_sandbox_limits fbp_hdf5_limits = {.memory_bytes = (uint64_t)1 << 30,
                                                   .seconds = 60};

/* ---- errors of the HDF5 library, which only one thread at a time calls */

/* text of errno of the first failed read or write inside the library; "": none failed */
static char system_error[80];
static bool no_memory; /* the library could not allocate something */
static bool leave_open;

static herr_t innermost(unsigned n, const H5E_error2_t *error, void *out)
{
    if (n == 0 && error->desc)
        snprintf(out, 160, "%s", error->desc);
    return 0;
}

const char *fbp_hdf5_reason(char *buf, size_t n)
{
    char text[160] = "";

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, text);
    if (system_error[0])
        snprintf(buf, n, ": %s", system_error);
    else
        snprintf(buf, n, "%s%s", text[0] ? ", the HDF5 library reports: " : "", text);
    return buf;
}

/* Whether a read or write inside the library failed (system_error). Errors that mean a missing or
 * inaccessible file do not count, because the library causes them when it tries possible targets of
 * links. */
bool fbp_hdf5_system_failed(void)
{
    static const int harmless[] = {ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG};

    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strcmp(system_error, strerror(harmless[i])) == 0)
            return false;
    return system_error[0] != '\0';
}

/* Examine one entry of the HDF5 library's error stack. *found is set to true if memory was missing;
 * the text of the first failed system call is recorded in system_error. */
static herr_t examine(unsigned n, const H5E_error2_t *error, void *found)
{
    /* Parts of error texts that mean missing memory. The last one may be all that the library
     * reports if it could not allocate an entry in its table of identifiers. */
    static const char *const signs[] = {"alloc", "memory", "can't find object for ID"};
    /* precedes the reason, as in "file write failed: …, error message = 'No space left …'" */
    static const char key[] = "error message = '";
    const char *from = error->desc ? strstr(error->desc, key) : NULL;

    (void)n;
    if (error->maj_num == H5E_RESOURCE &&
        (error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC))
        *(bool *)found = true;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        *(bool *)found |= error->desc && strstr(error->desc, signs[i]);
    if (from && !system_error[0]) {
        from += sizeof key - 1;
        snprintf(system_error, sizeof system_error, "%.*s", (int)strcspn(from, "'"), from);
    }
    return 0;
}

/* Error callback, which the HDF5 library calls when one of its functions fails. */
static herr_t on_error(hid_t stack, void *data)
{
    (void)data;
    return H5Ewalk2(stack, H5E_WALK_UPWARD, examine, &no_memory);
}

/* ---- entering the library */

/* List the identifiers of all open HDF5 files, data sets, groups, types; false: out of memory. */
static bool list_open(hid_t **ids, size_t *n)
{
    const ssize_t count = H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL);

    *n = 0;
    *ids = count > 0 ? calloc((size_t)count, sizeof **ids) : NULL;
    const ssize_t got =
        *ids ? H5Fget_obj_ids((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL, (size_t)count, *ids) : count;
    if (*ids && got > 0)
        *n = (size_t)got;
    return *ids ? got >= 0 : count == 0;
}

void fbp_hdf5_leave_open(void)
{
    leave_open = true;
}

struct entry {
    fbp_sandbox_fn *fn;
    void *arg;
    const char *path;
};

static fbp_status enter(void *arg, struct fbp_blob *reply)
{
    const struct entry *e = arg;
    H5E_auto2_t old = NULL;
    void *old_data = NULL;
    hid_t *before, *now = NULL;
    size_t n, n_now = 0;

    system_error[0] = '\0';
    leave_open = false;
    (void)H5Eget_auto2(H5E_DEFAULT, &old, &old_data);
    no_memory = H5Eset_auto2(H5E_DEFAULT, on_error, NULL) < 0; /* the library may fail to start */
    const bool listed = list_open(&before, &n);
    const fbp_status st = no_memory ? FBP_ERR_NOMEM : e->fn(e->arg, reply);
    if (listed && !leave_open)
        (void)list_open(&now, &n_now);
    /* close HDF5 objects that e->fn() has left open, for example after an error */
    for (size_t i = n_now; i-- > 0;) {
        bool known = false;
        for (size_t k = 0; k < n && !known; k++)
            known = before[k] == now[i];
        if (!known)
            H5Idec_ref(now[i]);
    }
    free(now);
    free(before);
    (void)H5Eset_auto2(H5E_DEFAULT, old, old_data);
    const bool reported = st != FBP_OK && strstr(fbp_message(), system_error);
    const bool lost = fbp_hdf5_system_failed() && strcmp(system_error, strerror(ENOMEM)) != 0;
    if (lost ? reported : !no_memory)
        return st;
    fbp_message_clear();
    if (lost) /* e->fn() may have missed a data set */
        return fbp_fail(FBP_ERR_IO, "%s: cannot be read: %s", e->path, system_error);
    return fbp_fail(FBP_ERR_NOMEM, "%s: " LIBRARY " has not enough memory; close other programs",
                    e->path);
}

fbp_status fbp_hdf5_contain(const char *path, const struct fbp_sandbox_limits *limits,
                            fbp_sandbox_fn *fn, void *arg, struct fbp_blob *reply)
{
    struct entry e = {fn, arg, path};

    return fbp_sandbox_run(path, LIBRARY, limits, enter, &e, reply);
}

/* ---- opening */

/* Callback of the HDF5 library for external links: refuses a target that exists, beside the linking
 * file or in the current folder, but is no regular file, because opening a pipe would wait for its
 * writer. */
static herr_t check_link(const char *parent, const char *group, const char *file,
                         const char *object, unsigned *flags, hid_t access, void *user)
{
    const char *slash = strrchr(parent, '/');
    char path[2048];
    struct stat is;

    (void)group, (void)object, (void)flags, (void)access, (void)user;
    for (int beside = 0; beside < 2; beside++) {
        const int n = beside && slash && *file != '/' ? (int)(slash - parent + 1) : 0;
        snprintf(path, sizeof path, "%.*s%s", n, parent, file);
        if (stat(path, &is) == 0 && !S_ISREG(is.st_mode))
            return -1;
    }
    return 0;
}

hid_t fbp_hdf5_access(void)
{
    static hid_t list;

    if (list <= 0 || H5Iis_valid(list) <= 0) {
        list = H5Pcreate(H5P_DATASET_ACCESS);
        H5Pset_elink_cb(list, check_link, NULL);
    }
    return list;
}

void fbp_hdf5_no_locks(hid_t access)
{
#if H5_VERSION_GE(1, 10, 7) && !(H5_VERS_MINOR == 12 && H5_VERS_RELEASE == 0)
    H5Pset_file_locking(access, false, true);
#else
    (void)access;
#endif
}

hid_t fbp_hdf5_open_file(const char *file)
{
    /* created only once, because H5Pcreate() clears the reason of the library's last failure */
    static hid_t access;

    if (access <= 0 || H5Iis_valid(access) <= 0) {
        access = H5Pcreate(H5P_FILE_ACCESS);
        fbp_hdf5_no_locks(access);
    }
    return H5Fopen(file, H5F_ACC_RDONLY, access);
}

fbp_status fbp_hdf5_open(const char *file, const char *name, hid_t *out)
{
    char why[200];
    uint64_t size;
    int fd;

    /* if the file is a pipe, the HDF5 library would wait for its writer */
    FBP_TRY(fbp_open_file(file, &fd, &size));
    close(fd);
    *out = fbp_hdf5_open_file(file);
    if (*out >= 0)
        return FBP_OK;
    if (fbp_hdf5_system_failed())
        return fbp_fail(FBP_ERR_IO, "%s: cannot be read: %s", name, system_error);
    fbp_hdf5_reason(why, sizeof why);
    return FBP_INVALID("%s: cannot be opened as HDF5%s; the file is truncated, damaged or still "
                       "being written%s; copy it again",
                       name, why, *why ? "" : ", or there was not enough memory");
}

hid_t fbp_hdf5_type(enum fbp_type type)
{
    const hid_t table[] = {
        [FBP_U8] = H5T_STD_U8LE,    [FBP_I8] = H5T_STD_I8LE,   [FBP_U16] = H5T_STD_U16LE,
        [FBP_I16] = H5T_STD_I16LE,  [FBP_U32] = H5T_STD_U32LE, [FBP_I32] = H5T_STD_I32LE,
        [FBP_F32] = H5T_IEEE_F32LE, [FBP_F64] = H5T_IEEE_F64LE};

    return table[type];
}

/* ---- The list of data sets of a file: first those behind hard links, each once, then those behind
 * soft and external links. A group is not entered again through a link inside it. The numbers of
 * data sets, groups and levels are limited. */

enum { MAX_ENTRIES = 4096, MAX_GROUPS = 16384, MAX_DEPTH = 64, SHOWN = 8 };

struct object {
    unsigned long file;
    haddr_t at;
};

struct walk {
    struct fbp_hdf5_list *list;
    struct object *sets;             /* [n] identity of each of list->entries */
    struct object groups[MAX_DEPTH]; /* groups from the root to the current one */
    int depth;
    size_t n_groups;          /* number of entered groups */
    bool follow;              /* soft and external links are followed */
    bool linked;              /* the current group was reached through a soft or external link */
    char path[FBP_HDF5_PATH]; /* of the current group; "": root */
    bool no_memory;           /* the list is incomplete */
};

static bool is_same(const struct object *a, const struct object *b)
{
    return a->file == b->file && a->at == b->at;
}

/* Whether an HDF5 type is an integer, a float, or an enumeration of integers. */
static bool is_numeric(hid_t type)
{
    const H5T_class_t c = H5Tget_class(type);

    return c == H5T_INTEGER || c == H5T_FLOAT || c == H5T_ENUM;
}

/* Print " (a link to raw.h5:/data)" to out[n] if the object `name` of a group is a soft or external
 * link, else "". */
static void describe_link(hid_t group, const char *name, const H5L_info_t *info, char *out,
                          size_t n)
{
    char value[1024] = "";
    const char *file = NULL, *object = value;
    unsigned flags = 0;

    out[0] = '\0';
    if (info->type == H5L_TYPE_HARD || info->u.val_size > sizeof value ||
        H5Lget_val(group, name, value, sizeof value, H5P_DEFAULT) < 0)
        return;
    if (info->type == H5L_TYPE_EXTERNAL &&
        H5Lunpack_elink_val(value, info->u.val_size, &flags, &file, &object) < 0)
        return;
    snprintf(out, n, " (a link to %.120s%s%.80s)", file ? file : "", file ? ":" : "", object);
}

void fbp_hdf5_link(hid_t file, const char *path, char *out, size_t n)
{
    H5L_info_t info;

    out[0] = '\0';
    if (H5Lget_info(file, path, &info, fbp_hdf5_access()) >= 0)
        describe_link(file, path, &info, out, n);
}

void fbp_hdf5_unread(const char *path, const char *link, const char *why, char *out, size_t n)
{
    unsigned v[3] = {0};

    H5get_libversion(&v[0], &v[1], &v[2]);
    if (link[0])
        snprintf(out, n,
                 "%.100s%.230s cannot be opened%.200s; restore the file that the link names", path,
                 link, why);
    else
        snprintf(
            out, n,
            "%.100s cannot be opened%s; it is damaged, or needs a newer HDF5 than %u.%u.%u; copy "
            "it again, or write it for older versions (h5py: libver=('earliest', 'v110'))",
            path, why, v[0], v[1], v[2]);
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *info, void *user);

/* Visit all links of a group, unless it was reached through itself, or lies too deep; returns 1 if
 * the limit on the number of groups or data sets is reached. */
static herr_t enter_group(struct walk *w, hid_t group, const char *path, const struct object *o)
{
    const size_t n = strlen(w->path);
    herr_t done;

    for (int i = 0; i < w->depth; i++)
        if (is_same(&w->groups[i], o))
            return 0;
    if (w->depth == MAX_DEPTH || ++w->n_groups > MAX_GROUPS)
        return w->n_groups > MAX_GROUPS;
    w->groups[w->depth++] = *o;
    snprintf(w->path, sizeof w->path, "%s", path);
    done = H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, w);
    w->path[n] = '\0';
    w->depth--;
    return done;
}

/* Open the object behind a link of a group: add a data set to the list, visit a group. Returns 1 if
 * the limit on groups or data sets is reached. The object stays open, because the library then
 * keeps the number of its file, which identifies it. */
static herr_t take(struct walk *w, hid_t group, const char *name, const char *path,
                   const H5L_info_t *info)
{
    const hid_t object = H5Oopen(group, name, fbp_hdf5_access());
    struct fbp_hdf5_list *list = w->list;
    struct fbp_hdf5_entry e = {.linked = w->linked};
    hsize_t n[H5S_MAX_RANK];
    H5O_info_t about;

    if (object < 0 || H5Oget_info2(object, &about, H5O_INFO_BASIC) < 0) {
        char why[200], link[260];
        fbp_hdf5_reason(why, sizeof why);
        if (!list->unread[0]) { /* only the first failure is reported */
            describe_link(group, name, info, link, sizeof link);
            fbp_hdf5_unread(path, link, why, list->unread, sizeof list->unread);
        }
        return 0;
    }
    const struct object o = {about.fileno, about.addr};
    if (about.type != H5O_TYPE_DATASET)
        return about.type == H5O_TYPE_GROUP ? enter_group(w, object, path, &o) : 0;

    for (size_t i = 0; i < list->n && !e.again; i++)
        e.again = is_same(&w->sets[i], &o);
    if (e.again && !w->linked)
        return 0; /* found by an earlier link or pass */
    if (list->n == MAX_ENTRIES)
        return 1;
    if (list->n == list->room) {
        const size_t room = 2 * list->room + 16;
        void *entries = realloc(list->entries, room * sizeof *list->entries);
        list->entries = entries ? entries : list->entries;
        void *sets = entries ? realloc(w->sets, room * sizeof *w->sets) : NULL;
        w->no_memory |= !sets;
        if (!sets)
            return 1;
        w->sets = sets;
        list->room = room;
    }
    snprintf(e.path, sizeof e.path, "%s", path);
    const hid_t space = H5Dget_space(object), type = H5Dget_type(object);
    e.rank = space >= 0 ? H5Sget_simple_extent_dims(space, n, NULL) : -1;
    for (int i = 0; i < e.rank && i < FBP_HDF5_RANK; i++)
        e.n[i] = n[i];
    e.numeric = type >= 0 && is_numeric(type);
    H5Tclose(type);
    H5Sclose(space);
    w->sets[list->n] = o;
    list->entries[list->n++] = e;
    return 0;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    struct walk *w = user;
    char path[FBP_HDF5_PATH];
    const bool hard = info->type == H5L_TYPE_HARD;

    if (snprintf(path, sizeof path, "%s/%s", w->path, name) >= (int)sizeof path ||
        (!hard && info->type != H5L_TYPE_SOFT && info->type != H5L_TYPE_EXTERNAL))
        return 0;
    if (!hard && !w->follow)
        return 0;
    const bool linked = w->linked;
    w->linked |= !hard;
    const herr_t done = take(w, group, name, path, info);
    w->linked = linked;
    return done;
}

fbp_status fbp_hdf5_list(hid_t file, const char *name, struct fbp_hdf5_list *out)
{
    struct walk *w;
    H5O_info_t root;
    char why[200];

    *out = (struct fbp_hdf5_list){0};
    FBP_TRY(fbp_calloc((void **)&w, 1, sizeof *w, "a list of data sets"));
    w->list = out;
    const hid_t top = H5Oopen(file, "/", H5P_DEFAULT);
    bool read = top >= 0 && H5Oget_info2(top, &root, H5O_INFO_BASIC) >= 0;
    for (int pass = 0; read && pass < 2; pass++) { /* pass 1 also follows soft and external links */
        w->follow = pass == 1;
        w->n_groups = 0;
        read = enter_group(w, top, "", &(struct object){root.fileno, root.addr}) >= 0;
    }
    const bool incomplete = w->no_memory;
    free(w->sets);
    free(w);
    if (incomplete)
        return fbp_fail_nomem(out->room * sizeof *out->entries, "a list of data sets");
    if (read)
        return FBP_OK;
    return FBP_INVALID("%s: its groups cannot be read%s; the file may be damaged, copy it again",
                       name, fbp_hdf5_reason(why, sizeof why));
}

const struct fbp_hdf5_entry *fbp_hdf5_find(const struct fbp_hdf5_list *list, const char *path)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->entries[i].path + (path[0] != '/'), path) == 0)
            return &list->entries[i];
    return NULL;
}

const struct fbp_hdf5_entry *fbp_hdf5_nearest(const struct fbp_hdf5_list *list, const char *name,
                                              const char *to, hsize_t n)
{
    const struct fbp_hdf5_entry *best = NULL;
    const size_t tail = strlen(name) + 1;
    size_t most = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct fbp_hdf5_entry *e = &list->entries[i];
        const size_t length = strlen(e->path);
        size_t common = 0;
        if (!e->numeric || length < tail || e->path[length - tail] != '/' ||
            strcmp(e->path + length - tail + 1, name) != 0 ||
            (n > 0 && (e->rank != 1 || e->n[0] != n)))
            continue;
        while (e->path[common] && e->path[common] == to[common])
            common++;
        if (!best || common > most) {
            best = e;
            most = common;
        }
    }
    return best;
}

fbp_status fbp_hdf5_missing(const char *file, const char *member, const struct fbp_hdf5_list *list)
{
    const char **names = NULL, *nearest;
    char known[700] = "";
    size_t n = 0, n_names = 0;

    FBP_TRY(fbp_calloc((void **)&names, MAX_ENTRIES, sizeof *names, "names of data sets"));
    for (size_t i = 0; i < list->n; i++) {
        const struct fbp_hdf5_entry *e = &list->entries[i];
        if (!e->numeric || e->rank < 2)
            continue;
        names[n_names++] = e->path;
        if (e->again || ++n > SHOWN)
            continue;
        /* "/exchange/data (181 x 2 x 640)" */
        size_t used = strlen(known);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%.80s (", n == 1 ? "" : ", ",
                                 e->path);
        for (int k = 0; k < e->rank && k < FBP_HDF5_RANK && used < sizeof known; k++)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%llu", k ? " x " : "",
                                     (unsigned long long)e->n[k]);
        if (used < sizeof known)
            snprintf(known + used, sizeof known - used, ")");
    }
    nearest = member ? fbp_nearest(member, names, n_names) : NULL;
    free(names);
    if (!n && list->unread[0])
        return FBP_INVALID("%s: %s", file, list->unread);
    if (!member)
        return FBP_INVALID(
            "%s: %s%s%s%s", file,
            n ? "contains several data sets; name one as FILE:DATASET; the data sets are "
              : "contains no array of numbers of two or more dimensions",
            known, n > SHOWN ? ", …" : "", n ? "" : "; check the file name");
    return FBP_INVALID(
        "%s: has no data set \"%.80s\"%s%s%s; the file has %s%s", file, member,
        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "",
        n ? known : "no array of numbers of two or more dimensions", n > SHOWN ? ", …" : "");
}

/* ---- short lists of numbers, and attributes */

fbp_status fbp_hdf5_numbers(hid_t file, const char *name, const char *path, size_t most,
                            double **out, size_t *n)
{
    const hid_t data = H5Dopen2(file, path, fbp_hdf5_access()), space = H5Dget_space(data);
    const hid_t type = H5Dget_type(data);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    char why[200];
    fbp_status st = FBP_OK;
    bool fits = false;

    *out = NULL;
    *n = 0;
    if (count <= 0 || (size_t)count > most || !is_numeric(type))
        FBP_TRY_GOTO(FBP_INVALID(
            "%s: %s: expected 1 to %zu numbers, found %lld elements%s; correct the file", name,
            path, most, (long long)count, is_numeric(type) ? "" : " that are no numbers"));
    FBP_TRY_GOTO(fbp_hdf5_check_block(data, name, NULL, NULL, SIZE_MAX, &fits));
    if (!fits)
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_IO,
                              "%s: %s is stored in more files than this process may open; raise "
                              "the limit of open files (ulimit -n)",
                              name, path));
    FBP_TRY_GOTO(fbp_calloc((void **)out, (size_t)count, sizeof **out, path));
    if (H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0) {
        st = FBP_INVALID("%s: %s cannot be read%s; the file may be damaged, so copy it again, or "
                         "install the HDF5 filter that it needs",
                         name, path, fbp_hdf5_reason(why, sizeof why));
        free(*out);
        *out = NULL;
        goto fail;
    }
    *n = (size_t)count;
fail:
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(data);
    return st;
}

fbp_status fbp_hdf5_keys(hid_t file, const char *name, const char *path,
                         const struct fbp_hdf5_list *list, double **out, size_t *n)
{
    enum { MAX_FRAMES = 1 << 24 };
    char control[FBP_HDF5_PATH + 16];
    double *finer = NULL;
    size_t n_finer = 0;

    snprintf(control, sizeof control, "%s_control", path);
    FBP_TRY(fbp_hdf5_numbers(file, name, path, MAX_FRAMES, out, n));
    if (!fbp_hdf5_find(list, control))
        return FBP_OK;
    fbp_status st = fbp_hdf5_numbers(file, name, control, MAX_FRAMES, &finer, &n_finer);
    if (st == FBP_OK && n_finer != *n)
        st = FBP_INVALID("%s: %s has %zu entries, but %s has %zu; correct the file", name, control,
                         n_finer, path, *n);
    for (size_t i = 0; st == FBP_OK && i < *n; i++)
        if ((*out)[i] >= 0 && (*out)[i] <= 0)
            (*out)[i] = finer[i];
    free(finer);
    if (st != FBP_OK) {
        free(*out);
        *out = NULL;
    }
    return st;
}

bool fbp_hdf5_text_of(hid_t object, const char *attribute, char *out, size_t n)
{
    const bool has = attribute && H5Aexists(object, attribute) > 0;
    const hid_t a = has ? H5Aopen(object, attribute, H5P_DEFAULT) : -1;
    const hid_t type = a >= 0 ? H5Aget_type(a) : attribute ? -1 : H5Dget_type(object);
    const hid_t space = a >= 0 ? H5Aget_space(a) : attribute ? -1 : H5Dget_space(object);
    const hid_t memory = H5Tcopy(H5T_C_S1);
    char fixed[256] = "", *variable = NULL;
    bool found = false;

    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) {
        const bool is_variable = H5Tis_variable_str(type) > 0;
        H5Tset_size(memory, is_variable ? H5T_VARIABLE : sizeof fixed);
        H5Tset_cset(memory, H5Tget_cset(type));
        void *to = is_variable ? (void *)&variable : fixed;
        found = (attribute ? H5Aread(a, memory, to)
                           : H5Dread(object, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, to)) >= 0;
        fixed[sizeof fixed - 1] = '\0';
        if (found && (variable || !is_variable))
            snprintf(out, n, "%s", is_variable ? variable : fixed);
        H5free_memory(variable);
    }
    H5Tclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(a);
    return found;
}

bool fbp_hdf5_numbers_of(hid_t object, const char *attribute, double *out, size_t n)
{
    const hid_t a = H5Aexists(object, attribute) > 0 ? H5Aopen(object, attribute, H5P_DEFAULT) : -1;
    const hid_t type = a >= 0 ? H5Aget_type(a) : -1, space = a >= 0 ? H5Aget_space(a) : -1;
    const bool found = type >= 0 && is_numeric(type) &&
                       H5Sget_simple_extent_npoints(space) == (hssize_t)n &&
                       H5Aread(a, H5T_NATIVE_DOUBLE, out) >= 0;

    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(a);
    return found;
}
