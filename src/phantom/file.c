/* Phantom files: which format, and the project's own one. */
#include "phantom/file.h"

#include "array/file/bytes.h"
#include "base/mem.h"

#include <string.h>

enum { LARGEST_TEXT = 16 << 20 };

/* Numbers of a line into v[8]; how many there were. */
static fbp_status numbers_of_line(struct fbp_phantom_text *text, double v[8], int *n)
{
    *n = 0;
    for (;;) {
        double x;
        text->at += strspn(text->at, " \t\r,");
        if (*text->at == '\0' || *text->at == '\n' || *text->at == '#')
            return FBP_OK;
        if (fbp_phantom_number(text, &x) != FBP_OK) {
            fbp_message_clear();
            return fbp_phantom_wrong(text,
                                     "not a number: a line is x y z a b c turn_deg density, in "
                                     "mm, # starts a comment");
        }
        if (*n < 8)
            v[*n] = x;
        ++*n;
    }
}

static fbp_status read_lines(struct fbp_phantom_text *text)
{
    double v[8];
    int n;

    for (fbp_phantom_skip(text); *text->at; fbp_phantom_skip(text)) {
        FBP_TRY(numbers_of_line(text, v, &n));
        if (n != 8)
            return fbp_phantom_wrong(
                text, "%d numbers instead of 8: a line is x y z a b c turn_deg density", n);
        if (!(v[3] > 0 && v[4] > 0 && v[5] > 0))
            return fbp_phantom_wrong(text, "half axes %g %g %g mm: all three must be positive",
                                     v[3], v[4], v[5]);
        FBP_TRY(fbp_phantom_add(
            text, &(struct fbp_ellipsoid){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, v[6], v[7]}));
    }
    return FBP_OK;
}

static const struct fbp_phantom_format lines = {
    .read = read_lines,
    .nothing = "no ellipsoids: write a line x y z a b c turn_deg density for each",
};

/* The format by the first line that begins with a mark. */
static const struct fbp_phantom_format *format_of(const char *text)
{
    static const struct fbp_phantom_format *const marked[] = {&fbp_phantom_rtk, &fbp_phantom_leap};

    for (const char *line = text; *line; line += *line == '\n') {
        line += strspn(line, " \t\r");
        for (size_t i = 0; i < sizeof marked / sizeof *marked; i++)
            if (*line == marked[i]->mark)
                return marked[i];
        line += strcspn(line, "\n");
    }
    return &lines;
}

fbp_status fbp_phantom_load(struct fbp_phantom *out, const char *path, double scale)
{
    char *content = NULL;
    size_t n = 0;

    FBP_TRY(fbp_read_text(path, LARGEST_TEXT, &content, &n));
    const struct fbp_phantom_format *format = format_of(content);
    struct fbp_phantom_text text = {
        .path = path, .at = content, .line = 1, .scale = scale, .out = out};
    fbp_status st = format->read(&text);
    if (st == FBP_OK && (size_t)(text.at - content) < n)
        st = fbp_phantom_wrong(&text, "a byte of value 0: this is no text file");
    if (st == FBP_OK && out->n + out->n_shapes == 0)
        st = fbp_fail(FBP_ERR_INVALID, "%s: %s", path, format->nothing);
    free(content);
    return st;
}
