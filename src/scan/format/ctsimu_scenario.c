/* The geometry of a CTSimU scenario: where stage, source and detector are in every frame. */
#include "scan/format/ctsimu.h"

#include "base/math.h"
#include "geometry/view.h"

#include <stdio.h>
#include <string.h>

static const char *const xyz[3] = {"x", "y", "z"}, *const uvw[3] = {"u", "v", "w"};

enum { MAX_DEVIATIONS = 32 };

/* A coordinate system in the world. */
struct frame {
    double c[3], axis[3][3]; /* centre; unit u, v, w */
};

/* A part is put somewhere and then moved; each move is along or about the axes it has by then. */
struct deviation {
    bool turns;
    bool axis_is_local, pivot_is_local;
    double axis[3], pivot[3], amount; /* mm, rad */
};

struct part {
    struct frame at;
    size_t n_deviations;
    struct deviation deviations[MAX_DEVIATIONS];
};

struct scenario {
    struct part stage, source, detector;
    bool parallel;
    size_t n_views;
    double pitch[2], start, stop; /* mm; rad, counter-clockwise about the stage's w */
    bool includes_stop;
};

/* A vector of the part's own axes in the world. */
static void to_world(const struct frame *f, const double a[3], double out[3])
{
    const double in[3] = {a[0], a[1], a[2]};

    for (int i = 0; i < 3; i++)
        out[i] = in[0] * f->axis[0][i] + in[1] * f->axis[1][i] + in[2] * f->axis[2][i];
}

static void turn_frame(struct frame *f, const double axis[3], double angle, const double pivot[3])
{
    double R[9], arm[3];

    fbp_turn_about(axis, angle, R);
    fbp_axpy(f->c, -1, pivot, arm);
    fbp_turned(R, arm, arm);
    fbp_axpy(pivot, 1, arm, f->c);
    for (int i = 0; i < 3; i++)
        fbp_turned(R, f->axis[i], f->axis[i]);
}

static void deviate(struct frame *f, const struct deviation *d)
{
    double axis[3], pivot[3];

    if (d->axis_is_local)
        to_world(f, d->axis, axis);
    else
        memcpy(axis, d->axis, sizeof axis);
    fbp_normalise(axis);
    if (!d->turns) {
        fbp_axpy(f->c, d->amount, axis, f->c);
        return;
    }
    memcpy(pivot, d->pivot, sizeof pivot);
    if (d->pivot_is_local) {
        to_world(f, d->pivot, pivot);
        fbp_axpy(f->c, 1, pivot, pivot);
    }
    turn_frame(f, axis, d->amount, pivot);
}

/* In one frame of the scan; `angle` of the stage, 0 for the others. */
static struct frame place(const struct part *p, double angle)
{
    struct frame f = p->at;

    turn_frame(&f, p->at.axis[2], angle, p->at.c);
    for (size_t i = 0; i < p->n_deviations; i++)
        deviate(&f, &p->deviations[i]);
    return f;
}

/* A direction or point in x, y, z of the world or u, v, w of the part. */
static fbp_status read_free_vector(const struct fbp_ct *in, enum fbp_ct_unit unit, double out[3],
                                   bool *is_local)
{
    bool found;

    FBP_TRY(fbp_ct_vector(in, xyz, unit, out, &found));
    *is_local = !found;
    if (!found)
        FBP_TRY(fbp_ct_vector(in, uvw, unit, out, &found));
    return found ? FBP_OK : fbp_ct_wrong(in, "", "expected coordinates x, y, z or u, v, w");
}

/* What the vector under a key is called in messages; returns buf. */
static const char *named(char *buf, size_t n, const struct fbp_ct *in, const char *key)
{
    snprintf(buf, n, "%s.%s", in->name, key);
    return buf;
}

static fbp_status read_axis(const struct fbp_ct *in, struct deviation *out)
{
    static const char names[] = "xyzuvw";
    const cJSON *axis = fbp_ct_at(in->at, "axis");
    const char *which = cJSON_IsString(axis) && axis->valuestring[0] && !axis->valuestring[1]
                            ? strchr(names, axis->valuestring[0])
                            : NULL;

    if (which) {
        out->axis_is_local = which - names >= 3;
        out->axis[(which - names) % 3] = 1;
        return FBP_OK;
    }
    if (!cJSON_IsObject(axis))
        return fbp_ct_wrong(in, "axis", "expected x, y, z, u, v, w or a vector of them");
    char name[120];
    const struct fbp_ct free_axis = {in->file, named(name, sizeof name, in, "axis"), axis};
    FBP_TRY(read_free_vector(&free_axis, FBP_CT_NUMBER, out->axis, &out->axis_is_local));
    return fbp_norm(out->axis) > 0 ? FBP_OK : fbp_ct_wrong(in, "axis", "has no direction");
}

