/* Phantom files: formats of fbp, RTK and LEAP. */
#include "phantom/file.h"

#include "array/file/bytes.h"
#include "phantom/body.h"

#include "base/base.h"
#include "base/text.h"
#include "base/math.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all readers of phantom files need: words and numbers of a text, room for what they say. */

fbp_status fbp_phantom_wrong(const struct fbp_phantom_text *text, const char *fmt, ...)
{
    char what[320];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return fbp_fail(FBP_ERR_INVALID, "%s:%zu: %s", text->path, text->line, what);
}

void fbp_phantom_blanks(struct fbp_phantom_text *text)
{
    text->at += strspn(text->at, " \t\r");
}

void fbp_phantom_skip(struct fbp_phantom_text *text)
{
    for (;;) {
        fbp_phantom_blanks(text);
        if (*text->at == '#' || strncmp(text->at, "//", 2) == 0)
            text->at += strcspn(text->at, "\n");
        if (*text->at != '\n')
            return;
        text->at++;
        text->line++;
    }
}

bool fbp_phantom_word(struct fbp_phantom_text *text, char *word, size_t n)
{
    size_t k = 0;

    while (isalnum((unsigned char)text->at[k]) || text->at[k] == '_')
        k++;
    snprintf(word, n, "%.*s", (int)(k < n ? k : n - 1), text->at);
    text->at += k;
    return k > 0;
}

bool fbp_phantom_take(struct fbp_phantom_text *text, char c)
{
    if (*text->at != c)
        return false;
    text->at++;
    return true;
}

fbp_status fbp_phantom_number(struct fbp_phantom_text *text, double *out)
{
    char *end;

    *out = fbp_number(text->at, &end);
    if (end == text->at || !isfinite(*out))
        return fbp_phantom_wrong(text, "not a number: '%.*s'",
                                 (int)strcspn(text->at, " \t\r\n;,)}"), text->at);
    text->at = end;
    return FBP_OK;
}

/* Room for one more element of `size` in a list of n. */
static fbp_status grow(void **list, size_t n, size_t *room, size_t size)
{
    size_t bytes;

    if (n < *room)
        return FBP_OK;
    const size_t more = *room ? 2 * *room : 16;
    FBP_TRY(fbp_mul(more, size, "phantom", &bytes));
    void *larger = realloc(*list, bytes);
    if (!larger)
        return fbp_fail_nomem(bytes, "phantom");
    *list = larger;
    *room = more;
    return FBP_OK;
}

fbp_status fbp_phantom_add(struct fbp_phantom_text *text, const struct fbp_ellipsoid *ellipsoid)
{
    struct fbp_phantom *p = text->out;

    FBP_TRY(grow((void **)&p->items, p->n, &text->room, sizeof *p->items));
    p->items[p->n] = *ellipsoid;
    p->items[p->n++].density *= text->scale;
    return FBP_OK;
}

fbp_status fbp_phantom_add_shape(struct fbp_phantom_text *text, const struct fbp_shape *shape)
{
    struct fbp_phantom *p = text->out;

    FBP_TRY(grow((void **)&p->shapes, p->n_shapes, &text->shapes_room, sizeof *p->shapes));
    p->shapes[p->n_shapes] = *shape;
    p->shapes[p->n_shapes++].density *= text->scale;
    return FBP_OK;
}

/* Arithmetic in phantom files: 1.2*cos(15), -(2+3)/4.  Recursive descent; nesting is limited, for
 * the text is not trusted. */

enum { DEEPEST = 32 };

static fbp_status sum(struct fbp_phantom_text *text, int depth, double *out);

static double apply(const char *name, double x)
{
    const double angle = x * (FBP_PI / 180);

    if (strcmp(name, "sin") == 0)
        return sin(angle);
    if (strcmp(name, "cos") == 0)
        return cos(angle);
    return strcmp(name, "tan") == 0 ? tan(angle) : sqrt(x);
}

