/* A contact sheet: pictures of one grey window side by side, each with a label. */
#include "fbp/picture.h"

#include "array/format/png/png_write.h"
#include "base/mem.h"
#include "base/range.h"
#include "base/sizes.h"
#include "picture/font.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 384, LEAST = 128, MARGIN = 12, FRAME = 3, BACKGROUND = 24, SAMPLE = 1 << 18 };

static const uint8_t plain_colour[3] = {200, 200, 200}, marked_colour[3] = {255, 196, 0};

struct sheet {
    const struct fbp_tile *tiles;
    size_t n_tiles;
    const struct fbp_sheet_params *p;
    double lo, hi;
    size_t reduce, enlarge; /* values a pixel, or pixels a value; one of them is 1 */
    size_t w, h;            /* pixels of a picture */
    size_t columns, rows;
    size_t lines, letters; /* of the longest label */
    size_t dot;            /* of letters */
    size_t title;          /* height of the title */
    struct fbp_canvas canvas;
};

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The range of all pictures without 0.5 % at either end, from values spread over them. */
static fbp_status choose_window(struct sheet *s)
{
    const size_t each = s->p->n[0] * s->p->n[1];
    const size_t step = (each * s->n_tiles + SAMPLE - 1) / SAMPLE;
    float *sample = NULL;
    size_t n = 0;

    s->lo = s->p->lo;
    s->hi = s->p->hi;
    if (s->hi > s->lo)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&sample, s->n_tiles * (each / step + 1), sizeof *sample,
                       "a grey window"));
    for (size_t i = 0; i < s->n_tiles; i++)
        for (size_t k = 0; k < each; k += step)
            if (isfinite(s->tiles[i].values[k]))
                sample[n++] = s->tiles[i].values[k];
    qsort(sample, n, sizeof *sample, compare_floats);
    s->lo = n ? (double)sample[n / 200] : 0;
    s->hi = n ? (double)sample[n - 1 - n / 200] : 1;
    if (!(s->hi > s->lo))
        s->hi = s->lo + 1;
    free(sample);
    return FBP_OK;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Lines of the longest label, and letters of the longest line. */
static void measure_labels(struct sheet *s)
{
    for (size_t i = 0; i < s->n_tiles; i++) {
        const char *text = s->tiles[i].label;
        for (size_t lines = 1;; lines++) {
            const size_t n = strcspn(text, "\n");
            s->letters = larger(s->letters, n);
            s->lines = larger(s->lines, lines);
            if (!text[n])
                break;
            text += n + 1;
        }
    }
}

/* Pixels of a picture with its label. */
static size_t tile_width(const struct sheet *s)
{
    return larger(s->w, s->letters * FBP_GLYPH_WIDTH * s->dot);
}

static size_t label_height(const struct sheet *s)
{
    return s->lines * FBP_GLYPH_HEIGHT * s->dot;
}

/* Distance from picture to picture. */
static void step_of(const struct sheet *s, size_t step[2])
{
    step[0] = tile_width(s) + MARGIN;
    step[1] = s->h + FRAME + label_height(s) + MARGIN;
}

static void layout(struct sheet *s)
{
    const size_t nx = s->p->n[0], ny = s->p->n[1], longest = nx > ny ? nx : ny;
    size_t step[2], title;

    s->reduce = (longest + MOST - 1) / MOST;
    s->enlarge = longest < LEAST ? LEAST / longest : 1;
    s->w = (nx + s->reduce - 1) / s->reduce * s->enlarge;
    s->h = (ny + s->reduce - 1) / s->reduce * s->enlarge;
    s->dot = s->w >= larger(s->letters, 10) * FBP_GLYPH_WIDTH * 2 ? 2 : 1;
    s->title = s->p->title ? (FBP_GLYPH_HEIGHT + 3) * s->dot : 0;
    title = s->p->title ? strlen(s->p->title) * FBP_GLYPH_WIDTH * s->dot + MARGIN : 0;
    step_of(s, step);
    s->columns = (size_t)ceil(sqrt((double)(s->n_tiles * step[1]) / (double)step[0]));
    s->columns = s->columns > s->n_tiles ? s->n_tiles : s->columns;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): there is a tile */
    s->rows = (s->n_tiles + s->columns - 1) / s->columns;
    s->canvas.w = MARGIN + larger(s->columns * step[0], title);
    s->canvas.h = MARGIN + s->title + s->rows * step[1];
}

static fbp_status start_canvas(struct sheet *s)
{
    size_t pixels;

    FBP_TRY(fbp_mul(s->canvas.w, s->canvas.h, "a contact sheet", &pixels));
    FBP_TRY(fbp_mul(pixels, 3, "a contact sheet", &pixels));
    FBP_TRY(fbp_calloc((void **)&s->canvas.rgb, pixels, 1, "a contact sheet"));
    memset(s->canvas.rgb, BACKGROUND, pixels);
    return FBP_OK;
}