static fbp_status read_deviation(const struct fbp_ct *in, struct part *part)
{
    const cJSON *type = fbp_ct_at(in->at, "type"), *pivot = fbp_ct_at(in->at, "pivot");
    struct deviation *d = &part->deviations[part->n_deviations];
    bool found;

    if (cJSON_IsFalse(fbp_ct_at(in->at, "known_to_reconstruction")))
        return FBP_OK; /* it is there to spoil the scan */
    if (!cJSON_IsString(type) || (strcmp(type->valuestring, "translation") != 0 &&
                                  strcmp(type->valuestring, "rotation") != 0))
        return fbp_ct_wrong(in, "type", "expected \"translation\" or \"rotation\"");
    if (part->n_deviations == MAX_DEVIATIONS)
        return fbp_ct_wrong(in, "", "there are more than 32: put them together");
    *d = (struct deviation){.turns = type->valuestring[0] == 'r', .pivot_is_local = true};
    FBP_TRY(read_axis(in, d));
    if (pivot) {
        char name[120];
        const struct fbp_ct at = {in->file, named(name, sizeof name, in, "pivot"), pivot};
        FBP_TRY(read_free_vector(&at, FBP_CT_MM, d->pivot, &d->pivot_is_local));
    }
    FBP_TRY(fbp_ct_number(in, "amount", d->turns ? FBP_CT_RAD : FBP_CT_MM, &d->amount, &found));
    if (!found)
        return fbp_ct_wrong(in, "amount", "is missing: expected a length or an angle");
    part->n_deviations++;
    return FBP_OK;
}

static fbp_status read_deviations(const struct fbp_ct *in, struct part *part)
{
    const cJSON *list = fbp_ct_at(in->at, "deviations"), *item;
    const cJSON *old = fbp_ct_at(in->at, "deviation");
    char name[96];

    if (old && !cJSON_IsFalse(fbp_ct_at(old, "known_to_reconstruction")))
        return fbp_ct_wrong(in, "deviation",
                            "is of a format before 0.9, which is not supported: save the scenario "
                            "with a newer program");
    if (list && !cJSON_IsArray(list))
        return fbp_ct_wrong(in, "deviations", "expected a list");
    snprintf(name, sizeof name, "%s.deviations", in->name);
    for (item = list ? list->child : NULL; item; item = item->next) {
        const struct fbp_ct one = {in->file, name, item};
        FBP_TRY(read_deviation(&one, part));
    }
    return FBP_OK;
}

static fbp_status read_direction(const struct fbp_ct *in, const char *key, double out[3])
{
    char name[120];
    const struct fbp_ct vector = {in->file, named(name, sizeof name, in, key),
                                  fbp_ct_at(in->at, key)};
    bool found;

    FBP_TRY(fbp_ct_vector(&vector, xyz, FBP_CT_NUMBER, out, &found));
    if (!found || !(fbp_normalise(out) > 0))
        return fbp_ct_wrong(in, key, "expected a direction x, y, z in the world");
    return FBP_OK;
}

static fbp_status read_part(const char *file, const cJSON *root, const char *path, struct part *out)
{
    const struct fbp_ct in = {file, path, fbp_ct_at(root, path)};
    const cJSON *centre = fbp_ct_at(in.at, "center");
    char name[120];
    const struct fbp_ct at = {file, named(name, sizeof name, &in, centre ? "center" : "centre"),
                              centre ? centre : fbp_ct_at(in.at, "centre")};
    struct frame *f = &out->at;
    bool found;

    if (!in.at)
        return fbp_fail(FBP_ERR_INVALID, "%s: %s is missing: is it a complete scenario?", file,
                        path);
    FBP_TRY(fbp_ct_vector(&at, xyz, FBP_CT_MM, f->c, &found));
    if (!found)
        return fbp_ct_wrong(&in, "center", "expected x, y, z in the world");
    FBP_TRY(read_direction(&in, "vector_u", f->axis[0]));
    FBP_TRY(read_direction(&in, "vector_w", f->axis[2]));
    if (!(fabs(fbp_dot(f->axis[0], f->axis[2])) < 1e-6))
        return fbp_ct_wrong(&in, "vector_u", "is not at right angles to vector_w");
    fbp_cross(f->axis[2], f->axis[0], f->axis[1]);
    return read_deviations(&in, out);
}

static fbp_status read_detector(const char *file, const cJSON *root, struct scenario *s,
                                struct fbp_panel *panel)
{
    const struct fbp_ct in = {file, "detector", fbp_ct_at(root, "detector")};
    const struct fbp_ct binning = {file, "acquisition", fbp_ct_at(root, "acquisition")};
    static const char *const keys[2][2] = {{"pixel_pitch.u", "pixel_binning.u"},
                                           {"pixel_pitch.v", "pixel_binning.v"}};
    size_t *const sizes[2] = {&panel->n_columns, &panel->n_rows};

    for (int i = 0; i < 2; i++) {
        double bin = 1;
        bool found;
        FBP_TRY(fbp_ct_count(&in, i ? "rows" : "columns", sizes[i]));
        FBP_TRY(fbp_ct_number(&in, keys[i][0], FBP_CT_MM, &s->pitch[i], &found));
        if (!found || !(s->pitch[i] > 0))
            return fbp_ct_wrong(&in, keys[i][0], "expected a length above 0");
        FBP_TRY(fbp_ct_number(&binning, keys[i][1], FBP_CT_NUMBER, &bin, &found));
        if (!(fabs(bin - 1) < 1e-9))
            return fbp_ct_wrong(&binning, keys[i][1],
                                "binned pixels are not supported: give columns, rows and pitch of "
                                "the binned ones, and 1 here");
    }
    return FBP_OK;
}

