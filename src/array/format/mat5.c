/* Reader of MATLAB files of versions 5 to 7 (fbp_mat_open(), fbp_mat_read()): lists variables,
 * finds members of structs, and reads values, plain or zlib-compressed. mat.h describes its
 * functions.
 * Used by: array/format/, scan/format/. */
#include "array/file/bytes.h"
#include "array/format/mat.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { HEADER = 128, TAG = 8, CHUNK = 1 << 16, PIECE = 512, DEPTH = 64, MOST_ARRAYS = 1 << 16 };

struct fbp_mat {
    const char *path;
    int fd;
    uint64_t end;
    bool swap; /* the file has the other byte order */
    struct fbp_mat_array *v;
    uint64_t *at; /* [n] byte of each variable in the file */
    size_t n, room;
    size_t n_members; /* number of members of all structs, at most MOST_ARRAYS */
    /* The variable that is being read. */
    uint64_t variable; /* its first byte in the file */
    uint64_t next;     /* next byte of the file */
    uint64_t packed;   /* number of remaining compressed bytes from `next` on */
    bool inflating;
    z_stream z;
    unsigned char in[CHUNK], out[CHUNK], piece[8 * PIECE];
};

/* A data element of n bytes in a MATLAB file. Its 8-byte tag contains the data if they are short;
 * else they follow the tag, with padding. */
struct part {
    uint32_t type, n;
    uint64_t follow; /* number of bytes after the tag, with padding; 0: the data are in `inside` */
    unsigned char inside[4];
};

static fbp_status damaged(const struct fbp_mat *m, const char *what)
{
    return FBP_INVALID("%s: %s %llu; the file is truncated or damaged, copy it again", m->path,
                       what, (unsigned long long)m->variable);
}

/* ---- bytes of a MATLAB variable, uncompressed or inflated */

static const char not_inflated[] = "cannot decompress the variable at byte";

static fbp_status inflate_some(struct fbp_mat *m, int *code)
{
    if (m->z.avail_in == 0 && m->packed > 0) {
        const size_t n = m->packed < CHUNK ? (size_t)m->packed : CHUNK;
        FBP_TRY(fbp_read_at(m->fd, m->path, m->next, m->in, n));
        m->z.next_in = m->in;
        m->z.avail_in = (uInt)n;
        m->next += n;
        m->packed -= n;
    }
    *code = inflate(&m->z, Z_NO_FLUSH);
    if (*code == Z_MEM_ERROR)
        return fbp_fail_nomem(CHUNK, "zlib");
    return *code == Z_OK || *code == Z_STREAM_END ? FBP_OK : damaged(m, not_inflated);
}

/* Read the next n bytes of the variable that is being read; out NULL: skip them. */
static fbp_status get(struct fbp_mat *m, unsigned char *out, uint64_t n)
{
    int code = Z_OK;

    for (uint64_t done = 0; done < n;) {
        const size_t room = out && !m->inflating ? 16 * CHUNK : CHUNK;
        const size_t piece = n - done < room ? (size_t)(n - done) : room;
        FBP_TRY(fbp_check_cancelled());
        if (!m->inflating) {
            if (out)
                FBP_TRY(fbp_read_at(m->fd, m->path, m->next, out + done, piece));
            m->next += out ? piece : n;
            done += out ? piece : n;
            continue;
        }
        m->z.next_out = out ? out + done : m->out;
        m->z.avail_out = (uInt)piece;
        while (m->z.avail_out > 0) {
            if (code == Z_STREAM_END)
                return damaged(m, not_inflated);
            FBP_TRY(inflate_some(m, &code));
        }
        done += piece;
    }
    return FBP_OK;
}

static uint32_t number(const struct fbp_mat *m, const unsigned char *p)
{
    uint32_t x;

    memcpy(&x, p, sizeof x);
    return m->swap ? __builtin_bswap32(x) : x;
}

/* ---- values */

/* Size of a number or letter in the file, by its data type [bytes]; 0: none of these. */
static size_t stored_size(uint32_t type)
{
    static const unsigned char sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8, 0, 0, 1, 2, 4};

    return type < sizeof sizes ? sizes[type] : 0;
}

