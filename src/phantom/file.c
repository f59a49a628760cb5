/* Reads text files that describe phantoms as ellipsoids and other shapes, in the formats of fbp,
 * RTK and LEAP: fbp_phantom_load() and a parser per format.
 * Used by: table.c. */
#include "phantom/shapes.h"

#include "array/file/bytes.h"

#include "base/math.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* M_MAX: greatest exponent m of a soft ellipsoid, whose density is proportional to (1 - q)^m, with
 * q = 0 at its centre and 1 at its surface. LARGEST_TEXT: greatest size of a phantom file [bytes].
 * DEEPEST: greatest depth of nested expressions in a file. */
enum { M_MAX = 100, LARGEST_TEXT = 16 << 20, DEEPEST = 32 };

/* State of the parser of a phantom file, and the phantom to which it adds ellipsoids and shapes. */
struct text {
    const char *path;
    const char *at; /* the next character; '\0' ends the text */
    size_t line;    /* line number of the next character, from 1 */
    double scale;   /* factor of densities */
    struct fbp_phantom *out;
    size_t room, shapes_room; /* numbers of ellipsoids and shapes for which memory is allocated */
};

/* Return FBP_ERR_INVALID with a message "PATH:LINE: ..." about the current line of the file. */
static fbp_status __attribute__((format(printf, 2, 3)))
wrong(const struct text *text, const char *fmt, ...)
{
    char what[320];

    FBP_PRINT_ARGUMENTS(what, sizeof what, fmt);
    return FBP_INVALID("%s:%zu: %s", text->path, text->line, what);
}

static void skip_blanks(struct text *text)
{
    text->at += strspn(text->at, " \t\r");
}

/* Skip blanks, line ends and comments; a comment begins with '#' or "//" and ends with its line. */
static void skip(struct text *text)
{
    for (;;) {
        skip_blanks(text);
        if (*text->at == '#' || strncmp(text->at, "//", 2) == 0)
            text->at += strcspn(text->at, "\n");
        if (*text->at != '\n')
            return;
        text->at++;
        text->line++;
    }
}

/* Read letters, digits and '_' into word[n]; a longer word is cut off at n - 1 bytes. False if
 * there are none. */
static bool read_word(struct text *text, char *word, size_t n)
{
    size_t k = 0;

    while (isalnum((unsigned char)text->at[k]) || text->at[k] == '_')
        k++;
    snprintf(word, n, "%.*s", (int)(k < n ? k : n - 1), text->at);
    text->at += k;
    return k > 0;
}

static bool take(struct text *text, char c)
{
    if (*text->at != c)
        return false;
    text->at++;
    return true;
}

/* Read a finite number, as strtod does. */
static fbp_status read_number(struct text *text, double *out)
{
    char *end;

    *out = fbp_number(text->at, &end);
    if (end == text->at || !isfinite(*out))
        return wrong(text, "not a number: '%.*s'", (int)strcspn(text->at, " \t\r\n;,)}"), text->at);
    text->at = end;
    return FBP_OK;
}

static fbp_status add_ellipsoid(struct text *text, const struct fbp_ellipsoid *ellipsoid)
{
    struct fbp_phantom *p = text->out;

    FBP_TRY(fbp_reserve((void **)&p->items, sizeof *p->items, p->n + 1, &text->room, "phantom"));
    p->items[p->n] = *ellipsoid;
    p->items[p->n++].density *= text->scale;
    return FBP_OK;
}

static fbp_status add_shape(struct text *text, const struct fbp_shape *shape)
{
    struct fbp_phantom *p = text->out;

    FBP_TRY(fbp_reserve((void **)&p->shapes, sizeof *p->shapes, p->n_shapes + 1, &text->shapes_room,
                        "phantom"));
    p->shapes[p->n_shapes] = *shape;
    p->shapes[p->n_shapes++].density *= text->scale;
    return FBP_OK;
}

/* Recursive-descent parser of expressions in LEAP's files: + - * / of numbers, (...), sin(...),
 * cos(...), tan(...) and sqrt(...); angles are in degrees. The depth of the recursion is limited,
 * because files may be malicious. */