static fbp_status read_acquisition(const char *file, const cJSON *root, struct scenario *s)
{
    const struct fbp_ct in = {file, "acquisition", fbp_ct_at(root, "acquisition")};
    const cJSON *direction = fbp_ct_at(in.at, "direction");
    bool found[2];

    FBP_TRY(fbp_ct_count(&in, "number_of_projections", &s->n_views));
    FBP_TRY(fbp_ct_number(&in, "start_angle", FBP_CT_RAD, &s->start, &found[0]));
    FBP_TRY(fbp_ct_number(&in, "stop_angle", FBP_CT_RAD, &s->stop, &found[1]));
    if (!found[0] || !found[1])
        return fbp_ct_wrong(&in, found[0] ? "stop_angle" : "start_angle", "is missing");
    if (s->stop < s->start)
        return fbp_ct_wrong(&in, "stop_angle",
                            "is below start_angle: swap them and give the direction as \"CW\"");
    s->includes_stop = !cJSON_IsFalse(fbp_ct_at(in.at, "include_final_angle"));
    if (direction && (!cJSON_IsString(direction) || (strcmp(direction->valuestring, "CW") != 0 &&
                                                     strcmp(direction->valuestring, "CCW") != 0)))
        return fbp_ct_wrong(&in, "direction", "expected \"CCW\" or \"CW\"");
    if (direction && strcmp(direction->valuestring, "CW") == 0) {
        s->start = -s->start;
        s->stop = -s->stop;
    }
    return FBP_OK;
}

static fbp_status read_source_type(const char *file, const cJSON *root, bool *parallel)
{
    const struct fbp_ct in = {file, "geometry.source", fbp_ct_at(root, "geometry.source")};
    const cJSON *type = fbp_ct_at(in.at, "type");

    if (type && (!cJSON_IsString(type) || (strcmp(type->valuestring, "cone") != 0 &&
                                           strcmp(type->valuestring, "parallel") != 0)))
        return fbp_ct_wrong(&in, "type", "expected \"cone\" or \"parallel\"");
    *parallel = type && strcmp(type->valuestring, "parallel") == 0;
    return FBP_OK;
}

/* A vector of the world in the axes of a frame. */
static void in_frame(const struct frame *f, const double a[3], double scale, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = scale * fbp_dot(f->axis[i], a);
}

static void view_of(const struct scenario *s, size_t k, struct fbp_view *out)
{
    const size_t steps = s->n_views - (s->includes_stop && s->n_views > 1);
    const double angle = s->start + (double)k * (s->stop - s->start) / (double)steps;
    const struct frame stage = place(&s->stage, angle), source = place(&s->source, 0);
    const struct frame panel = place(&s->detector, 0);
    double from[3];

    fbp_axpy(source.c, -1, stage.c, from);
    if (s->parallel) /* its w is the way of the rays */
        in_frame(&stage, source.axis[2], -1, out->s);
    else
        in_frame(&stage, from, 1, out->s);
    fbp_axpy(panel.c, -1, stage.c, from);
    in_frame(&stage, from, 1, out->d);
    in_frame(&stage, panel.axis[0], s->pitch[0], out->u);
    in_frame(&stage, panel.axis[1], s->pitch[1], out->v);
}

/* Pictures start where v starts, usually at the top: rows that run down are turned over, so that
 * the views are as those of other formats. */
static void turn_rows_up(struct fbp_scan *out)
{
    out->row_order = FBP_ROWS_BOTTOM_UP;
    if (!(out->views[0].v[2] < -1e-9 * fbp_norm(out->views[0].v)))
        return;
    out->row_order = FBP_ROWS_TOP_DOWN;
    for (size_t k = 0; k < out->n_views; k++)
        for (int i = 0; i < 3; i++)
            out->views[k].v[i] = -out->views[k].v[i];
}

fbp_status fbp_ct_scenario(struct fbp_scan *out, const char *file, const cJSON *root,
                           const struct fbp_geometry_known *known)
{
    struct scenario s = {.n_views = 0};

    FBP_TRY(read_part(file, root, "geometry.stage", &s.stage));
    FBP_TRY(read_part(file, root, "geometry.source", &s.source));
    FBP_TRY(read_part(file, root, "geometry.detector", &s.detector));
    FBP_TRY(read_source_type(file, root, &s.parallel));
    FBP_TRY(read_detector(file, root, &s, &out->panel));
    FBP_TRY(read_acquisition(file, root, &s));
    out->kind = s.parallel ? FBP_PARALLEL : FBP_CONE;
    FBP_TRY(fbp_geometry_make_views(out, file, known, s.n_views));
    for (size_t k = 0; k < s.n_views; k++)
        view_of(&s, k, &out->views[k]);
    turn_rows_up(out);
    return FBP_OK;
}