/* Data type of the values of an array in memory, by its class; 0: no class of numbers or text. */
static uint32_t own_type(unsigned class)
{
    static const unsigned char types[] = {
        [FBP_MX_CHAR] = FBP_MI_UINT16,   [FBP_MX_DOUBLE] = FBP_MI_DOUBLE,
        [FBP_MX_SINGLE] = FBP_MI_SINGLE, [FBP_MX_INT8] = FBP_MI_INT8,
        [FBP_MX_UINT8] = FBP_MI_UINT8,   [FBP_MX_INT16] = FBP_MI_INT16,
        [FBP_MX_UINT16] = FBP_MI_UINT16, [FBP_MX_INT32] = FBP_MI_INT32,
        [FBP_MX_UINT32] = FBP_MI_UINT32, [FBP_MX_INT64] = FBP_MI_INT64,
        [FBP_MX_UINT64] = FBP_MI_UINT64};

    return class < sizeof types ? types[class] : 0;
}

#define LOAD(T)                  \
    {                            \
        T v;                     \
        memcpy(&v, p, sizeof v); \
        return (double)v;        \
    }

/* Load a stored number as double; integers of magnitude above 2^53 may be rounded. */
static double load(uint32_t type, const unsigned char *p)
{
    switch (type) {
    case FBP_MI_INT8:
        LOAD(int8_t)
    case FBP_MI_UINT8:
    case FBP_MI_UTF8:
        LOAD(uint8_t)
    case FBP_MI_INT16:
        LOAD(int16_t)
    case FBP_MI_UINT16:
    case FBP_MI_UTF16:
        LOAD(uint16_t)
    case FBP_MI_INT32:
        LOAD(int32_t)
    case FBP_MI_UINT32:
    case FBP_MI_UTF32:
        LOAD(uint32_t)
    case FBP_MI_INT64:
        LOAD(int64_t)
    case FBP_MI_UINT64:
        LOAD(uint64_t)
    case FBP_MI_SINGLE:
        LOAD(float)
    default:
        LOAD(double)
    }
}

#define STORE(T, x)              \
    {                            \
        const T v = (T)(x);      \
        memcpy(p, &v, sizeof v); \
        return;                  \
    }

/* Store a number in the data type of an array's class. If the type is an integer, the number is
 * truncated and cast; NaN and magnitudes from 9e18 on become 0. */
static void store(uint32_t type, double x, unsigned char *p)
{
    const int64_t whole = x > -9e18 && x < 9e18 ? (int64_t)x : 0;

    switch (type) {
    case FBP_MI_INT8:
    case FBP_MI_UINT8:
        STORE(uint8_t, whole)
    case FBP_MI_INT16:
    case FBP_MI_UINT16:
        STORE(uint16_t, whole)
    case FBP_MI_INT32:
    case FBP_MI_UINT32:
        STORE(uint32_t, whole)
    case FBP_MI_INT64:
    case FBP_MI_UINT64:
        STORE(uint64_t, whole)
    case FBP_MI_SINGLE:
        STORE(float, x)
    default:
        STORE(double, x)
    }
}

/* ---- data elements. `left`: number of remaining bytes of the array that contains the element */

static fbp_status get_part(struct fbp_mat *m, uint64_t *left, struct part *p)
{
    unsigned char tag[TAG];

    if (*left < TAG)
        return damaged(m, "an element without a tag in the variable at byte");
    FBP_TRY(get(m, tag, TAG));
    *left -= TAG;
    const uint32_t first = number(m, tag);
    *p = (struct part){.type = first, .n = number(m, tag + 4)};
    if (first >> 16) {
        *p = (struct part){.type = first & 0xffff, .n = first >> 16};
        memcpy(p->inside, tag + 4, sizeof p->inside);
        return p->n <= 4 ? FBP_OK
                         : damaged(m, "an element that is too long in the variable at byte");
    }
    p->follow = ((uint64_t)p->n + 7) / 8 * 8;
    if (p->follow > *left) /* the last element may lack its padding */
        p->follow = p->n;
    return p->n <= *left ? FBP_OK : damaged(m, "an element beyond the end of the variable at byte");
}

