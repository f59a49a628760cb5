/* Boxes of samples between memory and the plain chunks of level 0. */
#include "array/chunked.h"
#include "array/file/bytes.h"

#include "base/base.h"

#include <string.h>

/* Samples that lie one behind the other at data, [z][y][x], from `first` on. */
struct box {
    size_t first[3], n[3];
    char *data;
    bool write;
};

/* What a box and a chunk have in common. */
struct shared {
    size_t at[3], n[3];   /* in it */
    size_t width, height; /* samples of the chunk that are in the volume: rows, and their number */
    size_t from[3];       /* in the box */
};

static struct shared share(const struct fbp_levels *l, const struct box *b, const size_t k[3])
{
    struct shared out = {0};
    size_t inside[3];

    for (int i = 0; i < 3; i++) {
        const size_t first = k[i] * l->chunk[i], end = first + l->chunk[i];
        const size_t last = end < l->level[0].n[i] ? end : l->level[0].n[i];
        const size_t lo = first > b->first[i] ? first : b->first[i];
        const size_t hi = last < b->first[i] + b->n[i] ? last : b->first[i] + b->n[i];
        out.at[i] = lo - first;
        out.n[i] = hi - lo;
        out.from[i] = lo - b->first[i];
        inside[i] = last - first;
    }
    out.width = inside[0];
    out.height = inside[1];
    return out;
}

/* Rows of it between the box and a piece of the chunk, which begins at row y0 of slice z0. */
static void copy_rows(const struct fbp_sink *s, const struct box *b, const struct shared *h,
                      size_t z, size_t nz, char *piece, size_t slice_rows)
{
    const size_t size = fbp_type_size(s->info.type), c = s->chunked->levels.chunk[0];

    for (size_t j = 0; j < nz; j++)
        for (size_t y = 0; y < h->n[1]; y++) {
            char *in_box =
                b->data +
                (((h->from[2] + z + j) * b->n[1] + h->from[1] + y) * b->n[0] + h->from[0]) * size;
            char *in_piece = piece + ((j * slice_rows + y) * c) * size;
            memcpy(b->write ? in_piece : in_box, b->write ? in_box : in_piece, h->n[0] * size);
        }
}

static fbp_status move_bytes(const struct fbp_sink *s, const struct box *b, int fd, size_t at,
                             void *piece, size_t n)
{
    return b->write ? fbp_write_at(fd, s->part, at, piece, n)
                    : fbp_read_at(fd, s->part, at, piece, n);
}

/* `nz` slices of whole rows from slice z on, as one run of bytes of the chunk. */
static fbp_status move_run(const struct fbp_sink *s, const struct box *b, const struct shared *h,
                           int fd, size_t z, size_t nz, char *piece)
{
    const size_t *c = s->chunked->levels.chunk, size = fbp_type_size(s->info.type);
    const size_t rows = nz > 1 ? c[1] : h->n[1], n = nz * rows * c[0] * size;
    const size_t at = ((h->at[2] + z) * c[1] + h->at[1]) * c[0] * size;

    if (b->write) {
        memset(piece, 0, n);
        copy_rows(s, b, h, z, nz, piece, rows);
    }
    FBP_TRY(move_bytes(s, b, fd, at, piece, n));
    if (!b->write)
        copy_rows(s, b, h, z, nz, piece, rows);
    return FBP_OK;
}

/* Pieces of rows, one by one. */
static fbp_status move_pieces(const struct fbp_sink *s, const struct box *b, const struct shared *h,
                              int fd)
{
    const size_t *c = s->chunked->levels.chunk, size = fbp_type_size(s->info.type);

    for (size_t z = 0; z < h->n[2]; z++)
        for (size_t y = 0; y < h->n[1]; y++) {
            const size_t at = (((h->at[2] + z) * c[1] + h->at[1] + y) * c[0] + h->at[0]) * size;
            char *data =
                b->data +
                (((h->from[2] + z) * b->n[1] + h->from[1] + y) * b->n[0] + h->from[0]) * size;
            FBP_TRY(move_bytes(s, b, fd, at, data, h->n[0] * size));
        }
    return FBP_OK;
}

/* A chunk on its way, and room for one. */
struct moving {
    const struct fbp_sink *sink;
    const struct box *box;
    struct shared shared;
    char *piece;
};

static fbp_status move_in(void *user, int fd)
{
    const struct moving *m = user;
    const struct shared *h = &m->shared;

    if (h->n[0] < h->width)
        return move_pieces(m->sink, m->box, h, fd);
    if (h->n[1] == h->height)
        return move_run(m->sink, m->box, h, fd, 0, h->n[2], m->piece);
    for (size_t z = 0; z < h->n[2]; z++)
        FBP_TRY(move_run(m->sink, m->box, h, fd, z, 1, m->piece));
    return FBP_OK;
}

static fbp_status move_chunk(const struct fbp_sink *s, const struct box *b, const size_t k[3],
                             char *piece)
{
    struct moving m = {s, b, share(&s->chunked->levels, b, k), piece};

    return fbp_chunk_use(s, k, b->write, move_in, &m);
}

static fbp_status move_box(const struct fbp_sink *s, const struct box *b)
{
    const size_t *c = s->chunked->levels.chunk;
    size_t k0[3], k1[3], k[3];
    void *piece = NULL;
    fbp_status st = FBP_OK;

    for (int i = 0; i < 3; i++) {
        k0[i] = b->first[i] / c[i];
        k1[i] = (b->first[i] + b->n[i] - 1) / c[i] + 1;
    }
    FBP_TRY(fbp_alloc(&piece, s->chunked->chunk_bytes, "a chunk"));
    for (k[2] = k0[2]; k[2] < k1[2] && st == FBP_OK; k[2]++)
        for (k[1] = k0[1]; k[1] < k1[1] && st == FBP_OK; k[1]++)
            for (k[0] = k0[0]; k[0] < k1[0] && st == FBP_OK; k[0]++)
                st = move_chunk(s, b, k, piece);
    fbp_free(piece);
    return st;
}

/* The largest box at the beginning of samples [at, at + n): a piece of a row, whole rows of a
 * slice, or whole slices. */
static struct box next_box(const struct fbp_sink *s, size_t at, size_t n)
{
    const size_t nx = s->info.n[0], ny = s->info.n[1];
    const size_t x = at % nx, y = at / nx % ny, z = at / nx / ny;

    if (x > 0 || n < nx)
        return (struct box){.first = {x, y, z}, .n = {n < nx - x ? n : nx - x, 1, 1}};
    if (y > 0 || n < nx * ny)
        return (struct box){.first = {0, y, z}, .n = {nx, n / nx < ny - y ? n / nx : ny - y, 1}};
    return (struct box){.first = {0, 0, z}, .n = {nx, ny, n / (nx * ny)}};
}

/* Samples are whole: pieces that are put have sizes that are multiples of theirs. */
static fbp_status move_all(const struct fbp_sink *s, uint64_t at, char *data, size_t n, bool write)
{
    const size_t size = fbp_type_size(s->info.type);

    for (size_t done = 0; done < n;) {
        struct box b = next_box(s, (size_t)(at + done) / size, (n - done) / size);
        b.data = data + done;
        b.write = write;
        FBP_TRY(move_box(s, &b));
        done += b.n[0] * b.n[1] * b.n[2] * size;
    }
    return FBP_OK;
}

fbp_status fbp_chunked_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n)
{
    return move_all(s, at, (char *)(uintptr_t)data, n, true); /* which is only read */
}

fbp_status fbp_chunked_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n)
{
    return move_all(s, at, out, n, false);
}