static fbp_status function(struct fbp_phantom_text *text, int depth, double *out)
{
    char name[16];

    fbp_phantom_word(text, name, sizeof name);
    if (strcmp(name, "sin") != 0 && strcmp(name, "cos") != 0 && strcmp(name, "tan") != 0 &&
        strcmp(name, "sqrt") != 0)
        return fbp_phantom_wrong(text, "'%s' is no function: use sin, cos, tan (of degrees), sqrt",
                                 name);
    fbp_phantom_blanks(text);
    if (!fbp_phantom_take(text, '('))
        return fbp_phantom_wrong(text, "%s is not followed by '('", name);
    FBP_TRY(sum(text, depth + 1, out));
    if (!fbp_phantom_take(text, ')'))
        return fbp_phantom_wrong(text, "%s( is not closed by ')'", name);
    *out = apply(name, *out);
    return FBP_OK;
}

static fbp_status factor(struct fbp_phantom_text *text, int depth, double *out)
{
    *out = 0;
    if (depth > DEEPEST)
        return fbp_phantom_wrong(text, "more than %d expressions in one another", DEEPEST);
    fbp_phantom_blanks(text);
    if (fbp_phantom_take(text, '+'))
        return factor(text, depth + 1, out);
    if (fbp_phantom_take(text, '-')) {
        FBP_TRY(factor(text, depth + 1, out));
        *out = -*out;
        return FBP_OK;
    }
    if (fbp_phantom_take(text, '(')) {
        FBP_TRY(sum(text, depth + 1, out));
        return fbp_phantom_take(text, ')') ? FBP_OK
                                           : fbp_phantom_wrong(text, "'(' is not closed by ')'");
    }
    if (isalpha((unsigned char)*text->at))
        return function(text, depth, out);
    return fbp_phantom_number(text, out);
}

static fbp_status product(struct fbp_phantom_text *text, int depth, double *out)
{
    FBP_TRY(factor(text, depth, out));
    for (;;) {
        double right = 0;
        fbp_phantom_blanks(text);
        const bool times = fbp_phantom_take(text, '*');
        if (!times && !fbp_phantom_take(text, '/'))
            return FBP_OK;
        FBP_TRY(factor(text, depth, &right));
        *out = times ? *out * right : *out / right;
    }
}

static fbp_status sum(struct fbp_phantom_text *text, int depth, double *out)
{
    FBP_TRY(product(text, depth, out));
    for (;;) {
        double right = 0;
        const bool plus = fbp_phantom_take(text, '+');
        if (!plus && !fbp_phantom_take(text, '-'))
            return FBP_OK;
        FBP_TRY(product(text, depth, &right));
        *out += plus ? right : -right;
    }
}

fbp_status fbp_phantom_expression(struct fbp_phantom_text *text, double *out)
{
    FBP_TRY(sum(text, 0, out));
    return isfinite(*out) ? FBP_OK : fbp_phantom_wrong(text, "an expression is not finite");
}

/* Phantom files: which format, and the project's own one. */

enum { LARGEST_TEXT = 16 << 20 };

#define A_LINE "a line is x y z a b c turn density, in mm and degrees"

/* A line has 8 numbers, or 10 with three turns; and one more, m. */
enum { SIMPLE = 8, TURNED = 10, MOST = 11 };

/* Numbers of a line into v[]; how many there were. */
static fbp_status numbers_of_line(struct fbp_phantom_text *text, double v[MOST], int *n)
{
    *n = 0;
    for (;;) {
        double x;
        text->at += strspn(text->at, " \t\r,");
        if (*text->at == '\0' || *text->at == '\n' || *text->at == '#')
            return FBP_OK;
        if (fbp_phantom_number(text, &x) != FBP_OK) {
            fbp_message_clear();
            return fbp_phantom_wrong(text, "not a number: " A_LINE ", # starts a comment");
        }
        if (*n < MOST)
            v[*n] = x;
        ++*n;
    }
}

/* What a plain ellipsoid does not have: turns about other axes, and a density that falls. */
static fbp_status add_turned(struct fbp_phantom_text *text, const double *v, const double turns[3],
                             double density, double m)
{
    struct fbp_shape s = {.kind = m > 0 ? FBP_SHAPE_SOFT : FBP_SHAPE_ELLIPSOID,
                          .centre_mm = {v[0], v[1], v[2]},
                          .half_mm = {v[3], v[4], v[5]},
                          .range = {m},
                          .density = density};

    if (!(m >= 0 && m <= FBP_PHANTOM_M_MAX && m == floor(m)))
        return fbp_phantom_wrong(text,
                                 "m = %g: the density falls as (1 - q)^m, m being a whole number "
                                 "from 0 to %d",
                                 m, FBP_PHANTOM_M_MAX);
    fbp_euler_axes(turns, s.axes);
    return fbp_phantom_add_shape(text, &s);
}