static fbp_status skip(struct fbp_mat *m, uint64_t *left, uint64_t n)
{
    *left -= n;
    return get(m, NULL, n);
}

/* Read a name of n bytes; its first FBP_MAT_NAME - 1 bytes are stored in out[FBP_MAT_NAME]. */
static fbp_status get_name(struct fbp_mat *m, uint64_t *left, uint64_t n, char *out)
{
    unsigned char bytes[FBP_MAT_NAME] = {0};
    const uint64_t some = n < FBP_MAT_NAME - 1 ? n : FBP_MAT_NAME - 1;

    FBP_TRY(get(m, bytes, some));
    memcpy(out, bytes, sizeof bytes);
    *left -= some;
    return skip(m, left, n - some);
}

static fbp_status get_head(struct fbp_mat *m, uint64_t *left, struct fbp_mat_array *a)
{
    unsigned char bytes[4 * FBP_MAT_RANK];
    char name[FBP_MAT_NAME] = "";
    struct part p;

    FBP_TRY(get_part(m, left, &p));
    if (p.type != FBP_MI_UINT32 || p.follow != 8)
        return damaged(m, "an array without a class in the variable at byte");
    *left -= 8;
    FBP_TRY(get(m, bytes, 8));
    a->class = number(m, bytes) & 0xff;
    a->complex = number(m, bytes) & 0x800;
    /* the format of the rest of an opaque object is not documented */
    if (a->class == FBP_MX_OPAQUE || a->class == 0)
        return FBP_OK;
    FBP_TRY(get_part(m, left, &p));
    if (p.type != FBP_MI_INT32 || p.follow < 8 || p.follow > sizeof bytes)
        return damaged(m, "an array without sizes in the variable at byte");
    *left -= p.follow;
    FBP_TRY(get(m, bytes, p.follow));
    a->count = 1;
    a->rank = p.n / 4;
    for (size_t i = 0; i < a->rank; i++) {
        a->sizes[i] = number(m, bytes + 4 * i);
        if (__builtin_mul_overflow(a->count, (uint64_t)a->sizes[i], &a->count))
            a->count = UINT64_MAX;
    }
    FBP_TRY(get_part(m, left, &p));
    if (p.follow == 0)
        memcpy(name, p.inside, p.n);
    else
        FBP_TRY(get_name(m, left, p.n, name));
    if (a->name[0] == '\0') /* members of structs already have a name */
        memcpy(a->name, name, sizeof name);
    return p.follow == 0 ? FBP_OK : skip(m, left, p.follow - p.n);
}

/* Read an array's real parts; on a second call, its imaginary parts. values NULL: only check. */
static fbp_status get_part_of_array(struct fbp_mat *m, uint64_t *left, struct fbp_mat_array *a,
                                    void **values)
{
    const uint32_t own = own_type(a->class);
    struct part p = {0};
    size_t bytes = 0;

    if (*left >= TAG || a->count > 0)
        FBP_TRY(get_part(m, left, &p));
    const size_t size = stored_size(p.type);
    if (a->count > 0 && (size == 0 || p.n / size < a->count))
        return damaged(m, "an array without all its values in the variable at byte");
    if (!values || a->count == 0)
        return skip(m, left, p.follow);
    if (a->class == FBP_MX_CHAR) {
        /* text in UTF-8 may have more bytes than the sizes state */
        a->count = p.n / size;
        if (p.type == FBP_MI_INT8 || p.type == FBP_MI_INT16)
            p.type++; /* letters have no sign */
    }
    const size_t n = (size_t)a->count, own_size = stored_size(own);
    FBP_TRY(fbp_mul(n, own_size, "an array", &bytes));
    FBP_TRY(fbp_alloc(values, bytes, "an array"));
    unsigned char *out = *values;
    if (p.type == own && p.follow > 0) {
        FBP_TRY(get(m, out, (uint64_t)n * size));
        if (m->swap)
            fbp_swap_bytes(out, size, n);
    } else {
        for (size_t done = 0; done < n; done += PIECE) {
            const size_t some = n - done < PIECE ? n - done : PIECE;
            if (p.follow > 0)
                FBP_TRY(get(m, m->piece, some * size));
            else
                memcpy(m->piece, p.inside, sizeof p.inside);
            if (m->swap)
                fbp_swap_bytes(m->piece, size, some);
            for (size_t i = 0; i < some; i++)
                store(own, load(p.type, m->piece + i * size), out + (done + i) * own_size);
        }
    }
    if (p.follow == 0)
        return FBP_OK;
    *left -= a->count * size;
    return skip(m, left, p.follow - a->count * size);
}

