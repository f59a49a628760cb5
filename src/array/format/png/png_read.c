/* PNG: one slice, greyscale of 1 to 16 bits.  Rows are decoded as they are asked for; going back
 * starts anew. */
#include "array/file/bytes.h"
#include "array/file/describe.h"
#include "array/file/inflate.h"
#include "array/format/png/png_encode.h"
#include "array/format/png/png_memory.h"

#include "base/base.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TAIL_BYTES = 4096, MOST_SIDE = 1000000, TEXT_BYTES = 1 << 20 };

struct decoder {
    int fd;
    const char *path;
    uint64_t size, pos; /* of the file */
    pthread_mutex_t lock;
    png_structp png;
    png_infop info;
    size_t next;    /* row that comes next */
    png_bytep skip; /* a row that nobody wants */
    bool no_memory; /* for something that libpng wanted */
};

static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n >= sizeof signature && memcmp(head, signature, sizeof signature) == 0;
}

/* libpng calls this instead of returning; it must not return either. */
static void on_error(png_structp png, png_const_charp text)
{
    const struct decoder *d = png_get_error_ptr(png);

    (void)fbp_fail(FBP_ERR_INVALID,
                   "%s: cannot be read as PNG: %s: the file is damaged or truncated: copy it again",
                   d->path, text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_read(png_structp png, png_bytep out, png_size_t n)
{
    struct decoder *d = png_get_io_ptr(png);

    if (n > d->size || d->pos > d->size - n ||
        fbp_read_at(d->fd, d->path, d->pos, out, n) != FBP_OK)
        png_error(png, "it ends early");
    d->pos += n;
}

static void stop(struct decoder *d)
{
    png_destroy_read_struct(&d->png, &d->info, NULL);
}

/* No local is changed after setjmp, here and below. */
static fbp_status read_header(struct decoder *d)
{
    if (setjmp(png_jmpbuf(d->png)))
        return d->no_memory ? FBP_ERR_NOMEM : FBP_ERR_INVALID;
    png_set_user_limits(d->png, MOST_SIDE, MOST_SIDE);
    /* A text may be packed. */
    png_set_chunk_malloc_max(d->png, d->size < TEXT_BYTES ? TEXT_BYTES : (size_t)d->size);
    png_set_read_fn(d->png, d, on_read);
    png_read_info(d->png, d->info);
    return d->no_memory ? FBP_ERR_NOMEM : FBP_OK;
}

/* libpng makes room for a chunk before it finds that the file ends: those in front of the samples,
 * which it holds whole, must be there. */
static fbp_status check_chunks(const struct decoder *d)
{
    unsigned char head[8]; /* length and name; a checksum follows what is that long */

    for (uint64_t at = sizeof signature;;) {
        FBP_TRY(fbp_read_at(d->fd, d->path, at, head, sizeof head));
        const uint32_t n = png_get_uint_32(head);
        if (memcmp(head + 4, "IDAT", 4) == 0)
            return FBP_OK;
        at += sizeof head + (uint64_t)n + 4;
        if (at > d->size)
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: PNG: a part of %u bytes reaches behind the end of the file: it "
                            "is truncated or damaged: copy it again",
                            d->path, n);
    }
}

static fbp_status start(struct decoder *d)
{
    stop(d);
    d->pos = 0;
    d->next = 0;
    d->no_memory = false;
    d->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, d, on_error, on_warning, &d->no_memory,
                                      fbp_png_take, fbp_png_give_back);
    d->info = d->png ? png_create_info_struct(d->png) : NULL;
    if (!d->info)
        return fbp_fail_nomem(0, "a PNG reader");
    return read_header(d);
}

static fbp_status set_up(struct decoder *d)
{
    if (setjmp(png_jmpbuf(d->png)))
        return d->no_memory ? FBP_ERR_NOMEM : FBP_ERR_INVALID;
    if (png_get_bit_depth(d->png, d->info) == 16 && fbp_is_foreign(true))
        png_set_swap(d->png);
    if (png_get_bit_depth(d->png, d->info) < 8)
        png_set_packing(d->png);
    png_start_read_image(d->png);
    return FBP_OK;
}

static fbp_status decode_row(struct decoder *d, png_bytep out)
{
    if (setjmp(png_jmpbuf(d->png)))
        return d->no_memory ? FBP_ERR_NOMEM : FBP_ERR_INVALID;
    png_read_row(d->png, out, NULL);
    return FBP_OK;
}

static fbp_status decode(struct decoder *d, size_t row0, size_t n, char *out, size_t row_bytes)
{
    if (!d->png || d->next > row0) {
        FBP_TRY(start(d));
        FBP_TRY(set_up(d));
    }
    for (; d->next < row0 + n; d->next++) {
        char *to = d->next < row0 ? (char *)d->skip : out + (d->next - row0) * row_bytes;
        FBP_TRY(decode_row(d, (png_bytep)to));
    }
    return FBP_OK;
}

