/* PNG files: reader of greyscale images of 1 to 16 bits (one slice per file), writer of slices
 * (table fbp_format_png), and fbp_png_write() for pictures. Rows are decoded in order, on request;
 * to read an earlier row again, decoding starts at the first row.
 *
 * If memory is missing, libpng reports an error like that of a damaged file, or continues without
 * optional parts such as texts. Its allocations therefore call take(), which records a failure.
 * Used by: array/formats.c, picture/draw.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/file/outfile.h"

#include <png.h>
#include <pthread.h>
#include <string.h>

enum { TAIL_BYTES = 4096, MOST_SIDE = 1000000 /* libpng's own bound */, TEXT_BYTES = 1 << 20 };

/* Memory allocation function for libpng. If memory is missing, it sets a message and the flag to
 * which libpng's mem_ptr points. */
static png_voidp take(png_structp png, png_alloc_size_t n)
{
    bool *missing = png_get_mem_ptr(png);
    void *p = malloc(n);

    if (!p && missing)
        *missing = fbp_fail_nomem(n, "a PNG file") != FBP_OK;
    return p;
}

static void give_back(png_structp png, png_voidp p)
{
    (void)png;
    free(p);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

struct decoder {
    int fd;
    const char *path;
    uint64_t size, pos; /* of the file */
    pthread_mutex_t lock;
    png_structp png;
    png_infop info;
    size_t next;    /* row that is decoded next */
    png_bytep skip; /* buffer for a row that is not requested */
    bool no_memory;
};

static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n >= sizeof signature && memcmp(head, signature, sizeof signature) == 0;
}

/* Error callback of libpng while reading: records the message and leaves libpng by longjmp(),
 * because it must not return. */
static void on_read_error(png_structp png, png_const_charp text)
{
    const struct decoder *d = png_get_error_ptr(png);

    (void)FBP_INVALID(
        "%s: cannot be read as PNG: %s; the file is damaged or truncated, copy it again", d->path,
        text);
    png_longjmp(png, 1);
}

static void on_read(png_structp png, png_bytep out, png_size_t n)
{
    struct decoder *d = png_get_io_ptr(png);

    if (n > d->size || d->pos > d->size - n ||
        fbp_read_at(d->fd, d->path, d->pos, out, n) != FBP_OK)
        png_error(png, "the file ends too early");
    d->pos += n;
}

/* Begin to read a PNG file: read its header and, if `rows` is set, prepare to decode the rows from
 * the first one on. No local variable changes after setjmp(). */
static fbp_status start(struct decoder *d, bool rows)
{
    png_destroy_read_struct(&d->png, &d->info, NULL);
    d->pos = 0;
    d->next = 0;
    d->no_memory = false;
    d->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, d, on_read_error, on_warning,
                                      &d->no_memory, take, give_back);
    d->info = d->png ? png_create_info_struct(d->png) : NULL;
    if (!d->info)
        return fbp_fail_nomem(0, "a PNG reader");
    if (setjmp(png_jmpbuf(d->png)))
        return d->no_memory ? FBP_ERR_NOMEM : FBP_ERR_INVALID;
    png_set_user_limits(d->png, MOST_SIDE, MOST_SIDE);
    /* A text may be packed. */
    png_set_chunk_malloc_max(d->png, d->size < TEXT_BYTES ? TEXT_BYTES : (size_t)d->size);
    png_set_read_fn(d->png, d, on_read);
    png_read_info(d->png, d->info);
    if (d->no_memory)
        return FBP_ERR_NOMEM;
    if (!rows)
        return FBP_OK;
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

static fbp_status read_png(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    const size_t row_bytes = src->info.n[0] * fbp_type_size(src->info.type);
    struct decoder *d = src->state;
    fbp_status st = FBP_OK;

    (void)slice;
    pthread_mutex_lock(&d->lock);
    if (!d->png || d->next > row0)
        st = start(d, true);
    while (st == FBP_OK && d->next < row0 + n_rows) {
        const size_t y = d->next;
        st = decode_row(d, y < row0 ? d->skip : (png_bytep)out + (y - row0) * row_bytes);
        d->next += st == FBP_OK;
    }
    if (st != FBP_OK || d->next == src->info.n[1])
        png_destroy_read_struct(&d->png, &d->info, NULL); /* until reading starts again */
    pthread_mutex_unlock(&d->lock);
    return st;
}

static void close_png(fbp_source *src)
{
    struct decoder *d = src->state;

    png_destroy_read_struct(&d->png, &d->info, NULL);
    pthread_mutex_destroy(&d->lock);
    fbp_free(d->skip);
    free(d);
}

