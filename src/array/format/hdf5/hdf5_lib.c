#include "array/format/hdf5/hdf5_lib.h"

#include "array/file/bytes.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const size_t MAX_FRAMES = (size_t)1 << 24;

const struct fbp_child_limits fbp_hdf5_limits = {.memory_bytes = (uint64_t)1 << 30, .seconds = 60};

/* At 0, or at 512, 1024, 2048 … behind a user block. */
bool fbp_hdf5_detect(const char *path, const unsigned char *head, size_t n)
{
    static const unsigned char magic[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

    (void)path;
    for (size_t at = 0; at + sizeof magic <= n; at = at ? 2 * at : 512)
        if (memcmp(head + at, magic, sizeof magic) == 0)
            return true;
    return false;
}

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

/* In the child: the library could not allocate something. */
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

struct entry {
    fbp_contained_fn *fn;
    void *arg;
    const char *path;
};

static fbp_status enter(void *arg, struct fbp_blob *reply)
{
    const struct entry *e = arg;

    system_error[0] = '\0';
    no_memory = H5Eset_auto2(H5E_DEFAULT, on_error, NULL) < 0; /* the library's own beginning */
    const fbp_status st = no_memory ? FBP_ERR_NOMEM : e->fn(e->arg, reply);
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

fbp_status fbp_hdf5_is_matlab(const char *path, bool *is)
{
    static const char magic[] = "MATLAB 7.3 MAT-file";
    char head[sizeof magic - 1] = "";
    size_t n = 0;

    FBP_TRY(fbp_read_head(path, head, sizeof head, &n));
    *is = n == sizeof head && memcmp(head, magic, sizeof head) == 0;
    return FBP_OK;
}

fbp_status fbp_hdf5_open(const char *file, const char *name, hid_t *out)
{
    char why[200];
    uint64_t size;
    int fd;

    FBP_TRY(fbp_open_file(file, &fd, &size)); /* the library would wait for a pipe's writer */
    close(fd);
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0); /* file systems without locks; we only read */
    *out = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (*out >= 0)
        return FBP_OK;
    fbp_hdf5_reason(why, sizeof why);
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: cannot be opened as HDF5%s: the file is truncated, damaged or still being "
                    "written%s: copy it again",
                    name, why, *why ? "" : ", or there was not enough memory");
}

fbp_status fbp_hdf5_numbers(hid_t file, const char *name, const char *path, size_t most,
                            double **out, size_t *n)
{
    const hid_t data = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(data);
    const hid_t type = H5Dget_type(data);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    char why[200];
    fbp_status st = FBP_OK;

    *out = NULL;
    *n = 0;
    if (count <= 0 || (size_t)count > most || !fbp_hdf5_is_numeric(type))
        st = fbp_fail(FBP_ERR_INVALID, "%s: %s: expected 1 to %zu numbers, found %lld of them",
                      name, path, most, (long long)count);
    if (st == FBP_OK)
        st = fbp_hdf5_check_virtual(data, name, NULL, NULL, NULL);
    if (st == FBP_OK)
        st = fbp_calloc((void **)out, (size_t)count, sizeof **out, path);
    if (st == FBP_OK && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0) {
        st = fbp_fail(FBP_ERR_INVALID, "%s: %s cannot be read%s: the file is damaged", name, path,
                      fbp_hdf5_reason(why, sizeof why));
        free(*out);
        *out = NULL;
    }
    if (st == FBP_OK)
        *n = (size_t)count;
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(data);
    return st;
}

fbp_status fbp_hdf5_keys(hid_t file, const char *name, const char *path,
                         const struct fbp_hdf5_list *list, double **out, size_t *n)
{
    char control[FBP_HDF5_PATH + 16];
    double *finer = NULL;
    size_t n_finer = 0;

    snprintf(control, sizeof control, "%s_control", path);
    FBP_TRY(fbp_hdf5_numbers(file, name, path, MAX_FRAMES, out, n));
    if (!fbp_hdf5_find(list, control))
        return FBP_OK;
    fbp_status st = fbp_hdf5_numbers(file, name, control, MAX_FRAMES, &finer, &n_finer);
    if (st == FBP_OK && n_finer != *n)
        st = fbp_fail(FBP_ERR_INVALID, "%s: %s has %zu entries, %s %zu: correct the file", name,
                      control, n_finer, path, *n);
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
    const hid_t a = H5Aexists(object, attribute) > 0 ? H5Aopen(object, attribute, H5P_DEFAULT) : -1;
    const hid_t type = a >= 0 ? H5Aget_type(a) : -1, space = a >= 0 ? H5Aget_space(a) : -1;
    const hid_t memory = H5Tcopy(H5T_C_S1);
    char fixed[256] = "", *variable = NULL;
    bool found = false;

    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) {
        const bool is_variable = H5Tis_variable_str(type) > 0;
        H5Tset_size(memory, is_variable ? H5T_VARIABLE : sizeof fixed);
        H5Tset_cset(memory, H5Tget_cset(type));
        found = H5Aread(a, memory, is_variable ? (void *)&variable : fixed) >= 0;
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
    const bool found = type >= 0 && fbp_hdf5_is_numeric(type) &&
                       H5Sget_simple_extent_npoints(space) == (hssize_t)n &&
                       H5Aread(a, H5T_NATIVE_DOUBLE, out) >= 0;

    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(a);
    return found;
}