static fbp_status read_png(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    struct decoder *d = src->state;

    (void)slice;
    pthread_mutex_lock(&d->lock);
    const fbp_status st =
        decode(d, row0, n_rows, out, src->info.n[0] * fbp_type_size(src->info.type));
    if (st != FBP_OK || d->next == src->info.n[1])
        stop(d); /* its memory is not needed until somebody starts again */
    pthread_mutex_unlock(&d->lock);
    return st;
}

static void close_png(fbp_source *src)
{
    struct decoder *d = src->state;

    stop(d);
    pthread_mutex_destroy(&d->lock);
    fbp_free(d->skip);
    free(d);
}

static fbp_status refuse(const fbp_source *src, const char *what, const char *remedy)
{
    return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: PNG: is %s: %s", src->path, what, remedy);
}

static fbp_status check_kind(const fbp_source *src, const struct decoder *d)
{
    static const char grey[] = "save it as greyscale of 8 or 16 bits";
    const int colour = png_get_color_type(d->png, d->info);

    if (colour == PNG_COLOR_TYPE_PALETTE)
        return refuse(src, "coloured by a palette", grey);
    if (colour == PNG_COLOR_TYPE_GRAY_ALPHA)
        return refuse(src, "greyscale with transparency", grey);
    if (colour != PNG_COLOR_TYPE_GRAY)
        return refuse(src, "in colour", grey);
    if (png_get_interlace_type(d->png, d->info) != PNG_INTERLACE_NONE)
        return refuse(src, "interlaced", "save it without interlacing");
    return FBP_OK;
}

/* The last chunk must be there, and the rest must be able to hold the rows, each with a byte for
 * its filter. */
static fbp_status check_end(const fbp_source *src, const struct decoder *d)
{
    static const char end[] = "IEND\xae\x42\x60\x82";
    const size_t n = d->size < TAIL_BYTES ? (size_t)d->size : TAIL_BYTES;
    char tail[TAIL_BYTES];
    const uint64_t row = 1 + (uint64_t)png_get_rowbytes(d->png, d->info);

    FBP_TRY(fbp_read_at(d->fd, d->path, d->size - n, tail, n));
    if (!memmem(tail, n, end, sizeof end - 1) ||
        row * src->info.n[1] / FBP_DEFLATE_AT_MOST > d->size) /* sides are below 2^20 */
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: PNG: its %llu bytes do not hold the %zu x %zu pixels of its header: "
                        "the file is truncated or damaged: copy it again",
                        src->path, (unsigned long long)d->size, src->info.n[0], src->info.n[1]);
    return FBP_OK;
}

static fbp_status take_description(fbp_source *src, const struct decoder *d)
{
    png_textp texts = NULL;
    bool ours = false;
    int n = 0;

    png_get_text(d->png, d->info, &texts, &n);
    for (int i = 0; i < n && !ours; i++)
        if (strcmp(texts[i].key, "Description") == 0 && texts[i].text)
            FBP_TRY(fbp_described(texts[i].text, strlen(texts[i].text), false, &src->info, &ours));
    return FBP_OK;
}

static fbp_status open_png(struct fbp_source *src)
{
    const off_t end = lseek(src->fd, 0, SEEK_END);
    struct fbp_array_info *i = &src->info;
    struct decoder *d = NULL;

    if (src->growing)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: a PNG file cannot be followed while it grows: write one file a view",
                        src->path);
    FBP_TRY(fbp_calloc((void **)&d, 1, sizeof *d, "a PNG reader"));
    pthread_mutex_init(&d->lock, NULL);
    src->state = d;
    src->close = close_png;
    src->read = read_png;
    src->in_order = true;
    d->fd = src->fd;
    d->path = src->path;
    d->size = end < 0 ? 0 : (uint64_t)end;
    FBP_TRY(check_chunks(d));
    FBP_TRY(start(d));
    FBP_TRY(check_kind(src, d));
    i->n[0] = png_get_image_width(d->png, d->info);
    i->n[1] = png_get_image_height(d->png, d->info);
    i->n[2] = 1;
    i->type = png_get_bit_depth(d->png, d->info) == 16 ? FBP_U16 : FBP_U8;
    i->row_order = FBP_ROWS_TOP_DOWN;
    FBP_TRY(take_description(src, d));
    FBP_TRY(check_end(src, d));
    stop(d);
    return fbp_alloc((void **)&d->skip, i->n[0] * fbp_type_size(i->type), "a row");
}

const struct fbp_format fbp_format_png = {
    .name = "png",
    .title = "PNG",
    .extensions = ".png",
    .detect = detect,
    .open = open_png,
    .slices = &fbp_png_slices,
};
