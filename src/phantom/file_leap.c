/*
 * The text that comes with LEAP (written for the Livermore Tomography Tools): units=cm, then
 * objects {type=ellipsoid; x=; y=; z=; rx=; ry=; rz=; ax=(,,); az=(,,); clipx<9.1;
 * rhoe=1.05*0.554;} Where objects overlap the first counts.  r* are half sizes, d* whole ones, a*
 * the directions of an object's own axes, clips planes of the world; a cone's two lengths across
 * its axis are its radii at the lower and the upper end (as LEAP's own code has it,
 * src/phantom.cpp, which lists the same objects the other way round and lets the last one count).
 */
#include "phantom/file.h"

#include "base/vec.h"

#include <string.h>

/* rhoe is in mol of electrons a cm^3, 0.554 for water in these files; water is 0.02/mm as in LEAP's
 * own FORBILD head, about 60 keV. */
static const double WATER_RHOE = 0.554, WATER_DENSITY = 0.02;

enum kind { ELLIPSOID, BOX, CYLINDER, CONE };

static const struct {
    const char *name;
    enum kind kind;
    int axis; /* of a cylinder or cone */
} types[] = {
    {"ball", ELLIPSOID, 2},      {"sphere", ELLIPSOID, 2},
    {"ellipsoid", ELLIPSOID, 2}, {"box", BOX, 2},
    {"cylinder", CYLINDER, 2},   {"cylinder_x", CYLINDER, 0},
    {"cylinder_y", CYLINDER, 1}, {"cylinder_z", CYLINDER, 2},
    {"cone_x", CONE, 0},         {"cone_y", CONE, 1},
    {"cone_z", CONE, 2},
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
        const bool radius = types[o->type].kind == CONE && i != types[o->type].axis;
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
    if (types[o->type].kind == CONE)
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