static fbp_status add_line(struct fbp_phantom_text *text, const double v[MOST], int n)
{
    const bool turned = n >= TURNED;
    const double rad = FBP_PI / 180;
    const double turns[3] = {v[6] * rad, turned ? v[7] * rad : 0, turned ? v[8] * rad : 0};
    const double density = v[turned ? 9 : 7], m = n > SIMPLE && n != TURNED ? v[n - 1] : 0;

    if (!(v[3] > 0 && v[4] > 0 && v[5] > 0))
        return fbp_phantom_wrong(text, "half axes %g %g %g mm: all three must be positive", v[3],
                                 v[4], v[5]);
    if (n != SIMPLE)
        return add_turned(text, v, turns, density, m);
    return fbp_phantom_add(
        text, &(struct fbp_ellipsoid){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, v[6], density});
}

static fbp_status read_lines(struct fbp_phantom_text *text)
{
    double v[MOST];
    int n;

    for (fbp_phantom_skip(text); *text->at; fbp_phantom_skip(text)) {
        FBP_TRY(numbers_of_line(text, v, &n));
        if (n < SIMPLE || n > MOST)
            return fbp_phantom_wrong(text,
                                     "%d numbers: " A_LINE ": 8; with turns about z, x and z: 10; "
                                     "with m behind the density, for (1 - q)^m: one more",
                                     n);
        FBP_TRY(add_line(text, v, n));
    }
    return FBP_OK;
}

