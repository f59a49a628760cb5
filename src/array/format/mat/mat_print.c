#include "array/format/mat/mat_print.h"

#include "base/hash.h"

#include <string.h>

size_t fbp_mat_stored_size(uint32_t type)
{
    static const unsigned char sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8, 0, 0, 1, 2, 4};

    return type < sizeof sizes ? sizes[type] : 0;
}

/* The type that values of a class are converted to; text has 16 bits a letter here. */
static uint32_t own_type(unsigned class)
{
    static const unsigned char types[] = {[FBP_MX_CHAR] = FBP_MI_UINT16,
                                          [FBP_MX_DOUBLE] = FBP_MI_DOUBLE,
                                          FBP_MI_SINGLE,
                                          FBP_MI_INT8,
                                          FBP_MI_UINT8,
                                          FBP_MI_INT16,
                                          FBP_MI_UINT16,
                                          FBP_MI_INT32,
                                          FBP_MI_UINT32,
                                          FBP_MI_INT64,
                                          FBP_MI_UINT64};

    return types[class];
}

/* A number of any type; integers also exactly. */
struct element {
    double x;
    int64_t i;
    bool whole;
};

#define LOAD(T, is_whole)                                         \
    {                                                             \
        T v;                                                      \
        memcpy(&v, p, sizeof v);                                  \
        return (struct element){(double)v, (int64_t)v, is_whole}; \
    }
#define LOAD_REAL(T)                                  \
    {                                                 \
        T v;                                          \
        memcpy(&v, p, sizeof v);                      \
        return (struct element){(double)v, 0, false}; \
    }

static struct element load(uint32_t type, const unsigned char *p)
{
    switch (type) {
    case FBP_MI_INT8:
        LOAD(int8_t, true)
    case FBP_MI_UINT8:
    case FBP_MI_UTF8:
        LOAD(uint8_t, true)
    case FBP_MI_INT16:
        LOAD(int16_t, true)
    case FBP_MI_UINT16:
    case FBP_MI_UTF16:
        LOAD(uint16_t, true)
    case FBP_MI_INT32:
        LOAD(int32_t, true)
    case FBP_MI_UINT32:
    case FBP_MI_UTF32:
        LOAD(uint32_t, true)
    case FBP_MI_INT64:
        LOAD(int64_t, true)
    case FBP_MI_UINT64:
        LOAD(uint64_t, true)
    case FBP_MI_SINGLE:
        LOAD_REAL(float)
    default:
        LOAD_REAL(double)
    }
}

#define STORE(T)                               \
    {                                          \
        const T v = e.whole ? (T)e.i : (T)e.x; \
        memcpy(p, &v, sizeof v);               \
        return;                                \
    }

/* As a cast does; a real number that an integer cannot be is 0. */
static void store(uint32_t type, struct element e, unsigned char *p)
{
    if (!e.whole && type != FBP_MI_SINGLE && type != FBP_MI_DOUBLE && !(e.x > -9e18 && e.x < 9e18))
        e.x = 0;
    if (!e.whole && type != FBP_MI_SINGLE && type != FBP_MI_DOUBLE)
        e = (struct element){0, (int64_t)e.x, true};
    switch (type) {
    case FBP_MI_INT8:
    case FBP_MI_UINT8:
        STORE(uint8_t)
    case FBP_MI_INT16:
    case FBP_MI_UINT16:
        STORE(uint16_t)
    case FBP_MI_INT32:
    case FBP_MI_UINT32:
        STORE(uint32_t)
    case FBP_MI_INT64:
    case FBP_MI_UINT64:
        STORE(uint64_t)
    case FBP_MI_SINGLE:
        STORE(float)
    default:
        STORE(double)
    }
}

static void turn_bytes(unsigned char *p, size_t n, size_t size)
{
    for (size_t i = 0; size > 1 && i < n; i++, p += size)
        for (size_t k = 0; k < size / 2; k++) {
            const unsigned char byte = p[k];
            p[k] = p[size - 1 - k];
            p[size - 1 - k] = byte;
        }
}

uint64_t fbp_mat_print_none(uint64_t print)
{
    return fbp_hash(print, "none", 4);
}