/* Read factors joined by * and / (products), or products joined by + and -. */
static fbp_status terms(struct text *text, int depth, bool products, double *out);

static fbp_status factor(struct text *text, int depth, double *out)
{
    char name[16];

    *out = 0;
    if (depth > DEEPEST)
        return wrong(text, "more than %d nested expressions", DEEPEST);
    skip_blanks(text);
    if (take(text, '+'))
        return factor(text, depth + 1, out);
    if (take(text, '-')) {
        FBP_TRY(factor(text, depth + 1, out));
        *out = -*out;
        return FBP_OK;
    }
    if (take(text, '(')) {
        FBP_TRY(terms(text, depth + 1, false, out));
        return take(text, ')') ? FBP_OK : wrong(text, "'(' is not closed by ')'");
    }
    if (!isalpha((unsigned char)*text->at))
        return read_number(text, out);

    read_word(text, name, sizeof name);
    const bool is_sin = strcmp(name, "sin") == 0, is_cos = strcmp(name, "cos") == 0;
    const bool is_tan = strcmp(name, "tan") == 0, is_sqrt = strcmp(name, "sqrt") == 0;
    if (!is_sin && !is_cos && !is_tan && !is_sqrt)
        return wrong(text, "'%s' is not a function; use sin, cos, tan (of degrees) or sqrt", name);
    skip_blanks(text);
    if (!take(text, '('))
        return wrong(text, "%s is not followed by '('", name);
    FBP_TRY(terms(text, depth + 1, false, out));
    if (!take(text, ')'))
        return wrong(text, "%s( is not closed by ')'", name);
    const double x = *out, angle = x * (FBP_PI / 180);
    *out = is_sin ? sin(angle) : is_cos ? cos(angle) : is_tan ? tan(angle) : sqrt(x);
    return FBP_OK;
}

static fbp_status terms(struct text *text, int depth, bool products, double *out)
{
    FBP_TRY(products ? factor(text, depth, out) : terms(text, depth, true, out));
    for (;;) {
        double right = 0;
        skip_blanks(text);
        const bool first = take(text, products ? '*' : '+');
        if (!first && !take(text, products ? '/' : '-'))
            return FBP_OK;
        FBP_TRY(products ? factor(text, depth, &right) : terms(text, depth, true, &right));
        if (products)
            *out = first ? *out * right : *out / right;
        else
            *out += first ? right : -right;
    }
}

static fbp_status read_expression(struct text *text, double *out)
{
    FBP_TRY(terms(text, 0, false, out));
    return isfinite(*out) ? FBP_OK : wrong(text, "an expression is not finite");
}

/* Format of fbp's own phantom files: one ellipsoid per line, 8 numbers "x y z a b c turn density",
 * or 10 with three rotation angles in place of one; optionally one more number, the exponent m of a
 * soft ellipsoid (see M_MAX). */

#define A_LINE "expected a line of x y z a b c turn density, in mm and degrees"

enum { SIMPLE = 8, TURNED = 10, MOST = 11 };

static fbp_status read_lines(struct text *text)
{
    const double rad = FBP_PI / 180;

    for (skip(text); *text->at; skip(text)) {
        double v[MOST] = {0};
        int n = 0;
        for (;; n++) {
            double x;
            text->at += strspn(text->at, " \t\r,");
            if (*text->at == '\0' || *text->at == '\n' || *text->at == '#')
                break;
            if (read_number(text, &x) != FBP_OK) {
                fbp_message_clear();
                return wrong(text, "not a number: " A_LINE ", # starts a comment");
            }
            if (n < MOST)
                v[n] = x;
        }
        if (n < SIMPLE || n > MOST)
            return wrong(text,
                         "%d numbers: " A_LINE
                         ", expected 8, or 10 with turns about z, x and z, or one more for the "
                         "exponent m of the density (1 - q)^m",
                         n);
        if (!(v[3] > 0 && v[4] > 0 && v[5] > 0))
            return wrong(text, "half axes %g %g %g mm; all three must be positive", v[3], v[4],
                         v[5]);
        if (n == SIMPLE) {
            FBP_TRY(add_ellipsoid(
                text, &(struct fbp_ellipsoid){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, v[6], v[7]}));
            continue;
        }
        /* Store an ellipsoid that is soft, or has three rotation angles, as a struct fbp_shape,
         * because struct fbp_ellipsoid cannot describe it. */
        const bool turned = n >= TURNED;
        const double turns[3] = {v[6] * rad, turned ? v[7] * rad : 0, turned ? v[8] * rad : 0};
        const double m = n != TURNED ? v[n - 1] : 0;
        struct fbp_shape s = {.kind = m > 0 ? FBP_SHAPE_SOFT : FBP_SHAPE_ELLIPSOID,
                              .centre_mm = {v[0], v[1], v[2]},
                              .half_mm = {v[3], v[4], v[5]},
                              .range = {m},
                              .density = v[turned ? 9 : 7]};
        if (!(m >= 0 && m <= M_MAX && m == floor(m)))
            return wrong(text,
                         "m = %g: expected a whole number from 0 to %d, the exponent of the "
                         "density (1 - q)^m",
                         m, M_MAX);
        fbp_euler_axes(turns, s.axes);
        FBP_TRY(add_shape(text, &s));
    }
    return FBP_OK;
}