/* Read the names of a struct's members, `length` bytes each, p->n bytes in total. */
static fbp_status get_members(struct fbp_mat *m, uint64_t *left, const struct part *p,
                              uint32_t length, struct fbp_mat_array *a)
{
    const size_t n = length ? p->n / length : 0;
    char inside[FBP_MAT_NAME] = "";

    if (n > MOST_ARRAYS - m->n_members)
        return FBP_UNSUPPORTED(
            "%s: its structs have more than %d members; save the needed arrays to a separate file",
            m->path, MOST_ARRAYS);
    m->n_members += n;
    FBP_TRY(fbp_calloc((void **)&a->fields, n, sizeof *a->fields, "members of a struct"));
    a->n_fields = n;
    memcpy(inside, p->inside, sizeof p->inside);
    for (size_t i = 0; i < n && p->follow == 0; i++)
        memcpy(a->fields[i].name, inside + i * length, length);
    for (size_t i = 0; i < n && p->follow > 0; i++)
        FBP_TRY(get_name(m, left, length, a->fields[i].name));
    return skip(m, left, p->follow - (p->follow ? (uint64_t)n * length : 0));
}

static fbp_status get_array(struct fbp_mat *m, uint64_t n, int depth, bool in_tree,
                            const char *requested, struct fbp_mat_array *a);

/* Read the elements of a cell array, or the members of a struct. in_tree: members of a struct of
 * one element are stored in a->fields. */
static fbp_status get_arrays(struct fbp_mat *m, uint64_t *n, // NOLINT(misc-no-recursion)
                             int depth, bool in_tree, const char *requested,
                             struct fbp_mat_array *a)
{
    const bool is_struct = a->class == FBP_MX_STRUCT, store = in_tree && is_struct && a->count == 1;
    uint64_t found = 0, each = is_struct ? 0 : 1;
    uint32_t length = 0;

    for (int i = 0; *n >= TAG; i++) {
        struct part p;
        FBP_TRY(get_part(m, n, &p));
        if (p.type == FBP_MI_MATRIX) {
            struct fbp_mat_array other = {.class = 0};
            const bool stored = found < a->n_fields;
            struct fbp_mat_array *member = stored ? &a->fields[found] : &other;
            const char *inner = stored ? requested : NULL;
            const size_t n_name = inner ? strcspn(inner, ".") : 0;
            if (n_name > 0) { /* If "a.b" is requested, only the member a is searched for "b". */
                const bool named =
                    strlen(member->name) == n_name && memcmp(inner, member->name, n_name) == 0;
                inner += n_name + (inner[n_name] == '.');
                inner = named ? inner : NULL;
            }
            FBP_TRY(get_array(m, p.n, depth + 1, stored, inner, member));
            found++;
            *n -= p.n;
            FBP_TRY(skip(m, n, p.follow - p.n));
        } else if (is_struct && i == 0 && p.n == 4) {
            unsigned char bytes[8];
            memcpy(bytes, p.inside, sizeof p.inside);
            *n -= p.follow;
            FBP_TRY(get(m, p.follow ? bytes : NULL, p.follow));
            length = number(m, bytes);
        } else if (is_struct && i == 1) {
            each = length ? p.n / length : 0;
            if (store)
                FBP_TRY(get_members(m, n, &p, length, a));
            else
                FBP_TRY(skip(m, n, p.follow));
        } else {
            FBP_TRY(skip(m, n, p.follow));
        }
    }
    return each == 0 || found / each >= a->count
               ? FBP_OK
               : damaged(m, "missing arrays in the variable at byte");
}

