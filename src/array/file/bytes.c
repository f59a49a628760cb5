/* Reads and writes byte ranges and text files, swaps bytes, converts samples to float and double,
 * prints and parses numbers independently of the locale, and computes and checks sizes of arrays
 * (fbp_array_bytes()); bytes.h describes the functions.
 * Used by: bench/, array/, phantom/, pipeline/, scan/. */
#include "array/file/bytes.h"
#include "base/text.h"
#include "base/threads.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files */

/* Greatest number of bytes per call: a cancelled run need not wait long for a slow disk. */
static size_t at_once(size_t n)
{
    return n < 16 << 20 ? n : 16 << 20;
}

fbp_status fbp_read_most(int fd, const char *path, uint64_t offset, void *out, size_t n,
                         size_t *got)
{
    ssize_t some = 0;

    for (*got = 0; *got < n; *got += (size_t)some) {
        FBP_TRY(fbp_check_cancelled());
        some = pread(fd, (char *)out + *got, at_once(n - *got), (off_t)(offset + *got));
        if (some == 0)
            break;
        if (some < 0 && errno != EINTR)
            return fbp_fail(FBP_ERR_IO,
                            "%s: cannot read at byte %llu: %s; check the disk, or the network",
                            path, (unsigned long long)offset + *got, strerror(errno));
        some = some < 0 ? 0 : some;
    }
    return FBP_OK;
}

fbp_status fbp_read_at(int fd, const char *path, uint64_t offset, void *out, size_t n)
{
    size_t got = 0;

    FBP_TRY(fbp_read_most(fd, path, offset, out, n, &got));
    if (got == n)
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO,
                    "%s: the file ends at byte %llu, but %llu bytes are needed; the file is "
                    "truncated, copy it again",
                    path, (unsigned long long)offset + got, (unsigned long long)offset + n);
}

int fbp_output_length(const char *path)
{
    const char *at = NULL;

    for (const char *p = path; (p = strstr(p, ".part")); p++)
        at = p[5] == '\0' || p[5] == '.' ? p : at;
    return (int)(at ? (size_t)(at - path) : strlen(path));
}

fbp_status fbp_fail_write(const char *path, int error, uint64_t bytes)
{
    const int n = fbp_output_length(path);
    char size[32];

    if (error == EFBIG)
        return fbp_fail(
            FBP_ERR_IO,
            "%.*s: cannot write: a file of %s is too large for this file system (FAT allows 4 GiB "
            "per file) or for the limit of this process (ulimit -f); write to another file system, "
            "raise the limit, or write one file per slice, such as out/%%04d.tif",
            n, path, bytes ? fbp_bytes_text(size, sizeof size, bytes) : "that size");
    return fbp_fail(
        FBP_ERR_IO, "%.*s: cannot write: %s%s", n, path, strerror(error),
        error == ENOSPC || error == EDQUOT ? "; free some space, or write to another disk" : "");
}

fbp_status fbp_fail_status(const char *path)
{
    return fbp_fail(FBP_ERR_IO, "%s: the status of this file cannot be read: %s; check the path",
                    path, strerror(errno));
}

fbp_status fbp_fail_list(const char *path)
{
    return fbp_fail(FBP_ERR_IO,
                    "%s: the folder of this file cannot be listed: %s; make it readable", path,
                    strerror(errno));
}

fbp_status fbp_write_at(int fd, const char *path, uint64_t offset, const void *data, size_t n)
{
    size_t done = 0;

    while (done < n) {
        FBP_TRY(fbp_check_cancelled());
        const ssize_t put =
            pwrite(fd, (const char *)data + done, at_once(n - done), (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return fbp_fail_write(path, put < 0 ? errno : ENOSPC, offset + n);
        done += (size_t)put;
    }
    return FBP_OK;
}

fbp_status fbp_append(int fd, const char *path, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t put = write(fd, text, left);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return fbp_fail_write(path, put < 0 ? errno : ENOSPC, 0);
        text += put;
        left -= (size_t)put;
    }
    return FBP_OK;
}

fbp_status fbp_open_file(const char *path, int *fd, uint64_t *size)
{
    struct stat st;

    /* O_NONBLOCK: opening a named pipe does not wait for its writer; the pipe is then refused. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, &st) < 0) {
        const int error = errno;
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        return fbp_fail(FBP_ERR_IO, "%s: cannot open: %s", path, strerror(error));
    }
    if (!S_ISREG(st.st_mode)) {
        close(*fd);
        *fd = -1;
        return fbp_fail(
            FBP_ERR_IO, "%s: not a regular file; name a file on disk%s", path,
            S_ISDIR(st.st_mode)
                ? ", or name one file per view by a pattern, such as \"views/%04d.mha 1 360\""
                : "");
    }
    *size = (uint64_t)st.st_size;
    return FBP_OK;
}

uint64_t fbp_file_bytes(int fd)
{
    const off_t end = lseek(fd, 0, SEEK_END);

    return end < 0 ? 0 : (uint64_t)end;
}

static bool is_missing(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP;
}

fbp_status fbp_read_head(const char *path, void *head, size_t n, size_t *got)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    fbp_status status = FBP_OK;
    struct stat st;

    *got = 0;
    if (fd < 0)
        return is_missing(errno)
                   ? FBP_OK
                   : fbp_fail(FBP_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(fd, &st) != 0) {
        status = fbp_fail(FBP_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
        /* a pipe is not read, because another reader would not get these bytes */
    } else if (S_ISREG(st.st_mode)) {
        *got = (uint64_t)st.st_size < n ? (size_t)st.st_size : n;
        status = fbp_read_at(fd, path, 0, head, *got);
    }
    close(fd);
    return status;
}