static const struct fbp_phantom_format lines = {
    .read = read_lines,
    .nothing = "no ellipsoids: write a line x y z a b c turn density for each",
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

/*
 * RTK's text (its GeometricPhantomFileReader, until 2025): one figure a line,
 *     [Ellipsoid] A= B= C= x= y= z= beta= gray=
 * half axes A, B, C along x, y, z, turned by beta degrees about y; 0 for an axis without end, less
 * than 0 for the axis of a double cone; [Box] with half sides that are never turned; densities add.
 * Their axis of rotation is y: (x, y, z) in the file is (x, -z, y) here.
 */

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

/*
 * The text that comes with LEAP (written for the Livermore Tomography Tools): units=cm, then
 * objects {type=ellipsoid; x=; y=; z=; rx=; ry=; rz=; ax=(,,); az=(,,); clipx<9.1;
 * rhoe=1.05*0.554;} Where objects overlap the first counts.  r* are half sizes, d* whole ones, a*
 * the directions of an object's own axes, clips planes of the world; a cone's two lengths across
 * its axis are its radii at the lower and the upper end (as LEAP's own code has it,
 * src/phantom.cpp, which lists the same objects the other way round and lets the last one count).
 */

/* rhoe is in mol of electrons a cm^3, 0.554 for water in these files; water is 0.02/mm as in LEAP's
 * own FORBILD head, about 60 keV. */
static const double WATER_RHOE = 0.554, WATER_DENSITY = 0.02;

enum kind { LEAP_ELLIPSOID, LEAP_BOX, LEAP_CYLINDER, LEAP_CONE };

static const struct {
    const char *name;
    enum kind kind;
    int axis; /* of a cylinder or cone */
} types[] = {
    {"ball", LEAP_ELLIPSOID, 2},      {"sphere", LEAP_ELLIPSOID, 2},
    {"ellipsoid", LEAP_ELLIPSOID, 2}, {"box", LEAP_BOX, 2},
    {"cylinder", LEAP_CYLINDER, 2},   {"cylinder_x", LEAP_CYLINDER, 0},
    {"cylinder_y", LEAP_CYLINDER, 1}, {"cylinder_z", LEAP_CYLINDER, 2},
    {"cone_x", LEAP_CONE, 0},         {"cone_y", LEAP_CONE, 1},
    {"cone_z", LEAP_CONE, 2},
};

enum { N_TYPES = sizeof types / sizeof *types };

static const struct {
    const char *name;
    double mm;
} units[] = {{"mm", 1}, {"cm", 10}, {"m", 1000}};

enum { N_UNITS = sizeof units / sizeof *units };

/* An object as it is written; lengths already in mm. */
struct object {
    size_t line; /* where it begins */
    int type;    /* N_TYPES: not given */
    double centre[3], half[3], axes[3][3], rhoe;
    bool has_centre[3], has_half[3], has_axis[3], has_rhoe;
    struct fbp_half_space planes[FBP_SHAPE_PLANES];
    size_t n_planes;
};

static fbp_status unknown(struct fbp_phantom_text *text, const char *word)
{
    if (strcmp(word, "material") == 0)
        return fbp_phantom_wrong(text, "material: attenuations of materials are not known here: "
                                       "leave it out, or scale rhoe");
    return fbp_phantom_wrong(text,
                             "unknown name '%s': type, x, y, z, r, rx, ry, rz, dx, dy, dz, ax, "
                             "ay, az, clipx, clipy, clipz and rhoe are known",
                             word);
}

static fbp_status once(struct fbp_phantom_text *text, const char *word, bool *seen)
{
    if (*seen)
        return fbp_phantom_wrong(text, "%s is given twice, perhaps under another name", word);
    *seen = true;
    return FBP_OK;
}

static fbp_status read_type(struct fbp_phantom_text *text, struct object *o)
{
    char word[32];

    if (o->type < N_TYPES)
        return fbp_phantom_wrong(text, "type is given twice");
    fbp_phantom_word(text, word, sizeof word);
    for (o->type = 0; o->type < N_TYPES && strcmp(word, types[o->type].name) != 0;)
        o->type++;
    if (o->type < N_TYPES)
        return FBP_OK;
    return fbp_phantom_wrong(text,
                             "unknown type '%s': ball, sphere, ellipsoid, box, cylinder, "
                             "cylinder_x to _z and cone_x to _z can be read",
                             word);
}

/* (e, e, e), made of length 1 */
static fbp_status read_axis(struct fbp_phantom_text *text, const char *word, double axis[3])
{
    for (int i = 0; i < 3; i++) {
        fbp_phantom_blanks(text);
        if (!fbp_phantom_take(text, i ? ',' : '('))
            return fbp_phantom_wrong(text, "%s: expected (X, Y, Z)", word);
        FBP_TRY(fbp_phantom_expression(text, &axis[i]));
    }
    if (!fbp_phantom_take(text, ')'))
        return fbp_phantom_wrong(text, "%s: expected (X, Y, Z)", word);
    const double length = fbp_normalise(axis);
    return length > 0 && isfinite(length)
               ? FBP_OK
               : fbp_phantom_wrong(text, "%s: a direction needs a length", word);
}

static fbp_status read_half(struct fbp_phantom_text *text, const char *word, int axis,
                            double to_half, struct object *o)
{
    FBP_TRY(once(text, word, &o->has_half[axis]));
    FBP_TRY(fbp_phantom_expression(text, &o->half[axis]));
    o->half[axis] *= to_half;
    return FBP_OK;
}

static fbp_status read_radius(struct fbp_phantom_text *text, double mm, struct object *o)
{
    double r;

    for (int i = 0; i < 3; i++)
        FBP_TRY(once(text, "r", &o->has_half[i]));
    FBP_TRY(fbp_phantom_expression(text, &r));
    for (int i = 0; i < 3; i++)
        o->half[i] = r * mm;
    return FBP_OK;
}

/* clipx<VALUE, behind its name */
static fbp_status read_clip(struct fbp_phantom_text *text, int axis, double mm, struct object *o)
{
    const bool below = fbp_phantom_take(text, '<');
    double at;

    if (!below && !fbp_phantom_take(text, '>'))
        return fbp_phantom_wrong(text, "clip%c: expected < or >", "xyz"[axis]);
    if (o->n_planes == FBP_SHAPE_PLANES)
        return fbp_phantom_wrong(text, "more than %d clips of one object", FBP_SHAPE_PLANES);
    FBP_TRY(fbp_phantom_expression(text, &at));
    struct fbp_half_space *f = &o->planes[o->n_planes++];
    f->normal[axis] = below ? 1 : -1;
    f->at_mm = (below ? at : -at) * mm;
    return FBP_OK;
}

/* "rx" with prefix "r" is 0, "ry" 1, "rz" 2, anything else -1. */
static int axis_after(const char *word, const char *prefix)
{
    const size_t n = strlen(prefix);

    if (strncmp(word, prefix, n) != 0 || word[n] < 'x' || word[n] > 'z' || word[n + 1])
        return -1;
    return word[n] - 'x';
}

/* What stands behind "NAME=". */
static fbp_status read_value(struct fbp_phantom_text *text, const char *word, double mm,
                             struct object *o)
{
    int axis;

    if (strcmp(word, "type") == 0)
        return read_type(text, o);
    if (strcmp(word, "r") == 0)
        return read_radius(text, mm, o);
    if (strcmp(word, "rhoe") == 0) {
        FBP_TRY(once(text, word, &o->has_rhoe));
        return fbp_phantom_expression(text, &o->rhoe);
    }
    if ((axis = axis_after(word, "")) >= 0) {
        FBP_TRY(once(text, word, &o->has_centre[axis]));
        FBP_TRY(fbp_phantom_expression(text, &o->centre[axis]));
        o->centre[axis] *= mm;
        return FBP_OK;
    }
    if ((axis = axis_after(word, "r")) >= 0)
        return read_half(text, word, axis, mm, o);
    if ((axis = axis_after(word, "d")) >= 0)
        return read_half(text, word, axis, mm / 2, o);
    if ((axis = axis_after(word, "a")) >= 0) {
        FBP_TRY(once(text, word, &o->has_axis[axis]));
        return read_axis(text, word, o->axes[axis]);
    }
    return unknown(text, word);
}

static fbp_status read_entry(struct fbp_phantom_text *text, double mm, struct object *o)
{
    char word[32];

    if (!fbp_phantom_word(text, word, sizeof word))
        return fbp_phantom_wrong(text, "expected NAME=VALUE, or '}' at the end of the object");
    fbp_phantom_blanks(text);
    const int clip = axis_after(word, "clip");
    if (clip >= 0)
        return read_clip(text, clip, mm, o);
    if (!fbp_phantom_take(text, '='))
        return fbp_phantom_wrong(text, "%s is not followed by '='", word);
    fbp_phantom_blanks(text);
    return read_value(text, word, mm, o);
}

static fbp_status read_object(struct fbp_phantom_text *text, double mm, struct object *o)
{
    *o = (struct object){.line = text->line, .type = N_TYPES};
    text->at++; /* '{' */
    for (;;) {
        fbp_phantom_skip(text);
        if (fbp_phantom_take(text, '}'))
            return FBP_OK;
        if (*text->at == '\0')
            return fbp_phantom_wrong(text, "the object of line %zu is not closed by '}'", o->line);
        FBP_TRY(read_entry(text, mm, o));
        fbp_phantom_skip(text);
        if (!fbp_phantom_take(text, ';') && *text->at != '}')
            return fbp_phantom_wrong(text, "expected ';' or '}' before '%.*s'",
                                     (int)strcspn(text->at, " \t\r\n;}"), text->at);
    }
}

/* Two directions give the third. */
static fbp_status complete_axes(const struct fbp_phantom_text *text, struct object *o)
{
    const int n = o->has_axis[0] + o->has_axis[1] + o->has_axis[2];

    if (n == 1)
        return fbp_phantom_wrong(text, "one of ax, ay, az leaves a turn open: give two");
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        if (n == 0)
            o->axes[i][i] = 1;
        if (o->has_axis[i] && o->has_axis[j] && fabs(fbp_dot(o->axes[i], o->axes[j])) > 1e-6)
            return fbp_phantom_wrong(text, "a%c and a%c are not at right angles", "xyz"[i],
                                     "xyz"[j]);
        if (n == 2 && !o->has_axis[k])
            fbp_cross(o->axes[i], o->axes[j], o->axes[k]);
    }
    return FBP_OK;
}

