/* A MAT file looked through before matio sees it, which takes what is left of a truncated file and
 * does not compare checksums, and takes sizes at their word: every variable must be there, every
 * compressed one inflate to its end, every array of numbers have as many as its sizes say.
 * Layout: MAT-File Format, The MathWorks, 1999 to 2023. */
#include "array/file/bytes.h"
#include "array/format/mat/mat_print.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { HEADER = 128, TAG = 8, CHUNK = 1 << 16, MOST_SIZES = 32, DEPTH = 64 };

/* A part of an array: a type, n bytes, and how many follow the tag. */
struct part {
    uint32_t type, n;
    uint64_t follow;
    unsigned char inside[4]; /* of a short one */
};

/* The beginning of an array. */
struct head {
    unsigned class;
    bool complex;
    uint64_t count; /* elements as its sizes say; UINT64_MAX: more than can be */
    uint64_t sizes[MOST_SIZES];
    size_t rank;
    char name[FBP_MAT_NAME_ROOM];
};

struct walker {
    const char *path;
    int fd;
    uint64_t at, end; /* of the variable, of the file */
    uint64_t next;    /* byte of the file that comes next */
    uint64_t packed;  /* bytes from there on that are to be inflated */
    bool big_endian, inflating;
    struct fbp_mat_list *list; /* what is found */
    uint64_t print;            /* of the variable, if the list has prints */
    z_stream z;
    unsigned char in[CHUNK], out[CHUNK];
};

static uint32_t number(const struct walker *w, const unsigned char *p)
{
    uint32_t x;

    memcpy(&x, p, sizeof x);
    return fbp_is_foreign(w->big_endian) ? __builtin_bswap32(x) : x;
}

static fbp_status damaged(const struct walker *w, const char *what)
{
    return fbp_fail(FBP_ERR_INVALID, "%s: %s %llu: the file is truncated or damaged, copy it again",
                    w->path, what, (unsigned long long)w->at);
}

/* ---- bytes of a variable, plain or inflated */

static fbp_status cannot_inflate(const struct walker *w)
{
    return damaged(w, "cannot inflate the variable at byte");
}

/* Once more through zlib, which gets what it has used up. */
static fbp_status inflate_some(struct walker *w, int *code)
{
    if (w->z.avail_in == 0 && w->packed > 0) {
        const size_t n = w->packed < CHUNK ? (size_t)w->packed : CHUNK;
        FBP_TRY(fbp_read_at(w->fd, w->path, w->next, w->in, n));
        w->z.next_in = w->in;
        w->z.avail_in = (uInt)n;
        w->next += n;
        w->packed -= n;
    }
    *code = inflate(&w->z, Z_NO_FLUSH);
    if (*code == Z_MEM_ERROR)
        return fbp_fail_nomem(CHUNK, "zlib");
    return *code == Z_OK || *code == Z_STREAM_END ? FBP_OK : cannot_inflate(w);
}

/* The next n bytes, if they are wanted. */
static fbp_status get(struct walker *w, unsigned char *out, uint64_t n)
{
    int code = Z_OK;

    if (!w->inflating) {
        if (out)
            FBP_TRY(fbp_read_at(w->fd, w->path, w->next, out, (size_t)n));
        w->next += n;
        return FBP_OK;
    }
    for (uint64_t done = 0; done < n;) {
        const size_t piece = n - done < CHUNK ? (size_t)(n - done) : CHUNK;
        w->z.next_out = out ? out + done : w->out;
        w->z.avail_out = (uInt)piece;
        while (w->z.avail_out > 0) {
            if (code == Z_STREAM_END)
                return cannot_inflate(w);
            FBP_TRY(inflate_some(w, &code));
        }
        done += piece;
    }
    return FBP_OK;
}

/* ---- what they say */