/*
 * RTK's text format (GeometricPhantomFileReader of versions until 2025): one figure per line,
 *     [Ellipsoid] A= B= C= x= y= z= beta= gray=
 * Half axes A, B, C along x, y, z, rotated by beta degrees about y; 0: the figure is unbounded
 * along this axis; negative: axis of a double cone.  [Box] has half sides and no rotation.
 * Densities add up.  RTK's axis of rotation is y: (x, y, z) in the file is (x, -z, y) in fbp.
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

/* Permute the axes of a shape cyclically until axis k is the last. */
static void axis_last(struct fbp_shape *s, int k)
{
    const struct fbp_shape old = *s;

    for (int i = 0; i < 3; i++) {
        const int from = (k + 1 + i) % 3;
        s->half_mm[i] = old.half_mm[from];
        memcpy(s->axes[i], old.axes[from], sizeof s->axes[i]);
    }
}

/* Count the half axes A, B, C that have the sign `sign` (-1, 0 or 1); *which: the last of them. */
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

static fbp_status add_figure(struct text *text, int figure, const double v[N_KEYS])
{
    const double t = v[BETA] * (FBP_PI / 180);
    /* Convert the figure's centre and the directions of its half axes from RTK's coordinates
     * (rotation axis y) to fbp's (rotation axis z). */
    struct fbp_shape s = {.centre_mm = {v[X], -v[Z], v[Y]},
                          .axes = {{cos(t), -sin(t), 0}, {0, 0, 1}, {-sin(t), -cos(t), 0}},
                          .half_mm = {v[A], v[B], v[C]},
                          .density = v[GRAY]};
    int special = 0;
    const int positive = of_sign(v, 1, &special);
    const int zero = of_sign(v, 0, &special);

    if (figure == BOX && positive == 3) {
        if (v[BETA] != 0)
            return wrong(text, "beta=%g: RTK does not rotate boxes; set it to 0", v[BETA]);
        s.kind = FBP_SHAPE_BOX;
        return add_shape(text, &s);
    }
    if (figure == ELLIPSOID && positive == 3)
        return add_ellipsoid(text, &(struct fbp_ellipsoid){.centre_mm = {v[X], -v[Z], v[Y]},
                                                           .axes_mm = {v[A], v[C], v[B]},
                                                           .turn_deg = -v[BETA],
                                                           .density = v[GRAY]});
    if ((figure == ELLIPSOID || figure == CYLINDER) && positive == 2 && zero == 1) {
        axis_last(&s, special);
        s.kind = FBP_SHAPE_CYLINDER;
        s.half_mm[2] = 1;
        s.range[0] = -INFINITY;
        s.range[1] = INFINITY;
        return add_shape(text, &s);
    }
    if (figure == CONE && positive == 2 && of_sign(v, -1, &special) == 1) {
        /* Add a double cone as two shapes, because only a single nappe is convex. */
        axis_last(&s, special);
        s.kind = FBP_SHAPE_CONE;
        s.half_mm[2] = fabs(s.half_mm[2]);
        s.range[1] = INFINITY;
        FBP_TRY(add_shape(text, &s));
        for (int i = 0; i < 3; i++)
            s.axes[2][i] = -s.axes[2][i];
        return add_shape(text, &s);
    }
    return wrong(
        text, "[%s] with A=%g B=%g C=%g: %s", figures[figure], v[A], v[B], v[C],
        figure == CYLINDER ? "one must be 0, the cylinder's axis, the others positive"
        : figure == CONE   ? "one must be negative, the cone's axis, the others positive"
        : figure == ELLIPSOID
            ? "all three must be positive, or one 0, the axis of an infinitely long cylinder"
            : "all three must be positive");
}