static fbp_status open_png(struct fbp_source *src)
{
    static const char grey[] = "save it as greyscale of 8 or 16 bits";
    static const char end[] = "IEND\xae\x42\x60\x82";
    /* length and name of a PNG chunk; in the file, its contents and a checksum follow */
    unsigned char head[8] = "";
    char tail[TAIL_BYTES];
    struct fbp_array_info *i = &src->info;
    struct decoder *d = NULL;
    const char *kind = NULL;
    png_textp texts = NULL;
    bool ours = false;
    int n = 0;

    FBP_TRY(fbp_calloc((void **)&d, 1, sizeof *d, "a PNG reader"));
    pthread_mutex_init(&d->lock, NULL);
    src->state = d;
    src->close = close_png;
    src->read = read_png;
    src->in_order = true;
    d->fd = src->fd;
    d->path = src->path;
    d->size = fbp_file_bytes(src->fd);

    /* libpng allocates memory for a chunk before it finds that the file is too short. Therefore all
     * chunks before the samples are checked: they must lie inside the file. */
    for (uint64_t at = sizeof signature; memcmp(head + 4, "IDAT", 4) != 0;) {
        FBP_TRY(fbp_read_at(d->fd, d->path, at, head, sizeof head));
        const uint32_t bytes = png_get_uint_32(head);
        at += sizeof head + (uint64_t)bytes + 4;
        if (at > d->size && memcmp(head + 4, "IDAT", 4) != 0)
            return FBP_INVALID("%s: PNG: a chunk of %u bytes extends beyond the end of the file; "
                               "the file is truncated or damaged, copy it again",
                               d->path, bytes);
    }
    FBP_TRY(start(d, false));

    const int colour = png_get_color_type(d->png, d->info);
    const bool interlaced = png_get_interlace_type(d->png, d->info) != PNG_INTERLACE_NONE;
    if (colour == PNG_COLOR_TYPE_PALETTE)
        kind = "coloured by a palette";
    else if (colour == PNG_COLOR_TYPE_GRAY_ALPHA)
        kind = "greyscale with transparency";
    else if (colour != PNG_COLOR_TYPE_GRAY)
        kind = "in colour";
    if (kind || interlaced)
        return FBP_UNSUPPORTED("%s: PNG: the image is %s; %s", src->path,
                               kind ? kind : "interlaced",
                               kind ? grey : "save it without interlacing");
    i->n[0] = png_get_image_width(d->png, d->info);
    i->n[1] = png_get_image_height(d->png, d->info);
    i->n[2] = 1;
    i->type = png_get_bit_depth(d->png, d->info) == 16 ? FBP_U16 : FBP_U8;
    i->row_order = FBP_ROWS_TOP_DOWN;
    png_get_text(d->png, d->info, &texts, &n);
    for (int k = 0; k < n && !ours; k++)
        if (strcmp(texts[k].key, "Description") == 0 && texts[k].text)
            FBP_TRY(fbp_parse_description(texts[k].text, strlen(texts[k].text), false, i, &ours));

    /* The last TAIL_BYTES of the file must contain the chunk IEND, and the file must be large
     * enough for all rows at the greatest possible compression; a row begins with a byte for its
     * filter. */
    const size_t n_tail = d->size < TAIL_BYTES ? (size_t)d->size : TAIL_BYTES;
    const uint64_t row = 1 + (uint64_t)png_get_rowbytes(d->png, d->info);
    FBP_TRY(fbp_read_at(d->fd, d->path, d->size - n_tail, tail, n_tail));
    /* no overflow: sides are below 2^20 */
    if (!memmem(tail, n_tail, end, sizeof end - 1) || row * i->n[1] / FBP_DEFLATE_AT_MOST > d->size)
        return FBP_INVALID("%s: PNG: the end (chunk IEND) is missing, or %llu bytes are too few "
                           "for %zu x %zu pixels; the file is truncated or damaged, copy it again",
                           src->path, (unsigned long long)d->size, i->n[0], i->n[1]);
    png_destroy_read_struct(&d->png, &d->info, NULL);
    return fbp_alloc((void **)&d->skip, i->n[0] * fbp_type_size(i->type), "a row");
}

struct image {
    size_t n_columns, n_rows;
    int channels;          /* 1 (grey) or 3 (RGB) */
    int bits;              /* bits per channel: 8, or 16 in native byte order */
    bool quick;            /* true: fastest compression; slower levels gain little on noise */
    char *description;     /* a text beside the pixels; NULL: none */
    const uint8_t *pixels; /* all rows, from the top; NULL: a slice */
    /* slice whose `values` are converted to integers row by row; NULL: `pixels` are written */
    const struct fbp_array_info *slice;
    const float *values;
    void *row; /* room for a row of the slice */
    uint64_t *clipped;
};

/* Error callback of libpng while writing: records the message and leaves libpng by longjmp(),
 * because it must not return. */