/* Tag of a part, which is in `left` bytes of what it is a part of; a short one is in its tag. */
static fbp_status get_part(struct walker *w, uint64_t *left, struct part *p)
{
    unsigned char tag[TAG];

    if (*left < TAG)
        return damaged(w, "a part without its tag in the variable at byte");
    FBP_TRY(get(w, tag, TAG));
    *left -= TAG;
    const uint32_t first = number(w, tag);
    *p = (struct part){.type = first, .n = number(w, tag + 4)};
    if (first >> 16) {
        *p = (struct part){.type = first & 0xffff, .n = first >> 16};
        memcpy(p->inside, tag + 4, sizeof p->inside);
        return p->n <= 4 ? FBP_OK : damaged(w, "a part that is too long in the variable at byte");
    }
    p->follow = ((uint64_t)p->n + 7) / 8 * 8;
    if (p->follow > *left) /* the last one may be without what fills it up */
        p->follow = p->n;
    return p->n <= *left ? FBP_OK : damaged(w, "a part behind the end of the variable at byte");
}

static fbp_status skip(struct walker *w, uint64_t *left, uint64_t n)
{
    *left -= n;
    return get(w, NULL, n);
}

static bool prints(const struct walker *w)
{
    return w->list->prints;
}

static fbp_status get_name(struct walker *w, uint64_t *left, struct head *h)
{
    unsigned char bytes[FBP_MAT_NAME_ROOM] = {0};
    struct part p;

    FBP_TRY(get_part(w, left, &p));
    const uint64_t room = sizeof bytes - 1, n = p.follow < room ? p.follow : room;
    memcpy(bytes, p.inside, sizeof p.inside);
    if (p.follow > 0)
        FBP_TRY(get(w, bytes, n));
    bytes[p.n < room ? p.n : room] = '\0';
    memcpy(h->name, bytes, sizeof h->name);
    *left -= p.follow;
    return get(w, NULL, p.follow - (p.follow > 0 ? n : 0));
}

static fbp_status get_head(struct walker *w, uint64_t *left, struct head *h)
{
    unsigned char bytes[4 * MOST_SIZES];
    struct part p;

    *h = (struct head){.class = 0};
    FBP_TRY(get_part(w, left, &p));
    if (p.type != FBP_MI_UINT32 || p.follow != 8)
        return damaged(w, "an array without a class in the variable at byte");
    *left -= 8;
    FBP_TRY(get(w, bytes, 8));
    h->class = number(w, bytes) & 0xff;
    h->complex = number(w, bytes) & 0x800;
    if (h->class == FBP_MX_OPAQUE || h->class == 0) /* there is no more that is known of it */
        return FBP_OK;
    FBP_TRY(get_part(w, left, &p));
    if (p.type != FBP_MI_INT32 || p.follow < 8 || p.follow > sizeof bytes)
        return damaged(w, "an array without sizes in the variable at byte");
    *left -= p.follow;
    FBP_TRY(get(w, bytes, p.follow));
    h->count = 1;
    h->rank = p.n / 4;
    for (size_t i = 0; i < h->rank; i++) {
        h->sizes[i] = number(w, bytes + 4 * i);
        if (__builtin_mul_overflow(h->count, h->sizes[i], &h->count))
            h->count = UINT64_MAX; /* and times 0 is still more than can be */
    }
    return get_name(w, left, h);
}

/* All values are there, of whatever type they are stored as. */
static fbp_status check_values(const struct walker *w, const struct part *p, uint64_t count)
{
    const size_t size = fbp_mat_stored_size(p->type);

    if (count > 0 && (size == 0 || p->n / size < count))
        return damaged(w, "an array without all its values in the variable at byte");
    return FBP_OK;
}

/* `count` values of a part into the print; then what is left of it. */
static fbp_status print_values(struct walker *w, uint64_t *left, const struct part *p,
                               const struct head *h, uint64_t count)
{
    const size_t size = fbp_mat_stored_size(p->type);
    const bool swap = fbp_is_foreign(w->big_endian);
    unsigned char piece[FBP_MAT_PIECE * 8];

    *left -= p->follow;
    if (p->follow == 0) {
        if (count > 0)
            w->print = fbp_mat_print_values(w->print, h->class, p->type, swap, p->inside, count);
        return FBP_OK;
    }
    for (uint64_t done = 0; done < count; done += FBP_MAT_PIECE) {
        const size_t n = count - done < FBP_MAT_PIECE ? (size_t)(count - done) : FBP_MAT_PIECE;
        FBP_TRY(get(w, piece, n * size));
        w->print = fbp_mat_print_values(w->print, h->class, p->type, swap, piece, n);
    }
    return get(w, NULL, p->follow - count * size);
}