static fbp_status read_rtk(struct text *text)
{
    char word[32];

    for (skip(text); *text->at; skip(text)) {
        double v[N_KEYS] = {0}; /* x, y, z and beta default to 0, the others are required */
        bool seen[N_KEYS] = {false};
        if (*text->at != '[') {
            if (read_word(text, word, sizeof word) && strcmp(word, "Phantom") == 0)
                continue; /* the first line of RTK's own files */
            return wrong(text, "expected a [Figure] or a comment");
        }
        text->at++;
        read_word(text, word, sizeof word);
        const int figure = index_of(word, figures, N_FIGURES);
        if (figure == N_FIGURES)
            return wrong(
                text, "unknown figure [%s]; Ellipsoid, Cylinder, Cone and Box are supported", word);
        if (!take(text, ']'))
            return wrong(text, "[%s is not closed by ']'", word);
        for (skip_blanks(text); read_word(text, word, sizeof word); skip_blanks(text)) {
            const int k = index_of(word, keys, N_KEYS);
            if (k == N_KEYS)
                return wrong(text, "unknown name '%s'; use A, B, C, x, y, z, beta or gray", word);
            if (seen[k])
                return wrong(text, "%s is given twice", word);
            skip_blanks(text);
            if (!take(text, '='))
                return wrong(text, "%s is not followed by '='", word);
            skip_blanks(text);
            FBP_TRY(read_number(text, &v[k]));
            seen[k] = true;
        }
        for (int k = 0; k < N_KEYS; k++)
            if (!seen[k] && (k <= C || k == GRAY))
                return wrong(text, "%s= is missing", keys[k]);
        if (*text->at && !strchr("\n#/", *text->at))
            return wrong(text, "expected NAME=VALUE, found '%.*s'",
                         (int)strcspn(text->at, " \t\r\n"), text->at);
        FBP_TRY(add_figure(text, figure, v));
    }
    return FBP_OK;
}

/*
 * LEAP's text format (written for the Livermore Tomography Tools): units=cm, then objects
 *     {type=ellipsoid; x=; y=; z=; rx=; ry=; rz=; ax=(,,); az=(,,); clipx<9.1; rhoe=1.05*0.554;}
 * If objects overlap, the first one determines the density.  r*: half sizes; d*: whole sizes; a*:
 * directions of the object's axes; clip*: planes in world coordinates.  The two lengths across the
 * axis of a cone are its radii at the lower and at the upper end.  LEAP's src/phantom.cpp agrees;
 * it lists the same objects in reverse order, and the last one determines the density.
 */

/* Electron density (rhoe) of water in files of LEAP [mol electrons per cm^3], and attenuation of
 * water at about 60 keV [1/mm]. Their quotient converts rhoe to fbp's densities. */
static const double WATER_RHOE = 0.554, WATER_DENSITY = 0.02;

enum kind { LEAP_ELLIPSOID, LEAP_BOX, LEAP_CYLINDER, LEAP_CONE };

static const struct {
    const char *name;
    enum kind kind;
    int axis; /* axis of a cylinder or cone */
} types[] = {
    {"ball", LEAP_ELLIPSOID, 2},      {"sphere", LEAP_ELLIPSOID, 2},
    {"ellipsoid", LEAP_ELLIPSOID, 2}, {"box", LEAP_BOX, 2},
    {"cylinder", LEAP_CYLINDER, 2},   {"cylinder_x", LEAP_CYLINDER, 0},
    {"cylinder_y", LEAP_CYLINDER, 1}, {"cylinder_z", LEAP_CYLINDER, 2},
    {"cone_x", LEAP_CONE, 0},         {"cone_y", LEAP_CONE, 1},
    {"cone_z", LEAP_CONE, 2},
};