size_t fbp_sheet_bytes(size_t n_tiles, size_t label_lines, const struct fbp_sheet_params *params)
{
    FBP_GIVEN_ELSE(0, params);
    struct sheet s = {.n_tiles = n_tiles, .p = params, .lines = label_lines};
    const size_t sample = sizeof(float) * 2 * SAMPLE,
                 png = (1 << 20) + FBP_PIECE_BYTES; /* at most, roughly */

    layout(&s);
    return 3 * s.canvas.w * s.canvas.h + sample + png;
}

/* Mean of the values that fall on a pixel; those that are not finite count as the window's end. */
static double value_at(const struct sheet *s, const float *values, size_t x, size_t y)
{
    const size_t nx = s->p->n[0], ny = s->p->n[1];
    double sum = 0;
    size_t n = 0;

    for (size_t j = y * s->reduce; j < (y + 1) * s->reduce && j < ny; j++)
        for (size_t i = x * s->reduce; i < (x + 1) * s->reduce && i < nx; i++, n++)
            sum += isfinite(values[j * nx + i]) ? (double)values[j * nx + i] : s->lo;
    return sum / (double)n;
}

static void fill(const struct fbp_canvas *c, size_t x0, size_t y0, size_t w, size_t h,
                 const uint8_t rgb[3])
{
    for (size_t y = y0; y < y0 + h; y++)
        for (size_t x = x0; x < x0 + w; x++)
            memcpy(c->rgb + 3 * (y * c->w + x), rgb, 3);
}

static void draw_picture(const struct sheet *s, const struct fbp_tile *tile, size_t x0, size_t y0)
{
    for (size_t y = 0; y < s->h; y++)
        for (size_t x = 0; x < s->w; x++) {
            const double value =
                value_at(s, tile->values, x / s->enlarge, (s->h - 1 - y) / s->enlarge);
            const double grey = 255 * (value - s->lo) / (s->hi - s->lo);
            const uint8_t g = grey >= 255 ? 255 : grey > 0 ? (uint8_t)lrint(grey) : 0;
            memset(s->canvas.rgb + 3 * ((y0 + y) * s->canvas.w + x0 + x), g, 3);
        }
}

static void draw_label(const struct sheet *s, const struct fbp_tile *tile, size_t x, size_t y)
{
    const uint8_t *colour = tile->marked ? marked_colour : plain_colour;
    const char *text = tile->label;
    char line[80];

    while (true) {
        const size_t n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        fbp_font_write(&s->canvas, x, y, x + tile_width(s), s->dot, colour, line);
        if (!text[n])
            return;
        text += n + 1;
        y += FBP_GLYPH_HEIGHT * s->dot;
    }
}

static void draw(const struct sheet *s)
{
    size_t step[2];

    step_of(s, step);
    if (s->p->title)
        fbp_font_write(&s->canvas, MARGIN, MARGIN, s->canvas.w, s->dot, plain_colour, s->p->title);
    for (size_t i = 0; i < s->n_tiles; i++) {
        const size_t x = MARGIN + i % s->columns * step[0];
        const size_t y = MARGIN + s->title + i / s->columns * step[1];
        if (s->tiles[i].marked)
            fill(&s->canvas, x - FRAME, y - FRAME, s->w + (size_t)2 * FRAME,
                 s->h + (size_t)2 * FRAME, marked_colour);
        draw_picture(s, &s->tiles[i], x, y);
        draw_label(s, &s->tiles[i], x, y + s->h + FRAME + s->dot);
    }
}

static fbp_status take_params(struct fbp_sheet_params *own, const struct fbp_sheet_params *given)
{
    FBP_TRY(FBP_TAKE(sheet_params, own, given));
    FBP_TRY(fbp_check_range(&fbp_range_side, "sheet: n[0]", (double)own->n[0]));
    FBP_TRY(fbp_check_range(&fbp_range_side, "sheet: n[1]", (double)own->n[1]));
    FBP_TRY(fbp_check_range(&fbp_range_value, "sheet: lo", own->lo));
    return fbp_check_range(&fbp_range_value, "sheet: hi", own->hi);
}

fbp_status fbp_sheet_write(const char *png_path, const struct fbp_tile *tiles, size_t n_tiles,
                           const struct fbp_sheet_params *params)
{
    FBP_GIVEN(png_path, tiles);
    struct fbp_sheet_params own;
    struct sheet s = {.tiles = tiles, .n_tiles = n_tiles, .p = &own};
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(take_params(&own, params));
    if (n_tiles == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: a contact sheet needs pictures", png_path);
    FBP_TRY_GOTO(choose_window(&s));
    measure_labels(&s);
    layout(&s);
    FBP_TRY_GOTO(start_canvas(&s));
    draw(&s);
    st = fbp_png_write(png_path, s.canvas.w, s.canvas.h, 3, s.canvas.rgb);
fail:
    free(s.canvas.rgb);
    return st;
}