/* One part of numbers or letters: real ones, or behind them the imaginary ones. */
static fbp_status check_part(struct walker *w, uint64_t *left, const struct head *h)
{
    struct part p = {0};

    if (*left >= TAG || h->count > 0)
        FBP_TRY(get_part(w, left, &p));
    FBP_TRY(check_values(w, &p, h->count));
    return prints(w) ? print_values(w, left, &p, h, h->count) : skip(w, left, p.follow);
}

static fbp_status check_array(struct walker *w, uint64_t n, int depth);

/* Cells, or the fields of structs behind their names: an array for each element at least, if there
 * are any names. */
static fbp_status check_arrays(struct walker *w, uint64_t *n, // NOLINT(misc-no-recursion)
                               const struct head *h, int depth)
{
    uint64_t found = 0, names = 0;

    for (int i = 0; *n >= TAG; i++) {
        struct part p;
        FBP_TRY(get_part(w, n, &p));
        if (p.type != FBP_MI_MATRIX) {
            if (i == 1) /* behind the length of each */
                names = p.n;
            FBP_TRY(skip(w, n, p.follow));
            continue;
        }
        found++;
        FBP_TRY(check_array(w, p.n, depth + 1));
        *n -= p.n;
        FBP_TRY(skip(w, n, p.follow - p.n));
    }
    return found >= h->count || (h->class == FBP_MX_STRUCT && names == 0)
               ? FBP_OK
               : damaged(w, "fewer arrays than there should be in the variable at byte");
}

static void print_head(struct walker *w, const struct head *h)
{
    const bool all =
        h->class == FBP_MX_CELL || h->class == FBP_MX_STRUCT || fbp_mat_has_values(h->class);

    if (prints(w))
        w->print =
            fbp_mat_print_array(w->print, h->class, h->complex && fbp_mat_has_values(h->class),
                                h->sizes, all ? h->rank : 0);
}

/* A variable of the file itself is listed. */
static fbp_status list_variable(struct walker *w, const struct head *h)
{
    struct fbp_mat_list *list = w->list;

    if (list->n == list->room) {
        const size_t room = 2 * list->room + 16;
        struct fbp_mat_known *v = realloc(list->v, room * sizeof *v);
        if (!v)
            return fbp_fail_nomem(room * sizeof *v, "variables");
        list->v = v;
        list->room = room;
    }
    memcpy(list->v[list->n].name, h->name, sizeof h->name);
    list->odd = list->odd || (h->class != FBP_MX_CELL && h->class != FBP_MX_STRUCT &&
                              h->class != FBP_MX_SPARSE && !fbp_mat_has_values(h->class));
    return FBP_OK;
}

/* An array of n bytes, with all that it consists of. */
static fbp_status check_array(struct walker *w, uint64_t n, int depth) // NOLINT(misc-no-recursion)
{
    struct head h = {.class = 0};

    if (depth > DEPTH)
        return damaged(w, "too many levels of structs in the variable at byte");
    if (n > 0)
        FBP_TRY(get_head(w, &n, &h));
    if (depth == 0)
        FBP_TRY(list_variable(w, &h));
    if (h.class == 0 && prints(w))
        w->print = fbp_mat_print_none(w->print);
    else
        print_head(w, &h);
    if (h.class == FBP_MX_CELL || h.class == FBP_MX_STRUCT) {
        FBP_TRY(check_arrays(w, &n, &h, depth));
    } else if (h.class == FBP_MX_CHAR && prints(w)) {
        FBP_TRY(check_part(w, &n, &h));
    } else if (h.class >= FBP_MX_DOUBLE && h.class <= FBP_MX_UINT64) {
        FBP_TRY(check_part(w, &n, &h));
        if (h.complex && prints(w))
            FBP_TRY(check_part(w, &n, &h));
    }
    return skip(w, &n, n);
}