enum { N_TYPES = sizeof types / sizeof *types };

/* An object of a file in LEAP's format; lengths are converted to mm. */
struct object {
    size_t line; /* line of the object's '{' */
    int type;    /* N_TYPES: not given */
    double centre[3], half[3], axes[3][3], rhoe;
    bool has_centre[3], has_half[3], has_axis[3], has_rhoe;
    struct fbp_half_space planes[FBP_SHAPE_PLANES];
    size_t n_planes;
};

/* Fail if a key was seen before. */
static fbp_status once(struct text *text, const char *word, bool *seen)
{
    if (*seen)
        return wrong(text, "%s is given twice, perhaps under another name", word);
    *seen = true;
    return FBP_OK;
}

/* Read a length in the file's units into *out [mm]. */
static fbp_status read_length(struct text *text, const char *word, double mm, bool *seen,
                              double *out)
{
    FBP_TRY(once(text, word, seen));
    FBP_TRY(read_expression(text, out));
    *out *= mm;
    return FBP_OK;
}

/* Get the axis that follows a prefix: with prefix "r", "rx" is 0, "ry" 1, "rz" 2, others -1. */
static int axis_after(const char *word, const char *prefix)
{
    const size_t n = strlen(prefix);

    if (strncmp(word, prefix, n) != 0 || word[n] < 'x' || word[n] > 'z' || word[n + 1])
        return -1;
    return word[n] - 'x';
}

/* Read one entry of an object in LEAP's format: NAME=VALUE, or a clipping plane such as
 * clipx<VALUE; mm: the file's unit of length [mm]. */
static fbp_status read_entry(struct text *text, double mm, struct object *o)
{
    char word[32];
    int axis;

    if (!read_word(text, word, sizeof word))
        return wrong(text, "expected NAME=VALUE, or '}' at the end of the object");
    skip_blanks(text);
    if ((axis = axis_after(word, "clip")) >= 0) {
        const bool below = take(text, '<');
        double at;
        if (!below && !take(text, '>'))
            return wrong(text, "clip%c: expected < or >", "xyz"[axis]);
        if (o->n_planes == FBP_SHAPE_PLANES)
            return wrong(text, "more than %d clips of one object", FBP_SHAPE_PLANES);
        FBP_TRY(read_expression(text, &at));
        struct fbp_half_space *f = &o->planes[o->n_planes++];
        f->normal[axis] = below ? 1 : -1;
        f->at_mm = (below ? at : -at) * mm;
        return FBP_OK;
    }
    if (!take(text, '='))
        return wrong(text, "%s is not followed by '='", word);
    skip_blanks(text);

    if (strcmp(word, "type") == 0) {
        if (o->type < N_TYPES)
            return wrong(text, "type is given twice");
        read_word(text, word, sizeof word);
        for (o->type = 0; o->type < N_TYPES && strcmp(word, types[o->type].name) != 0;)
            o->type++;
        if (o->type == N_TYPES)
            return wrong(text,
                         "unknown type '%s'; use ball, sphere, ellipsoid, box, cylinder, "
                         "cylinder_x to _z or cone_x to _z",
                         word);
        return FBP_OK;
    }
    if (strcmp(word, "r") == 0) {
        double r;
        for (int i = 0; i < 3; i++)
            FBP_TRY(once(text, "r", &o->has_half[i]));
        FBP_TRY(read_expression(text, &r));
        for (int i = 0; i < 3; i++)
            o->half[i] = r * mm;
        return FBP_OK;
    }
    if (strcmp(word, "rhoe") == 0) {
        FBP_TRY(once(text, word, &o->has_rhoe));
        return read_expression(text, &o->rhoe);
    }
    if ((axis = axis_after(word, "")) >= 0)
        return read_length(text, word, mm, &o->has_centre[axis], &o->centre[axis]);
    if ((axis = axis_after(word, "r")) >= 0)
        return read_length(text, word, mm, &o->has_half[axis], &o->half[axis]);
    if ((axis = axis_after(word, "d")) >= 0)
        return read_length(text, word, mm / 2, &o->has_half[axis], &o->half[axis]);
    if ((axis = axis_after(word, "a")) >= 0) { /* (e, e, e), normalised */
        double *const e = o->axes[axis];
        FBP_TRY(once(text, word, &o->has_axis[axis]));
        for (int i = 0; i < 3; i++) {
            skip_blanks(text);
            if (!take(text, i ? ',' : '('))
                return wrong(text, "%s: expected (X, Y, Z)", word);
            FBP_TRY(read_expression(text, &e[i]));
        }
        if (!take(text, ')'))
            return wrong(text, "%s: expected (X, Y, Z)", word);
        const double length = fbp_normalise(e);
        return length > 0 && isfinite(length)
                   ? FBP_OK
                   : wrong(text, "%s: the direction must not be 0", word);
    }
    if (strcmp(word, "material") == 0)
        return wrong(text, "material: fbp has no table of materials; remove material, and scale "
                           "rhoe to the attenuation");
    return wrong(text,
                 "unknown name '%s'; use type, x, y, z, r, rx, ry, rz, dx, dy, dz, ax, ay, az, "
                 "clipx, clipy, clipz or rhoe",
                 word);
}