static fbp_status check_object(const struct fbp_phantom_text *text, const struct object *o)
{
    if (o->type == N_TYPES)
        return fbp_phantom_wrong(text, "type= is missing");
    if (!o->has_rhoe)
        return fbp_phantom_wrong(text, "rhoe= is missing");
    for (int i = 0; i < 3; i++) {
        const bool radius = types[o->type].kind == LEAP_CONE && i != types[o->type].axis;
        if (!o->has_half[i])
            return fbp_phantom_wrong(text, "the size along %c is missing: give r%c or d%c",
                                     "xyz"[i], "xyz"[i], "xyz"[i]);
        if (radius ? !(o->half[i] >= 0) : !(o->half[i] > 0))
            return fbp_phantom_wrong(text, "the size along %c must be positive", "xyz"[i]);
    }
    return FBP_OK;
}

/* From radius r1 at the lower end to r2 at the upper one, half a length h from the centre.  Radii
 * as good as equal make a cylinder, for the tip of the cone would be out of all proportion. */
static fbp_status make_frustum(const struct fbp_phantom_text *text, double r1, double r2, double h,
                               struct fbp_shape *s)
{
    const double least = fmin(r1, r2), greatest = fmax(r1, r2);
    const double slope = (greatest - least) / (2 * h), up = r2 > r1 ? 1 : -1;