fbp_status fbp_stat(const char *path, struct stat *out, bool *there)
{
    *there = stat(path, out) == 0;
    if (*there || is_missing(errno))
        return FBP_OK;
    return fbp_fail_status(path);
}

bool fbp_is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

fbp_status fbp_file_exists(const char *path, bool *there)
{
    *there = path && access(path, F_OK) == 0;
    FBP_TRY(fbp_check_path(path));
    if (*there || is_missing(errno) || errno == EACCES)
        return FBP_OK;
    return fbp_fail_status(path);
}

fbp_status fbp_read_open_text(int fd, const char *path, size_t max_bytes, char **text, size_t *n)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF"; /* UTF-8 */
    char limit[32];
    struct stat is;

    *text = NULL;
    if (fstat(fd, &is) < 0)
        return fbp_fail_status(path);
    if ((uint64_t)is.st_size > max_bytes)
        return FBP_INVALID("%s: has %llu bytes, too many for a text file of this kind "
                           "(at most %s); check the file name",
                           path, (unsigned long long)is.st_size,
                           fbp_bytes_text(limit, sizeof limit, max_bytes));
    *n = (size_t)is.st_size;
    FBP_TRY(fbp_calloc((void **)text, *n + 1, 1, "a text file"));
    fbp_status st = fbp_read_at(fd, path, 0, *text, *n);
    if (st == FBP_OK && (strncmp(*text, "\xFF\xFE", 2) == 0 || strncmp(*text, "\xFE\xFF", 2) == 0))
        st = FBP_UNSUPPORTED("%s: is encoded in UTF-16; save it as UTF-8", path);
    if (st != FBP_OK) {
        free(*text);
        *text = NULL;
        return st;
    }
    if (strncmp(*text, byte_order_mark, 3) == 0) {
        *n -= 3;
        memmove(*text, *text + 3, *n + 1);
    }
    return FBP_OK;
}

fbp_status fbp_read_text(const char *path, size_t max_bytes, char **text, size_t *n)
{
    uint64_t size = 0;
    int fd = -1;

    *text = NULL;
    FBP_TRY(fbp_open_file(path, &fd, &size));
    const fbp_status st = fbp_read_open_text(fd, path, max_bytes, text, n);
    close(fd);
    return st;
}

/* ---- numbers as text */

static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double fbp_number(const char *text, char **end)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale ? strtod_l(text, end, c_locale) : strtod(text, end);
}

char *fbp_number_text(char buf[32], double x)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, 32, "%.*g", digits, x);
        const double again = strtod(buf, NULL);
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): compare bits, -0 is not 0 */
        if (memcmp(&again, &x, sizeof x) == 0)
            break;
    }
    for (char *p = buf; *p; p++)
        if (*p == ',')
            *p = '.';
    return buf;
}

char *fbp_triple_text(char *buf, size_t n, const char *between, const double x[3])
{
    char text[3][32];

    snprintf(buf, n, "%s%s%s%s%s", fbp_number_text(text[0], x[0]), between,
             fbp_number_text(text[1], x[1]), between, fbp_number_text(text[2], x[2]));
    return buf;
}

bool fbp_parse_integer(const char *value, long long *out)
{
    char *end = NULL;

    errno = 0;
    *out = strtoll(value, &end, 10);
    return end != value && !*end && !errno;
}

bool fbp_parse_numbers(const char *value, size_t most, double *out, bool finite, size_t *n)
{
    *n = 0;
    while (*value) {
        char *end = NULL;
        const double x = fbp_number(value, &end);
        if (end == value || *n == most || (*end && !isblank((unsigned char)*end)) ||
            (finite && !isfinite(x)))
            return false;
        out[(*n)++] = x;
        value = end + strspn(end, " \t");
    }
    return *n > 0;
}

bool fbp_parse_sizes(const char *value, size_t most, size_t *out, size_t *n)
{
    *n = 0;
    while (*value) {
        char *end = NULL;
        errno = 0;
        const unsigned long long x = strtoull(value, &end, 10);
        if (!isdigit((unsigned char)*value) || errno || *n == most || x > SIZE_MAX)
            return false;
        out[(*n)++] = (size_t)x;
        value = end + strspn(end, " \t");
    }
    return *n > 0;
}