uint64_t fbp_mat_print_array(uint64_t print, unsigned class, bool complex, const uint64_t *sizes,
                             size_t rank)
{
    const uint64_t head[2] = {class, complex};

    print = fbp_hash(print, head, sizeof head);
    return fbp_hash(print, sizes, rank * sizeof *sizes);
}

uint64_t fbp_mat_print_values(uint64_t print, unsigned class, uint32_t type, bool swap,
                              const unsigned char *in, size_t n)
{
    unsigned char from[FBP_MAT_PIECE * 8], to[FBP_MAT_PIECE * 8];
    const uint32_t own = own_type(class);
    const size_t size = fbp_mat_stored_size(type), own_size = fbp_mat_stored_size(own);

    if (class == FBP_MX_CHAR && (type == FBP_MI_INT8 || type == FBP_MI_INT16))
        type++; /* letters have no sign */
    if (swap) {
        memcpy(from, in, n * size);
        turn_bytes(from, n, size);
        in = from;
    }
    if (type == own)
        return fbp_hash(print, in, n * size);
    for (size_t i = 0; i < n; i++)
        store(own, load(type, in + i * size), to + i * own_size);
    return fbp_hash(print, to, n * own_size);
}

/* Values that matio has converted; text has letters of some size. */
static bool print_part(const matvar_t *v, const void *part, size_t count, uint64_t *print)
{
    static const uint32_t letters[] = {0, FBP_MI_UINT8, FBP_MI_UINT16, 0, FBP_MI_UINT32};
    const unsigned class = (unsigned)v->class_type;
    const size_t size = v->data_size > 0 ? (size_t)v->data_size : 0;
    const unsigned char *at = part;

    if (count == 0)
        return true;
    const uint32_t type = class != FBP_MX_CHAR                        ? own_type(class)
                          : size < sizeof letters / sizeof letters[0] ? letters[size]
                                                                      : 0;
    if (!part || !type || !size || size != fbp_mat_stored_size(type) || v->nbytes / size < count)
        return false;
    for (size_t done = 0; done < count; done += FBP_MAT_PIECE, at += FBP_MAT_PIECE * size)
        *print = fbp_mat_print_values(*print, class, type, false, at,
                                      count - done < FBP_MAT_PIECE ? count - done : FBP_MAT_PIECE);
    return true;
}

static bool print_members(const matvar_t *v, uint64_t *print) // NOLINT(misc-no-recursion)
{
    const size_t n = v->data_size > 0 ? v->nbytes / (size_t)v->data_size : 0;

    if (n > 0 && (!v->data || (v->class_type == MAT_C_STRUCT && !Mat_VarGetStructFieldnames(v))))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!fbp_mat_print_of(((matvar_t **)v->data)[i], print))
            return false;
    return true;
}

bool fbp_mat_print_of(const matvar_t *v, uint64_t *print) // NOLINT(misc-no-recursion)
{
    const mat_complex_split_t *parts = v && v->isComplex ? v->data : NULL;
    uint64_t sizes[32], count = 1;

    if (!v)
        return false;
    const unsigned class = (unsigned)v->class_type;
    if (class == 0) {
        *print = fbp_mat_print_none(*print);
        return true;
    }
    if (class != FBP_MX_CELL && class != FBP_MX_STRUCT && !fbp_mat_has_values(class)) {
        *print = fbp_mat_print_array(*print, class, false, NULL, 0);
        return true;
    }
    if (v->rank < 0 || v->rank > 32 || (v->rank > 0 && !v->dims))
        return false;
    for (int i = 0; i < v->rank; i++)
        count *= sizes[i] = v->dims[i];
    *print = fbp_mat_print_array(*print, class, v->isComplex && fbp_mat_has_values(class), sizes,
                                 (size_t)v->rank);
    if (!fbp_mat_has_values(class))
        return print_members(v, print);
    if (!v->isComplex)
        return print_part(v, v->data, count, print);
    return count == 0 || (parts && print_part(v, parts->Re, count, print) &&
                          print_part(v, parts->Im, count, print));
}