/* Read an array of n bytes. in_tree: members of a struct of one element are stored in a->fields.
 * requested: values to read; NULL: none, "": all, "a.b": only those of member b of member a. */
static fbp_status get_array(struct fbp_mat *m, uint64_t n, // NOLINT(misc-no-recursion)
                            int depth, bool in_tree, const char *requested, struct fbp_mat_array *a)
{
    if (depth > DEPTH)
        return FBP_INVALID("%s: too many levels of structs (more than %d) in the variable at byte "
                           "%llu; save the needed arrays to a separate file",
                           m->path, (int)DEPTH, (unsigned long long)m->variable);
    if (n > 0)
        FBP_TRY(get_head(m, &n, a));
    if (a->class == FBP_MX_CELL || a->class == FBP_MX_STRUCT) {
        FBP_TRY(get_arrays(m, &n, depth, in_tree, requested, a));
    } else if (own_type(a->class)) {
        const bool all = requested && !*requested;
        FBP_TRY(get_part_of_array(m, &n, a, all ? &a->real : NULL));
        if (a->complex)
            FBP_TRY(get_part_of_array(m, &n, a, all ? &a->imaginary : NULL));
    }
    return skip(m, &n, n);
}

/* ---- variables */

/* Read the variable at byte `at` of a MATLAB file; *next: byte of the next variable. A compressed
 * variable is a zlib stream of one array, whose checksum must be correct. */
static fbp_status get_variable(struct fbp_mat *m, uint64_t at, const char *requested,
                               struct fbp_mat_array *a, uint64_t *next)
{
    unsigned char tag[TAG];
    fbp_status st;
    int code = Z_OK;

    m->variable = at;
    if (m->end - at < TAG)
        return damaged(m, "an incomplete variable at byte");
    FBP_TRY(fbp_read_at(m->fd, m->path, at, tag, TAG));
    const uint32_t type = number(m, tag), n = number(m, tag + 4);
    if ((type != FBP_MI_MATRIX && type != FBP_MI_COMPRESSED) || n > m->end - at - TAG)
        return damaged(m, "an incomplete variable at byte");
    m->next = at + TAG;
    *next = at + TAG + n;
    if (type == FBP_MI_MATRIX)
        return get_array(m, n, 0, true, requested, a);

    m->z = (z_stream){0};
    if (inflateInit(&m->z) != Z_OK)
        return fbp_fail_nomem(CHUNK, "zlib");
    m->inflating = true;
    m->packed = n;
    FBP_TRY_GOTO(get(m, tag, TAG));
    if (number(m, tag) != FBP_MI_MATRIX)
        FBP_TRY_GOTO(damaged(m, "no array in the compressed variable at byte"));
    FBP_TRY_GOTO(get_array(m, number(m, tag + 4), 0, true, requested, a));
    while (code != Z_STREAM_END) {
        m->z.next_out = m->out;
        m->z.avail_out = CHUNK;
        FBP_TRY_GOTO(inflate_some(m, &code));
    }
fail:
    m->inflating = false;
    inflateEnd(&m->z);
    return st;
}

bool fbp_mat_detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    if (n < HEADER)
        return false;
    const unsigned char *end = head + 124; /* version and byte order */
    return memcmp(end, "\0\1IM", 4) == 0 || memcmp(end, "\1\0MI", 4) == 0;
}

fbp_status fbp_mat_is_hdf5(const char *path, bool *is)
{
    static const char magic[] = "MATLAB 7.3 MAT-file";
    char head[sizeof magic - 1] = "";
    size_t n = 0;

    FBP_TRY(fbp_read_head(path, head, sizeof head, &n));
    *is = n == sizeof head && memcmp(head, magic, sizeof head) == 0;
    return FBP_OK;
}

