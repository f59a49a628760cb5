/*
 * RTK's text (its GeometricPhantomFileReader, until 2025): one figure a line,
 *     [Ellipsoid] A= B= C= x= y= z= beta= gray=
 * half axes A, B, C along x, y, z, turned by beta degrees about y; 0 for an axis without end, less
 * than 0 for the axis of a double cone; [Box] with half sides that are never turned; densities add.
 * Their axis of rotation is y: (x, y, z) in the file is (x, -z, y) here.
 */
#include "phantom/file.h"

#include "base/text.h"
#include "base/vec.h"

#include <string.h>

enum { A, B, C, X, Y, Z, BETA, GRAY, N_KEYS };

static const char *const keys[N_KEYS] = {"A", "B", "C", "x", "y", "z", "beta", "gray"};

enum { ELLIPSOID, CYLINDER, CONE, BOX, N_FIGURES };

static const char *const figures[N_FIGURES] = {"Ellipsoid", "Cylinder", "Cone", "Box"};

static int index_of(const char *word, const char *const *list, int n)
{
    int i = 0;
    while (i < n && strcmp(word, list[i]) != 0)
        i++;
    return i;
}

static fbp_status read_figure(struct fbp_phantom_text *text, int *figure)
{
    char word[32];

    text->at++; /* '[' */
    fbp_phantom_word(text, word, sizeof word);
    const int k = index_of(word, figures, N_FIGURES);
    if (k == N_FIGURES)
        return fbp_phantom_wrong(text,
                                 "unknown figure [%s]: Ellipsoid, Cylinder, Cone and Box "
                                 "can be read",
                                 word);
    *figure = k;
    return fbp_phantom_take(text, ']') ? FBP_OK
                                       : fbp_phantom_wrong(text, "[%s is not closed by ']'", word);
}

/* NAME=VALUE … to the end of the line; what is not there is 0, as in RTK, but for sizes and gray.
 */
static fbp_status read_values(struct fbp_phantom_text *text, double v[N_KEYS])
{
    bool seen[N_KEYS] = {false};
    char word[32];

    memset(v, 0, N_KEYS * sizeof *v);
    for (fbp_phantom_blanks(text); fbp_phantom_word(text, word, sizeof word);
         fbp_phantom_blanks(text)) {
        const int k = index_of(word, keys, N_KEYS);
        if (k == N_KEYS)
            return fbp_phantom_wrong(text,
                                     "unknown name '%s': A, B, C, x, y, z, beta and gray "
                                     "are known",
                                     word);
        if (seen[k])
            return fbp_phantom_wrong(text, "%s is given twice", word);
        fbp_phantom_blanks(text);
        if (!fbp_phantom_take(text, '='))
            return fbp_phantom_wrong(text, "%s is not followed by '='", word);
        fbp_phantom_blanks(text);
        FBP_TRY(fbp_phantom_number(text, &v[k]));
        seen[k] = true;
    }
    for (int k = 0; k < N_KEYS; k++)
        if (!seen[k] && (k <= C || k == GRAY))
            return fbp_phantom_wrong(text, "%s= is missing", keys[k]);
    if (*text->at == '\0' || *text->at == '\n' || *text->at == '#' || *text->at == '/')
        return FBP_OK;
    return fbp_phantom_wrong(text, "not NAME=VALUE: '%.*s'", (int)strcspn(text->at, " \t\r\n"),
                             text->at);
}

/* The figure's half axes and where they point, in this program's axes. */
static struct fbp_shape shape_of(const double v[N_KEYS])
{
    const double t = v[BETA] * (FBP_PI / 180);

    return (struct fbp_shape){
        .centre_mm = {v[X], -v[Z], v[Y]},
        .axes = {{cos(t), -sin(t), 0}, {0, 0, 1}, {-sin(t), -cos(t), 0}},
        .half_mm = {v[A], v[B], v[C]},
        .density = v[GRAY],
    };
}

/* Make axis k the last one; the others keep their order around it. */
static void axis_last(struct fbp_shape *s, int k)
{
    const struct fbp_shape old = *s;

    for (int i = 0; i < 3; i++) {
        const int from = (k + 1 + i) % 3;
        s->half_mm[i] = old.half_mm[from];
        memcpy(s->axes[i], old.axes[from], sizeof s->axes[i]);
    }
}