/* Check an object of a file in LEAP's format, and add its shape to the phantom. */
static fbp_status add_object(struct text *text, struct object *o)
{
    static const enum fbp_shape_kind kinds[] = {FBP_SHAPE_ELLIPSOID, FBP_SHAPE_BOX,
                                                FBP_SHAPE_CYLINDER, FBP_SHAPE_CONE};
    const int n = o->has_axis[0] + o->has_axis[1] + o->has_axis[2];
    struct text at = *text; /* errors refer to the object's first line */

    at.line = o->line;
    if (o->type == N_TYPES)
        return wrong(&at, "type= is missing");
    if (!o->has_rhoe)
        return wrong(&at, "rhoe= is missing");
    for (int i = 0; i < 3; i++) {
        const bool radius = types[o->type].kind == LEAP_CONE && i != types[o->type].axis;
        if (!o->has_half[i])
            return wrong(&at, "the size along %c is missing; give r%c or d%c", "xyz"[i], "xyz"[i],
                         "xyz"[i]);
        if (radius ? !(o->half[i] >= 0) : !(o->half[i] > 0))
            return wrong(&at,
                         radius ? "the radius along %c must not be negative"
                                : "the size along %c must be positive",
                         "xyz"[i]);
    }

    /* Two directions determine the third. */
    if (n == 1)
        return wrong(&at, "one of ax, ay, az does not determine the rotation; give two of them");
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        if (n == 0)
            o->axes[i][i] = 1;
        if (o->has_axis[i] && o->has_axis[j] && fabs(fbp_dot(o->axes[i], o->axes[j])) > 1e-6)
            return wrong(&at, "a%c and a%c must be at right angles", "xyz"[i], "xyz"[j]);
        if (n == 2 && !o->has_axis[k])
            fbp_cross(o->axes[i], o->axes[j], o->axes[k]);
    }

    const int last = types[o->type].axis;
    struct fbp_shape s = {.kind = kinds[types[o->type].kind],
                          .range = {-1, 1},
                          .n_planes = o->n_planes,
                          .density = o->rhoe / WATER_RHOE * WATER_DENSITY};
    memcpy(s.planes, o->planes, sizeof s.planes);
    memcpy(s.centre_mm, o->centre, sizeof s.centre_mm);
    memcpy(s.half_mm, o->half, sizeof s.half_mm);
    memcpy(s.axes, o->axes, sizeof s.axes);
    axis_last(&s, last);
    if (types[o->type].kind != LEAP_CONE)
        return add_shape(text, &s);

    /* Add a cone with radius r1 at its lower end and r2 at its upper end; both ends are at distance
     * h from the centre. If the radii are nearly equal, the tip of the cone would be too far away,
     * and a cylinder is added instead. */
    const double r1 = o->half[last == 0], r2 = o->half[last == 2 ? 1 : 2], h = o->half[last];
    const double least = fmin(r1, r2), greatest = fmax(r1, r2);
    const double slope = (greatest - least) / (2 * h), up = r2 > r1 ? 1 : -1;

    if (greatest == 0)
        return wrong(&at, "the cone has two radii of 0; give one above 0");
    if (greatest - least <= 1e-9 * greatest) {
        s.kind = FBP_SHAPE_CYLINDER;
        s.half_mm[0] = s.half_mm[1] = greatest;
        s.half_mm[2] = h;
        return add_shape(text, &s);
    }
    s.kind = FBP_SHAPE_CONE;
    s.half_mm[0] = s.half_mm[1] = slope;
    s.half_mm[2] = 1;
    s.range[0] = least / slope;
    s.range[1] = greatest / slope;
    fbp_axpy(s.centre_mm, -up * (r1 + r2) / (2 * slope), s.axes[2], s.centre_mm);
    for (int i = 0; i < 3; i++)
        s.axes[2][i] *= up;
    return add_shape(text, &s);
}