    if (greatest == 0)
        return fbp_phantom_wrong(text, "a cone with two radii of 0");
    if (greatest - least <= 1e-9 * greatest) {
        s->kind = FBP_SHAPE_CYLINDER;
        s->half_mm[0] = s->half_mm[1] = greatest;
        s->half_mm[2] = h;
        return FBP_OK;
    }
    s->kind = FBP_SHAPE_CONE;
    s->half_mm[0] = s->half_mm[1] = slope;
    s->half_mm[2] = 1;
    s->range[0] = least / slope;
    s->range[1] = greatest / slope;
    fbp_axpy(s->centre_mm, -up * (r1 + r2) / (2 * slope), s->axes[2], s->centre_mm);
    for (int i = 0; i < 3; i++)
        s->axes[2][i] *= up;
    return FBP_OK;
}

static fbp_status add_object(struct fbp_phantom_text *text, struct object *o)
{
    struct fbp_phantom_text at = *text; /* errors are the object's first line's */
    at.line = o->line;
    FBP_TRY(check_object(&at, o));
    FBP_TRY(complete_axes(&at, o));

    static const enum fbp_shape_kind kinds[] = {FBP_SHAPE_ELLIPSOID, FBP_SHAPE_BOX,
                                                FBP_SHAPE_CYLINDER, FBP_SHAPE_CONE};
    const int last = types[o->type].axis;
    struct fbp_shape s = {.kind = kinds[types[o->type].kind],
                          .range = {-1, 1},
                          .n_planes = o->n_planes,
                          .density = o->rhoe / WATER_RHOE * WATER_DENSITY};
    memcpy(s.planes, o->planes, sizeof s.planes);
    for (int i = 0; i < 3; i++) {
        const int from = (last + 1 + i) % 3;
        s.centre_mm[i] = o->centre[i];
        s.half_mm[i] = o->half[from];
        memcpy(s.axes[i], o->axes[from], sizeof s.axes[i]);
    }
    if (types[o->type].kind == LEAP_CONE)
        FBP_TRY(
            make_frustum(&at, o->half[last == 0], o->half[last == 2 ? 1 : 2], o->half[last], &s));
    return fbp_phantom_add_shape(text, &s);
}

/* units=cm */
static fbp_status read_units(struct fbp_phantom_text *text, double *mm)
{
    char word[32];

    fbp_phantom_word(text, word, sizeof word);
    if (strcmp(word, "units") != 0 || !fbp_phantom_take(text, '='))
        return fbp_phantom_wrong(text, "expected units=cm, an object in {} or a comment");
    fbp_phantom_word(text, word, sizeof word);
    for (int i = 0; i < N_UNITS; i++)
        if (strcmp(word, units[i].name) == 0) {
            *mm = units[i].mm;
            return FBP_OK;
        }
    return fbp_phantom_wrong(text, "unknown units '%s': mm, cm and m are known", word);
}

static fbp_status read_leap(struct fbp_phantom_text *text)
{
    struct object object;
    double mm = 0;

    text->out->replace = true;
    for (fbp_phantom_skip(text); *text->at; fbp_phantom_skip(text)) {
        if (*text->at != '{') {
            FBP_TRY(read_units(text, &mm));
            continue;
        }
        if (mm == 0)
            return fbp_phantom_wrong(text, "no units yet: begin with units=cm");
        FBP_TRY(read_object(text, mm, &object));
        FBP_TRY(add_object(text, &object));
    }
    return FBP_OK;
}

const struct fbp_phantom_format fbp_phantom_leap = {
    .mark = '{',
    .read = read_leap,
    .nothing = "no objects: write {type=ellipsoid; rx=; ry=; rz=; rhoe=;} for each",
};