static fbp_status add_cylinder(struct fbp_phantom_text *text, const double v[N_KEYS], int axis)
{
    struct fbp_shape s = shape_of(v);

    axis_last(&s, axis);
    s.kind = FBP_SHAPE_CYLINDER;
    s.half_mm[2] = 1;
    s.range[0] = -INFINITY;
    s.range[1] = INFINITY;
    return fbp_phantom_add_shape(text, &s);
}

/* Both nappes; each is convex. */
static fbp_status add_cone(struct fbp_phantom_text *text, const double v[N_KEYS], int axis)
{
    struct fbp_shape s = shape_of(v);

    axis_last(&s, axis);
    s.kind = FBP_SHAPE_CONE;
    s.half_mm[2] = fabs(s.half_mm[2]);
    s.range[1] = INFINITY;
    FBP_TRY(fbp_phantom_add_shape(text, &s));
    for (int i = 0; i < 3; i++)
        s.axes[2][i] = -s.axes[2][i];
    return fbp_phantom_add_shape(text, &s);
}

static fbp_status add_box(struct fbp_phantom_text *text, const double v[N_KEYS])
{
    struct fbp_shape s = shape_of(v);

    if (v[BETA] != 0)
        return fbp_phantom_wrong(text, "beta=%g: RTK does not turn boxes: set it to 0", v[BETA]);
    s.kind = FBP_SHAPE_BOX;
    return fbp_phantom_add_shape(text, &s);
}

static fbp_status add_ellipsoid(struct fbp_phantom_text *text, const double v[N_KEYS])
{
    return fbp_phantom_add(text, &(struct fbp_ellipsoid){.centre_mm = {v[X], -v[Z], v[Y]},
                                                         .axes_mm = {v[A], v[C], v[B]},
                                                         .turn_deg = -v[BETA],
                                                         .density = v[GRAY]});
}

/* How many of the half axes are of this sign, and which is the last. */
static int of_sign(const double v[N_KEYS], int sign, int *which)
{
    int n = 0;

    for (int i = A; i <= C; i++)
        if ((v[i] > 0) - (v[i] < 0) == sign) {
            *which = i;
            n++;
        }
    return n;
}

static fbp_status add_figure(struct fbp_phantom_text *text, int figure, const double v[N_KEYS])
{
    int special = 0;
    const int positive = of_sign(v, 1, &special);
    const int zero = of_sign(v, 0, &special);

    if (figure == BOX && positive == 3)
        return add_box(text, v);
    if (figure == ELLIPSOID && positive == 3)
        return add_ellipsoid(text, v);
    if ((figure == ELLIPSOID || figure == CYLINDER) && positive == 2 && zero == 1)
        return add_cylinder(text, v, special);
    if (figure == CONE && positive == 2 && of_sign(v, -1, &special) == 1)
        return add_cone(text, v, special);
    return fbp_phantom_wrong(
        text, "[%s] with A=%g B=%g C=%g: %s", figures[figure], v[A], v[B], v[C],
        figure == CYLINDER ? "one must be 0, the cylinder's axis, the others positive"
        : figure == CONE   ? "one must be negative, the cone's axis, the others positive"
                           : "all three must be positive");
}

/* The first line of RTK's own files. */
static bool is_title(struct fbp_phantom_text *text)
{
    char word[32];
    return fbp_phantom_word(text, word, sizeof word) && strcmp(word, "Phantom") == 0;
}

static fbp_status read_rtk(struct fbp_phantom_text *text)
{
    double v[N_KEYS];
    int figure = ELLIPSOID;

    for (fbp_phantom_skip(text); *text->at; fbp_phantom_skip(text)) {
        if (*text->at != '[') {
            if (is_title(text))
                continue;
            return fbp_phantom_wrong(text, "neither a [Figure] nor a comment");
        }
        FBP_TRY(read_figure(text, &figure));
        FBP_TRY(read_values(text, v));
        FBP_TRY(add_figure(text, figure, v));
    }
    return FBP_OK;
}

const struct fbp_phantom_format fbp_phantom_rtk = {
    .mark = '[',
    .read = read_rtk,
    .nothing = "no figures: write a line [Ellipsoid] A= B= C= x= y= z= beta= gray= for each",
};