fbp_status fbp_mat_open(const char *path, struct fbp_mat **out)
{
    unsigned char head[HEADER] = {0};
    struct fbp_mat *m = NULL;
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&m, 1, sizeof *m, "a MAT file"));
    m->path = path;
    m->fd = -1;
    FBP_TRY_GOTO(fbp_open_file(path, &m->fd, &m->end));
    FBP_TRY_GOTO(fbp_read_at(m->fd, path, 0, head, m->end < HEADER ? m->end : HEADER));
    /* MATLAB files of version 4 begin with five integers: type (four decimal digits, the second of
     * which is 0), rows, columns, 1 if complex, length of the name. */
    for (int swap = 0; swap < 2; swap++) {
        m->swap = swap;
        const uint32_t type = number(m, head), complex = number(m, head + 12);
        const uint32_t length = number(m, head + 16);
        if (type < 5000 && type / 100 % 10 == 0 && type / 10 % 10 < 6 && type % 10 < 3 &&
            complex < 2 && length > 0 && length < 256 && 20 + length <= m->end)
            FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: is a MAT file of version 4, which is not supported; "
                                         "save it by save -v7 (scipy: format='5')",
                                         path));
    }
    if (m->end < HEADER)
        FBP_TRY_GOTO(FBP_INVALID("%s: is too short for a MAT file; copy it again", path));
    m->swap = fbp_is_foreign(head[126] == 'M');

    /* All variables. */
    for (uint64_t at = HEADER; at < m->end;) {
        size_t room = m->room;
        if (m->n >= MOST_ARRAYS)
            FBP_TRY_GOTO(FBP_UNSUPPORTED(
                "%s: has more than %d variables; save the needed variables to a separate file",
                path, MOST_ARRAYS));
        FBP_TRY_GOTO(fbp_reserve((void **)&m->v, sizeof *m->v, m->n + 1, &room, "variables"));
        FBP_TRY_GOTO(fbp_reserve((void **)&m->at, sizeof *m->at, m->n + 1, &m->room, "variables"));
        struct fbp_mat_array *a = &m->v[m->n];
        *a = (struct fbp_mat_array){.class = 0};
        m->at[m->n++] = at;
        FBP_TRY_GOTO(get_variable(m, at, NULL, a, &at));
    }
    m->variable = HEADER;
    if (m->end == HEADER)
        FBP_TRY_GOTO(damaged(m, "no variable at byte"));
    *out = m;
    return FBP_OK;
fail:
    fbp_mat_close(m);
    return st;
}

/* Free the contents of an array and of its members, at most DEPTH levels deep. */
static void clear(struct fbp_mat_array *a) // NOLINT(misc-no-recursion)
{
    for (size_t i = 0; i < a->n_fields; i++)
        clear(&a->fields[i]);
    free(a->fields);
    fbp_free(a->real);
    fbp_free(a->imaginary);
    *a = (struct fbp_mat_array){.class = 0};
}

void fbp_mat_free(struct fbp_mat_array *array)
{
    if (array)
        clear(array);
    free(array);
}

void fbp_mat_close(struct fbp_mat *mat)
{
    if (!mat)
        return;
    for (size_t i = 0; i < mat->n; i++)
        clear(&mat->v[i]);
    free(mat->v);
    free(mat->at);
    if (mat->fd >= 0)
        close(mat->fd);
    free(mat);
}

const struct fbp_mat_array *fbp_mat_list(const struct fbp_mat *mat, size_t *n)
{
    *n = mat->n;
    return mat->v;
}

/* Find the member of a struct by a path such as ".a.b"; path "": the struct itself. */
static struct fbp_mat_array *below(struct fbp_mat_array *a, const char *path)
{
    while (a && *path == '.') {
        const size_t n = strcspn(++path, ".");
        struct fbp_mat_array *member = NULL;
        for (size_t i = 0; i < a->n_fields && !member; i++)
            if (strlen(a->fields[i].name) == n && memcmp(a->fields[i].name, path, n) == 0)
                member = &a->fields[i];
        a = member;
        path += n;
    }
    return a;
}

/* Find a variable by the name before the first '.' of a path, and its member by the names after it.
 * *variable: index of the variable. */
static struct fbp_mat_array *find(const struct fbp_mat *m, const char *path, size_t *variable)
{
    const size_t n = strcspn(path, ".");

    for (size_t i = 0; i < m->n; i++)
        if (strlen(m->v[i].name) == n && memcmp(m->v[i].name, path, n) == 0) {
            *variable = i;
            return below(&m->v[i], path + n);
        }
    return NULL;
}

