#include "array/format/hdf5/hdf5_lib.h"

#include "array/file/bytes.h"

#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct fbp_child_limits fbp_hdf5_limits = {.memory_bytes = (uint64_t)1 << 30, .seconds = 60};

/* The system's words in what the library tells of a failed read or write. */
static char system_error[80];

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
        snprintf(buf, n, "%s%s", text[0] ? ", the library says: " : "", text);
    return buf;
}

/* Did a call of the system's fail that should not have?  A file that is not there is one that a
 * link leads to. */
bool fbp_hdf5_system_failed(void)
{
    static const int harmless[] = {ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG};

    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strcmp(system_error, strerror(harmless[i])) == 0)
            return false;
    return system_error[0] != '\0';
}

/* "file write failed: time = …, error message = 'No space left on device', buf = …" */
static void look_for_system(const char *text)
{
    static const char key[] = "error message = '";
    const char *from = text ? strstr(text, key) : NULL;

    if (!from || system_error[0])
        return;
    from += sizeof key - 1;
    snprintf(system_error, sizeof system_error, "%.*s", (int)strcspn(from, "'"), from);
}

/* The library could not allocate something. */
static bool no_memory;

static herr_t look_for_memory(unsigned n, const H5E_error2_t *error, void *found)
{
    /* Where it forgets to say so, its own tables lack what it has just put into them. */
    static const char *const signs[] = {"alloc", "memory", "can't find object for ID"};

    (void)n;
    if (error->maj_num == H5E_RESOURCE &&
        (error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC))
        *(bool *)found = true;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        *(bool *)found |= error->desc && strstr(error->desc, signs[i]);
    look_for_system(error->desc);
    return 0;
}

/* The library calls this where one of its functions fails. */
static herr_t on_error(hid_t stack, void *data)
{
    (void)data;
    return H5Ewalk2(stack, H5E_WALK_UPWARD, look_for_memory, &no_memory);
}

/* Identifiers of open files, data sets, groups and types; false: there is no memory for them. */
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

/* Close what a call has left open, such as a damaged file: all but the `n` identifiers of before. */
static void close_others(const hid_t *before, size_t n)
{
    hid_t *now;
    size_t n_now;

    (void)list_open(&now, &n_now);
    for (size_t i = n_now; i-- > 0;) {
        bool known = false;
        for (size_t k = 0; k < n && !known; k++)
            known = before[k] == now[i];
        if (!known)
            H5Idec_ref(now[i]);
    }
    free(now);
}

static bool leave_open;

void fbp_hdf5_leave_open(void)
{
    leave_open = true;
}

struct entry {
    fbp_contained_fn *fn;
    void *arg;
    const char *path;
};

static fbp_status enter(void *arg, struct fbp_blob *reply)
{
    const struct entry *e = arg;
    H5E_auto2_t old = NULL;
    void *old_data = NULL;
    hid_t *before;

    system_error[0] = '\0';
    leave_open = false;
    (void)H5Eget_auto2(H5E_DEFAULT, &old, &old_data);
    no_memory = H5Eset_auto2(H5E_DEFAULT, on_error, NULL) < 0; /* it may fail to initialize */
    size_t n;
    const bool listed = list_open(&before, &n);
    const fbp_status st = no_memory ? FBP_ERR_NOMEM : e->fn(e->arg, reply);
    if (listed && !leave_open)
        close_others(before, n);
    free(before);
    (void)H5Eset_auto2(H5E_DEFAULT, old, old_data);
    const bool told = st != FBP_OK && strstr(fbp_message(), system_error);
    const bool lost = fbp_hdf5_system_failed() && strcmp(system_error, strerror(ENOMEM)) != 0;
    if (lost ? told : !no_memory)
        return st;
    fbp_message_clear();
    if (lost) /* what it did not find may be there */
        return fbp_fail(FBP_ERR_IO, "%s: cannot be read: %s", e->path, system_error);
    return fbp_fail(FBP_ERR_NOMEM,
                    "%s: " FBP_HDF5_NAME " has not enough memory for it: close other programs",
                    e->path);
}

fbp_status fbp_hdf5_contain(const char *path, const struct fbp_child_limits *limits,
                            fbp_contained_fn *fn, void *arg, struct fbp_blob *reply)
{
    struct entry e = {fn, arg, path};

    return fbp_contain(path, FBP_HDF5_NAME, limits, enter, &e, reply);
}

/* Beside the file, or from the current directory: the library would wait for a pipe's writer. */
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
    static hid_t access; /* it stays: another call would clear the reason of a failure */

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

    FBP_TRY(fbp_open_file(file, &fd, &size)); /* the library would wait for a pipe's writer */
    close(fd);
    *out = fbp_hdf5_open_file(file);
    if (*out >= 0)
        return FBP_OK;
    if (fbp_hdf5_system_failed())
        return fbp_fail(FBP_ERR_IO, "%s: cannot be read: %s", name, system_error);
    fbp_hdf5_reason(why, sizeof why);
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: cannot be opened as HDF5%s: the file is truncated, damaged or still being "
                    "written%s: copy it again",
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