static fbp_status read_leap(struct text *text)
{
    static const struct {
        const char *name;
        double mm;
    } units[] = {{"mm", 1}, {"cm", 10}, {"m", 1000}};
    enum { N_UNITS = sizeof units / sizeof *units };
    struct object object;
    double mm = 0;
    char word[32];

    text->out->replace = true;
    for (skip(text); *text->at; skip(text)) {
        if (!take(text, '{')) {
            int unit = 0;
            read_word(text, word, sizeof word);
            if (strcmp(word, "units") != 0 || !take(text, '='))
                return wrong(text, "expected units=cm, an object in {} or a comment");
            read_word(text, word, sizeof word);
            while (unit < N_UNITS && strcmp(word, units[unit].name) != 0)
                unit++;
            if (unit == N_UNITS)
                return wrong(text, "unknown units '%s'; use mm, cm or m", word);
            mm = units[unit].mm;
            continue;
        }
        if (mm == 0)
            return wrong(text, "the units are missing; begin the file with units=cm");
        object = (struct object){.line = text->line, .type = N_TYPES};
        for (skip(text); !take(text, '}'); skip(text)) {
            if (*text->at == '\0')
                return wrong(text, "the object of line %zu is not closed by '}'", object.line);
            FBP_TRY(read_entry(text, mm, &object));
            skip(text);
            if (!take(text, ';') && *text->at != '}')
                return wrong(text, "expected ';' or '}' before '%.*s'",
                             (int)strcspn(text->at, " \t\r\n;}"), text->at);
        }
        FBP_TRY(add_object(text, &object));
    }
    return FBP_OK;
}

/* Formats of phantom files. The first line that begins with the `mark` of a format ('[': RTK, '{':
 * LEAP) selects it; a file without such a line is read in fbp's format. */
static const struct format {
    char mark;
    fbp_status (*read)(struct text *text);
    const char *nothing; /* message about an empty file */
} formats[] = {
    {'[', read_rtk, "no figures; write a line [Ellipsoid] A= B= C= x= y= z= beta= gray= for each"},
    {'{', read_leap, "no objects; write {type=ellipsoid; rx=; ry=; rz=; rhoe=;} for each"},
    {'\0', read_lines, "no ellipsoids; write a line x y z a b c turn density for each"},
};

fbp_status fbp_phantom_load(struct fbp_phantom *out, const char *path, double scale)
{
    const struct format *format = &formats[2];
    char *content = NULL;
    size_t n = 0;

    FBP_TRY(fbp_read_text(path, LARGEST_TEXT, &content, &n));
    for (const char *line = content; *line && format->mark == '\0'; line += *line == '\n') {
        line += strspn(line, " \t\r");
        for (int i = 0; i < 2; i++)
            if (*line == formats[i].mark)
                format = &formats[i];
        line += strcspn(line, "\n");
    }
    struct text text = {.path = path, .at = content, .line = 1, .scale = scale, .out = out};
    fbp_status st = format->read(&text);
    if (st == FBP_OK && (size_t)(text.at - content) < n)
        st = wrong(&text, "a byte of value 0; the file is not a text file");
    if (st == FBP_OK && out->n + out->n_shapes == 0)
        st = FBP_INVALID("%s: %s", path, format->nothing);
    free(content);
    return st;
}