double fbp_length_unit_mm(const char *unit, size_t n)
{
    static const struct {
        const char *names; /* each between blanks */
        double mm;
    } table[] = {
        {" mm millimeter millimeters ", 1},
        {" m meter ", 1e3},
        {" cm centimeter ", 10},
        /* Names of the micrometre with both Unicode letters mu, with ImageJ's escape for mu, and
           with mu in Latin-1. */
        {" um micron microns micrometer \xc2\xb5m \xce\xbcm \\u00B5m \xb5m ", 1e-3},
        {" nm nanometer ", 1e-6},
        {" angstrom ", 1e-7},
        {" inch ", 25.4},
    };
    char word[32];

    if (n == 0 || n + 3 > sizeof word || memchr(unit, ' ', n))
        return 0;
    snprintf(word, sizeof word, " %.*s ", (int)n, unit);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strstr(table[i].names, word))
            return table[i].mm;
    return 0;
}

/* ---- samples in memory */

bool fbp_is_foreign(bool big_endian)
{
    return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

#define FBP_SWAP(T, SWAP)                            \
    for (size_t i = 0; i < n; i++, p += sizeof(T)) { \
        T x;                                         \
        memcpy(&x, p, sizeof x);                     \
        x = SWAP(x);                                 \
        memcpy(p, &x, sizeof x);                     \
    }

void fbp_swap_bytes(void *data, size_t size, size_t n)
{
    unsigned char *p = data;

    if (size == 2)
        FBP_SWAP(uint16_t, __builtin_bswap16)
    else if (size == 4)
        FBP_SWAP(uint32_t, __builtin_bswap32)
    else if (size == 8)
        FBP_SWAP(uint64_t, __builtin_bswap64)
}

/* Run the macro DO(T) with the C type T of the samples; nothing for FBP_TYPE_NONE. */
#define FBP_BY_TYPE(type, DO) \
    switch (type) {           \
    case FBP_U8:              \
        DO(uint8_t);          \
    case FBP_I8:              \
        DO(int8_t);           \
    case FBP_U16:             \
        DO(uint16_t);         \
    case FBP_I16:             \
        DO(int16_t);          \
    case FBP_U32:             \
        DO(uint32_t);         \
    case FBP_I32:             \
        DO(int32_t);          \
    case FBP_F32:             \
        DO(float);            \
    case FBP_F64:             \
        DO(double);           \
    case FBP_TYPE_NONE:       \
        break;                \
    }

#define FBP_CONVERT(T, VALUE)                                  \
    for (size_t i = 0; i < n; i++) {                           \
        T x;                                                   \
        memcpy(&x, (const char *)in + i * sizeof x, sizeof x); \
        out[i] = (float)(VALUE);                               \
    }                                                          \
    break

#define FBP_AS_IT_IS(T) FBP_CONVERT(T, x)
#define FBP_SCALED(T)   FBP_CONVERT(T, scale *(double)x + offset)

void fbp_to_float(enum fbp_type type, double scale, double offset, const void *in, size_t n,
                  float *out)
{
    if (scale == 0)
        FBP_BY_TYPE(type, FBP_AS_IT_IS)
    else
        FBP_BY_TYPE(type, FBP_SCALED)
}

/* Converts n samples of C type T from `in` to doubles in `out`. If the two arrays overlap, they
 * must end at the same byte: each sample is then read before a double overwrites it. */
#define FBP_DOUBLE(T)                                                             \
    for (size_t i = 0; i < n; i++) {                                              \
        T x;                                                                      \
        memcpy(&x, (const char *)in + i * sizeof x, sizeof x);                    \
        const double value = scale == 0 ? (double)x : scale * (double)x + offset; \
        memcpy((char *)out + i * sizeof value, &value, sizeof value);             \
    }                                                                             \
    break

void fbp_to_double(enum fbp_type type, double scale, double offset, const void *in, size_t n,
                   double *out){FBP_BY_TYPE(type, FBP_DOUBLE)}

fbp_status fbp_array_bytes(const char *path, const struct fbp_array_info *info, uint64_t *bytes)
{
    uint64_t total = 1;

    for (int i = 0; i < 3; i++) {
        if (info->n[i] == 0)
            return FBP_INVALID("%s: the size is %zu x %zu x %zu, but no size may be 0; correct the "
                               "size, or the file's header",
                               path, info->n[0], info->n[1], info->n[2]);
        if (__builtin_mul_overflow(total, (uint64_t)info->n[i], &total) || total > INT64_MAX / 16)
            return FBP_INVALID("%s: the size is %zu x %zu x %zu, too many elements for any file; "
                               "correct the size, or copy the file again if its header is damaged",
                               path, info->n[0], info->n[1], info->n[2]);
    }
    *bytes = total * fbp_type_size(info->type);
    return FBP_OK;
}