static void on_write_error(png_structp png, png_const_charp text)
{
    const struct fbp_write_buffer *to = png_get_error_ptr(png);

    (void)fbp_fail(FBP_ERR_IO, "%s: cannot write PNG: %s; write TIFF", to->path, text);
    png_longjmp(png, 1);
}

static void on_write(png_structp png, png_bytep data, png_size_t n)
{
    if (fbp_write_buffer_put(png_get_io_ptr(png), data, n) != FBP_OK)
        png_error(png, "the file cannot be written");
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* All calls of libpng that may end by longjmp(). No local variable changes after setjmp(). */
static fbp_status write_all(png_structp png, png_infop info, struct fbp_write_buffer *to,
                            const struct image *m)
{
    char key[] = "Description";
    png_text text = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = key, .text = m->description};

    if (setjmp(png_jmpbuf(png)))
        return FBP_ERR_IO;
    png_set_write_fn(png, to, on_write, on_flush);
    png_set_IHDR(png, info, (png_uint_32)m->n_columns, (png_uint_32)m->n_rows, m->bits,
                 m->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (m->quick) {
        png_set_compression_level(png, 1);
        png_set_filter(png, 0, PNG_FILTER_SUB);
    }
    if (m->description)
        png_set_text(png, info, &text, 1); /* libpng copies `text` */
    png_write_info(png, info);
    if (m->bits == 16)
        png_set_swap(png);
    for (size_t y = 0; y < m->n_rows; y++) {
        if (m->slice)
            *m->clipped +=
                fbp_from_float(m->slice, m->values + y * m->n_columns, m->n_columns, m->row);
        png_write_row(png, m->slice ? m->row : m->pixels + y * m->n_columns * (size_t)m->channels);
    }
    png_write_end(png, NULL);
    return FBP_OK;
}

static fbp_status put(struct fbp_write_buffer *to, const struct image *image)
{
    bool no_memory = false;
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, to, on_write_error,
                                                on_warning, &no_memory, take, give_back);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    fbp_status st =
        info ? write_all(png, info, to, image) : fbp_fail_nomem(0, "a writer of PNG files");

    if (no_memory)
        st = FBP_ERR_NOMEM;
    png_destroy_write_struct(&png, &info);
    return st;
}

fbp_status fbp_png_write(const char *path, size_t n_columns, size_t n_rows, int channels,
                         const uint8_t *pixels)
{
    const struct image image = {n_columns, n_rows, channels, .bits = 8, .pixels = pixels};
    struct fbp_write_buffer to = {0};
    struct fbp_outfile out;
    fbp_status st;

    FBP_TRY_GOTO(fbp_outfile_open(&out, path));
    FBP_TRY_GOTO(fbp_write_buffer_open(&to, out.fd, path, 0));
    FBP_TRY_GOTO(put(&to, &image));
    FBP_TRY_GOTO(fbp_write_buffer_flush(&to));
    st = fbp_outfile_finish(&out);
fail:
    fbp_write_buffer_close(&to);
    fbp_outfile_clear(&out);
    return st;
}

static fbp_status encode(struct fbp_write_buffer *p, const struct fbp_array_info *slice,
                         const void *values, uint64_t *clipped)
{
    struct image image = {.n_columns = slice->n[0],
                          .n_rows = slice->n[1],
                          .channels = 1,
                          .bits = slice->type == FBP_U16 ? 16 : 8,
                          .quick = true,
                          .description = fbp_describe(slice),
                          .slice = slice,
                          .values = values,
                          .clipped = clipped};
    fbp_status st;

    if (!image.description)
        FBP_TRY_GOTO(fbp_fail_nomem(0, "the description of a PNG file"));
    FBP_TRY_GOTO(fbp_alloc(&image.row, slice->n[0] * fbp_type_size(slice->type), "a row"));
    st = put(p, &image);
fail:
    fbp_free(image.row);
    free(image.description);
    return st;
}

static fbp_status check(const char *path, const struct fbp_array_info *info)
{
    if (info->n[0] <= MOST_SIDE && info->n[1] <= MOST_SIDE)
        return FBP_OK;
    return FBP_INVALID(
        "%s: %zu x %zu pixels are too many for PNG, with at most 1000000 per side; write TIFF",
        path, info->n[0], info->n[1]);
}

static const struct fbp_slice_format slices = {
    .extensions = ".png",
    .encode = encode,
    .check = check,
    .integers_only = true,
    .compressed = true,
};

const struct fbp_format fbp_format_png = {
    .name = "png",
    .title = "PNG",
    .extensions = ".png",
    .detect = detect,
    .open = open_png,
    .not_growing = "--follow cannot read a growing PNG file; write one file per view",
    .slices = &slices,
};