/* The zlib stream of n bytes at w->next holds one array, and ends where it should with the right
 * checksum. */
static fbp_status check_packed(struct walker *w, uint64_t n)
{
    unsigned char tag[TAG];
    int code = Z_OK;

    w->packed = n;
    FBP_TRY(get(w, tag, TAG));
    if (number(w, tag) != FBP_MI_MATRIX)
        return damaged(w, "no array is packed in the variable at byte");
    FBP_TRY(check_array(w, number(w, tag + 4), 0));
    while (code != Z_STREAM_END) {
        w->z.next_out = w->out;
        w->z.avail_out = CHUNK;
        FBP_TRY(inflate_some(w, &code));
    }
    return FBP_OK;
}

static fbp_status inflate_through(struct walker *w, uint64_t n)
{
    w->z = (z_stream){0};
    if (inflateInit(&w->z) != Z_OK)
        return fbp_fail_nomem(CHUNK, "zlib");
    w->inflating = true;
    const fbp_status st = check_packed(w, n);
    w->inflating = false;
    inflateEnd(&w->z);
    return st;
}

static fbp_status walk(struct walker *w)
{
    unsigned char tag[TAG];

    for (w->at = HEADER; w->at < w->end;) {
        if (w->end - w->at < TAG)
            return damaged(w, "an incomplete variable at byte");
        FBP_TRY(fbp_read_at(w->fd, w->path, w->at, tag, TAG));
        const uint32_t type = number(w, tag), n = number(w, tag + 4);
        if ((type != FBP_MI_MATRIX && type != FBP_MI_COMPRESSED) || n > w->end - w->at - TAG)
            return damaged(w, "an incomplete variable at byte");
        w->next = w->at + TAG;
        w->print = 0;
        FBP_TRY(type == FBP_MI_COMPRESSED ? inflate_through(w, n) : check_array(w, n, 0));
        w->at += TAG + (uint64_t)n;
        w->list->v[w->list->n++].print = w->print;
    }
    return w->end > HEADER ? FBP_OK : damaged(w, "no variable at byte");
}

/* Version 4 has no text before its first variable, but five integers: type, in decimal digits the
 * second of which is 0, rows, columns, 1 if complex, length of the name. */
static bool is_version_4(struct walker *w, const unsigned char *head)
{
    for (int big = 0; big < 2; big++) {
        w->big_endian = big;
        const uint32_t type = number(w, head), complex = number(w, head + 12);
        const uint32_t length = number(w, head + 16);
        if (type < 5000 && type / 100 % 10 == 0 && type / 10 % 10 < 6 && type % 10 < 3 &&
            complex < 2 && length > 0 && length < 256 && 20 + length <= w->end)
            return true;
    }
    return false;
}

fbp_status fbp_mat_check(const char *file, struct fbp_mat_list *list)
{
    struct walker *w = NULL;
    unsigned char head[HEADER] = {0};
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&w, 1, sizeof *w, "a MAT file"));
    w->path = file;
    w->list = list;
    w->fd = -1;
    FBP_TRY_GOTO(fbp_open_file(file, &w->fd, &w->end));
    FBP_TRY_GOTO(fbp_read_at(w->fd, file, 0, head, w->end < HEADER ? w->end : HEADER));
    if (is_version_4(w, head)) {
        st = fbp_fail(FBP_ERR_UNSUPPORTED,
                      "%s: is a MAT file of version 4, which is not read: save it by save -v7 "
                      "(scipy: format='5')",
                      file);
        goto fail;
    }
    if (w->end < HEADER) {
        st = fbp_fail(FBP_ERR_INVALID, "%s: is too short for a MAT file: copy it again", file);
        goto fail;
    }
    w->big_endian = head[126] == 'M';
    st = walk(w);
fail:
    if (w->fd >= 0)
        close(w->fd);
    free(w);
    return st;
}