const struct fbp_mat_array *fbp_mat_find(const struct fbp_mat *mat, const char *member)
{
    size_t i;

    return find(mat, member, &i);
}

fbp_status fbp_mat_read(struct fbp_mat *mat, const char *member, struct fbp_mat_array **out)
{
    const char *path = member + strcspn(member, ".");
    struct fbp_mat_array *top = NULL;
    uint64_t next;
    size_t i;

    *out = NULL;
    if (!find(mat, member, &i))
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&top, 1, sizeof *top, "an array"));
    mat->n_members = 0;
    const fbp_status st = get_variable(mat, mat->at[i], *path ? path + 1 : "", top, &next);
    struct fbp_mat_array *found = st == FBP_OK ? below(top, path) : NULL;
    if (found && found != top) {
        struct fbp_mat_array array = *found;
        *found = (struct fbp_mat_array){.class = 0};
        clear(top);
        *top = array;
    }
    if (found)
        *out = top;
    else
        fbp_mat_free(top);
    return st;
}

/* ---- contents of an array */

const struct fbp_mat_array *fbp_mat_field(const struct fbp_mat_array *parent, const char *name)
{
    for (size_t i = 0; parent && i < parent->n_fields; i++)
        if (strcmp(parent->fields[i].name, name) == 0)
            return &parent->fields[i];
    return NULL;
}

enum fbp_type fbp_mat_type(const struct fbp_mat_array *array)
{
    static const enum fbp_type types[] = {
        [FBP_MX_DOUBLE] = FBP_F64, [FBP_MX_SINGLE] = FBP_F32, [FBP_MX_INT8] = FBP_I8,
        [FBP_MX_UINT8] = FBP_U8,   [FBP_MX_INT16] = FBP_I16,  [FBP_MX_UINT16] = FBP_U16,
        [FBP_MX_INT32] = FBP_I32,  [FBP_MX_UINT32] = FBP_U32};

    return array && array->class < sizeof types / sizeof *types ? types[array->class]
                                                                : FBP_TYPE_NONE;
}

double fbp_mat_element(const struct fbp_mat_array *array, size_t i)
{
    const uint32_t type = array->class == FBP_MX_CHAR ? 0 : own_type(array->class);

    return type ? load(type, (const unsigned char *)array->real + i * stored_size(type)) : NAN;
}

fbp_status fbp_mat_numbers(const char *path, const char *name, const struct fbp_mat_array *array,
                           double **out, size_t *n)
{
    const bool real = fbp_mat_type(array) != FBP_TYPE_NONE && !array->complex;

    *out = NULL;
    *n = real && array->real ? (size_t)array->count : 0;
    if (*n == 0)
        return FBP_INVALID("%s: %s: expected real numbers, found none; correct the file", path,
                           name);
    FBP_TRY(fbp_calloc((void **)out, *n, sizeof **out, name));
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = fbp_mat_element(array, i);
    return FBP_OK;
}

void fbp_mat_text_of(const struct fbp_mat_array *array, char *out, size_t n)
{
    const uint16_t *letters = array && array->class == FBP_MX_CHAR ? array->real : NULL;
    size_t i = 0;

    for (; letters && i + 1 < n && i < array->count; i++)
        out[i] = (char)letters[i];
    out[i] = '\0';
}

fbp_status fbp_mat_doubles(struct fbp_mat *mat, const char *name, double *out, size_t n,
                           bool *found)
{
    struct fbp_mat_array *a;

    FBP_TRY(fbp_mat_read(mat, name, &a));
    *found = a && a->class == FBP_MX_DOUBLE && !a->complex && a->real && a->count == n;
    if (*found)
        memcpy(out, a->real, n * sizeof *out);
    fbp_mat_free(a);
    return FBP_OK;
}

fbp_status fbp_mat_text(struct fbp_mat *mat, const char *name, char *out, size_t n)
{
    struct fbp_mat_array *a;

    FBP_TRY(fbp_mat_read(mat, name, &a));
    fbp_mat_text_of(a, out, n);
    fbp_mat_free(a);
    return FBP_OK;
}
