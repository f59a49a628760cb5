/* Writes the shaders of Ino et al. (2009) in GLSL 3.30.  Called by s3_sum.c and s3_views.c.  Each
 * value has a line of its own, because gl_s3_cost() counts operations by line.
 * Used by: bench/gl/. */
#include "bench/gl/s3_plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char channels[] = "xyzw";

static void put(char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(char *text, const char *fmt, ...)
{
    const size_t at = strlen(text);
    va_list args;

    va_start(args, fmt);
    vsnprintf(text + at, GL_S3_TEXT - at, fmt, args);
    va_end(args);
}

/* Of all views of a texel. */
static const char *type_of(unsigned texel)
{
    return texel == GL_S3_FOUR ? "vec4" : "float";
}

static void begin(char *text, bool counted)
{
    text[0] = 0;
    put(text, counted ? "#version 420 core\n" : "#version 330 core\n");
}

/* Names of the variables of one texel of views in a shader, and the index of its first number. */
struct texel {
    const struct fbp_s3_way *way;
    const struct fbp_s3_variant *v;
    const char *type;
    char name[4]; /* behind the names of the second and later */
    unsigned index, first;
};

static struct texel texel_of(const struct fbp_s3_way *way, unsigned index)
{
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);
    struct texel t = {.way = way,
                      .v = v,
                      .type = type_of(gl_s3_texel(v)),
                      .index = index,
                      .first = index * gl_s3_n_numbers(v)};

    if (index)
        snprintf(t.name, sizeof t.name, "_%u", index % 10);
    return t;
}

/* u w, v w and w at (x, y); `type` "" where they are declared. */
static void put_linear(char *text, const struct texel *t, const char *type)
{
    static const struct {
        char name;
        unsigned at;
    } of[] = {{'U', GL_S3_U}, {'V', GL_S3_V}, {'W', GL_S3_W}};

    for (int i = 0; i < 3; i++) {
        const unsigned c = t->first + of[i].at;
        put(text, "    %s %c%s = x * c[%u] + y * c[%u] + c[%u];\n", type, of[i].name, t->name, c,
            c + 1, c + 2);
    }
}

static const char corners[] = "    vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, "
                              "gl_VertexID == 2 ? 3.0 : -1.0);\n";

void gl_s3_vertex_text(const struct fbp_s3_way *way, char *out)
{
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);
    const struct texel t = texel_of(way, 0);

    begin(out, false);
    if (v->balanced)
        put(out,
            "uniform %s c[%u];\n"
            "uniform vec2 place, size;\n"
            "noperspective out %s U, V, W;\n",
            t.type, gl_s3_n_numbers(v), t.type);
    put(out, "void main()\n{\n%s    gl_Position = vec4(p, 0.0, 1.0);\n", corners);
    if (v->balanced) {
        put(out, "    float x = (p.x + 1.0) * 0.5 * size.x - place.x;\n"
                 "    float y = (p.y + 1.0) * 0.5 * size.y - place.y;\n");
        put_linear(out, &t, "");
    }
    put(out, "}\n");
}

const char *gl_s3_cover_text(void)
{
    return "#version 330 core\n"
           "uniform float depth;\n"
           "void main()\n{\n"
           "    vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);\n"
           "    gl_Position = vec4(p, depth, 1.0);\n"
           "}\n";
}

static void put_interpolation(char *text, bool exact)
{
    put(text, exact
                  ? "vec4 at(int i, int j, int texel)\n{\n"
                    "    ivec2 n = textureSize(views, 0).xy;\n"
                    "    return uint(i) < uint(n.x) && uint(j) < uint(n.y)\n"
                    "        ? texelFetch(views, ivec3(i, j, layer + texel), 0) : vec4(0.0);\n"
                    "}\n"
                    "float bilinear(float u, float v, float column, float row, int texel, int of)\n"
                    "{\n"
                    "    float fu = floor(clamp(u, -1e6, 1e6)), fv = floor(clamp(v, -1e6, 1e6));\n"
                    "    float a = u - fu;\n"
                    "    float b = v - fv;\n"
                    "    int i = int(fu) + int(column), j = int(fv) + int(row);\n"
                    "    float p = at(i, j, texel)[of], q = at(i + 1, j, texel)[of];\n"
                    "    float r = at(i, j + 1, texel)[of], s = at(i + 1, j + 1, texel)[of];\n"
                    "    p = p + a * (q - p);\n"
                    "    r = r + a * (s - r);\n"
                    "    p = p + b * (r - p);\n"
                    "    return p;\n"
                    "}\n"
                  : "#define bilinear(u, v, texel) "
                    "texture(views, vec3(u, v, float(layer + texel)))\n");
}

/* The view of channel k at slice z of a pass. */
static void put_fetch(char *text, const struct texel *t, unsigned k, unsigned z)
{
    const unsigned column = t->first + GL_S3_COLUMN, row = t->first + GL_S3_ROW;
    char of[3] = {'.', channels[k], 0}, u[8] = "u";

    if (gl_s3_texel(t->v) == 1)
        of[0] = 0;
    if (t->v->matrices)
        snprintf(u, sizeof u, "u%u", z % 100);
    if (t->way->exact)
        put(text, "bilinear(%s%s%s, v%u%s%s, c[%u]%s, c[%u]%s, %u, %u)", u, t->name, of, z, t->name,
            of, column, of, row, of, t->index, k);
    else
        put(text, "bilinear(%s%s%s, v%u%s%s, %u).%c", u, t->name, of, z, t->name, of, t->index,
            channels[k]);
}

/* 1/w, the weight, and u and v at the pass's first slice; of all of them, in variants of any
 * matrices, at slice z. */
static void put_place(char *text, const struct texel *t, unsigned z)
{
    const char *n = t->name;
    char at[4] = "", add[3][24] = {"", "", ""};

    if (t->v->matrices)
        snprintf(at, sizeof at, "%u", z % 100);
    for (int i = 0; z > 0 && i < 3; i++) {
        static const unsigned slopes[3] = {GL_S3_DU, GL_S3_DV, GL_S3_DW};
        snprintf(add[i], sizeof add[i], " + %u.0 * c[%u]", z, t->first + slopes[i]);
    }
    put(text, "    %s r%s%s = 1.0 / (W%s%s);\n", t->type, at, n, n, add[2]);
    put(text, "    %s weight%s%s = r%s%s * r%s%s;\n", t->type, at, n, at, n, at, n);
    put(text, "    %s u%s%s = (U%s%s) * r%s%s", t->type, at, n, n, add[0], at, n);
    if (!t->way->exact)
        put(text, " + c[%u]", t->first + GL_S3_COLUMN);
    put(text, ";\n    %s v%u%s = (V%s%s) * r%s%s", t->type, z, n, n, add[1], at, n);
    if (!t->way->exact)
        put(text, " + c[%u]", t->first + GL_S3_ROW);
    put(text, ";\n");
}

/* Write the sum s<z> that slice z of a pass gets from a texel of views. */
static void put_slice(char *text, const struct texel *t, unsigned z)
{
    const char *n = t->name;
    char weight[12] = "weight", sum[16];

    if (t->v->matrices)
        snprintf(weight, sizeof weight, "weight%u", z % 100);
    if (t->v->matrices || z == 0)
        put_place(text, t, z);
    else
        put(text, "    %s v%u%s = v0%s + %u.0 * dv%s;\n", t->type, z, n, n, z, n);
    snprintf(sum, sizeof sum, t->index ? "s%u = s%u +" : "float s%u =", z, z);
    if (gl_s3_texel(t->v) == 1) {
        put(text, "    %s %s * ", sum, weight);
        put_fetch(text, t, 0, z);
        put(text, ";\n");
        return;
    }
    put(text, "    vec4 f%u%s = vec4(", z, n);
    for (unsigned k = 0; k < GL_S3_FOUR; k++) {
        put(text, "%s", k ? ", " : "");
        put_fetch(text, t, k, z);
    }
    put(text, ");\n    %s dot(%s%s, f%u%s);\n", sum, weight, n, z, n);
}

static void put_texel(char *text, const struct texel *t)
{
    if (!t->v->balanced)
        put_linear(text, t, t->type);
    for (unsigned z = 0; z < t->v->slices; z++) {
        put_slice(text, t, z);
        if (z == 0 && t->v->slices > 1 && !t->v->matrices)
            put(text, "    %s dv%s = c[%u] * r%s;\n", t->type, t->name, t->first + GL_S3_DV,
                t->name);
    }
}

/* Write the sums into the targets; for ping-pong, after adding the sums of the earlier passes. */
static void put_sums(char *text, const struct fbp_s3_way *way)
{
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);
    const bool packs = gl_s3_packs_slices(v);

    for (unsigned i = 0; i < v->targets; i++) {
        if (packs)
            put(text, "    vec4 t%u = vec4(s%u, s%u, s%u, s%u);\n", i, 4 * i, 4 * i + 1, 4 * i + 2,
                4 * i + 3);
        if (way->sum == FBP_S3_PING_PONG)
            put(text,
                "    %s o%u = %c%u + texelFetch(sums, ivec3(gl_FragCoord.xy, before+%u), 0)%s;\n"
                "    sum%u = o%u;\n",
                packs ? "vec4" : "float", i, packs ? 't' : 's', i, i, packs ? "" : ".x", i, i);
        else
            put(text, "    sum%u = %c%u;\n", i, packs ? 't' : 's', i);
    }
}

static void put_interface(char *text, const struct fbp_s3_way *way)
{
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);
    const bool packs = gl_s3_packs_slices(v);

    if (way->count)
        put(text, "layout(early_fragment_tests) in;\n"
                  "layout(binding = 0, offset = 0) uniform atomic_uint shaded;\n");
    put(text,
        "uniform %s c[%d];\n"
        "uniform vec2 place;\n"
        "uniform int layer;\n"
        "uniform sampler2DArray views;\n",
        type_of(gl_s3_texel(v)), gl_s3_texels(v) * gl_s3_n_numbers(v));
    if (way->sum == FBP_S3_PING_PONG)
        put(text, "uniform sampler2DArray sums;\nuniform int before;\n");
    if (v->balanced)
        put(text, "noperspective in %s U, V, W;\n", type_of(gl_s3_texel(v)));
    for (unsigned i = 0; i < v->targets; i++)
        put(text, "layout(location = %u) out %s sum%u;\n", i, packs ? "vec4" : "float", i);
}

void gl_s3_fragment_text(const struct fbp_s3_way *way, char *out)
{
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);

    begin(out, way->count);
    put_interface(out, way);
    put_interpolation(out, way->exact);
    put(out, "void main()\n{\n");
    if (!v->balanced)
        put(out, "    float x = gl_FragCoord.x - place.x;\n"
                 "    float y = gl_FragCoord.y - place.y;\n");
    for (unsigned i = 0; i < gl_s3_texels(v); i++) {
        const struct texel t = texel_of(way, i);
        put_texel(out, &t);
    }
    put_sums(out, way);
    put(out, "%s}\n", way->count ? "    atomicCounterIncrement(shaded);\n" : "");
}

void gl_s3_weigh_text(unsigned views, char *out)
{
    begin(out, false);
    put(out,
        "uniform sampler2DArray rows, image;\n"
        "uniform sampler2D lines;\n"
        "uniform int layer, first, last;\n"
        "layout(location = 0) out %s weighted;\n"
        "float line(int x, int k)\n{\n"
        "    return texelFetch(lines, ivec2(x, min(first + k, last)), 0).x;\n"
        "}\n"
        "void main()\n{\n"
        "    ivec2 p = ivec2(gl_FragCoord.xy);\n",
        type_of(views));
    put(out, views == 1
                 ? "    float w = line(p.x, 0);\n"
                 : "    vec4 w = vec4(line(p.x, 0), line(p.x, 1), line(p.x, 2), line(p.x, 3));\n");
    put(out,
        "    weighted = texelFetch(rows, ivec3(p, layer), 0)%s *\n"
        "               (texelFetch(image, ivec3(p, 0), 0)%s * w);\n"
        "}\n",
        views == 1 ? ".x" : "", views == 1 ? ".x" : "");
}

/* Round to the nearest fp16 in the shader, because drivers may truncate, which would shift all
 * samples. */
static void put_nearest(char *text, unsigned views)
{
    const char *type = type_of(views), *bits = views == 1 ? "uint" : "uvec4";

    put(text,
        "uniform float scale;\n"
        "%s nearest(%s q)\n{\n"
        "    %s bits = floatBitsToUint(clamp(q * scale, -65504.0, 65504.0));\n"
        "    return uintBitsToFloat((bits + 0xfffu + (bits >> 13 & %s(1u))) & ~0x1fffu);\n"
        "}\n",
        type, type, bits, bits);
}

void gl_s3_convolve_text(unsigned views, bool half, char *out)
{
    const char *type = type_of(views);

    begin(out, false);
    put(out,
        "uniform sampler2DArray rows;\n"
        "uniform sampler2D taps;\n"
        "uniform int reach;\n"
        "layout(location = 0) out %s filtered;\n",
        type);
    if (half)
        put_nearest(out, views);
    put(out,
        "void main()\n{\n"
        "    ivec2 p = ivec2(gl_FragCoord.xy);\n"
        "    int last = min(p.x + reach, textureSize(rows, 0).x - 1);\n"
        "    %s sum = %s(0.0);\n"
        "    for (int i = max(p.x - reach, 0); i <= last; i++)\n"
        "        sum += texelFetch(taps, ivec2(abs(i - p.x), 0), 0).x *\n"
        "               texelFetch(rows, ivec3(i, p.y, 0), 0)%s;\n"
        "    filtered = %s;\n"
        "}\n",
        type, type, views == 1 ? ".x" : "", half ? "nearest(sum)" : "sum");
}

/* Costs of a fragment, counted in the text of its shader by the rules of struct fbp_s3_cost. */

enum { FETCH = 11, DOT = 7 };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Count the operations of a line: operators have blanks on both sides, and count once per component
 * of the line's type. */
static double count_line(const char *line, const char *end)
{
    while (*line == ' ')
        line++;
    const double width = begins(line, "vec4 ") ? 4 : 1;
    double n = 0;
    for (const char *p = line; p + 2 < end; p++) {
        if (p[0] == ' ' && p[2] == ' ' && strchr("+-*/", p[1]))
            n += width;
        if (begins(p, "dot("))
            n += DOT;
    }
    return n;
}

/* Count the operations in the body of a function of a shader. */
static double count_body(const char *text, const char *head)
{
    const char *at = strstr(text, head);
    double n = 0;

    at = at ? strstr(at, "{\n") : NULL;
    while (at && *at != '}') {
        const char *line = strchr(at, '\n') + 1, *end = strchr(line, '\n');
        n += count_line(line, end);
        at = line;
    }
    return n;
}

void gl_s3_cost(const struct fbp_s3_way *way, struct fbp_s3_cost *out)
{
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);
    const double texel = gl_s3_texel(v) * (way->half ? 2.0 : sizeof(float));
    char *text = malloc(GL_S3_TEXT);

    *out = (struct fbp_s3_cost){0};
    if (!text) /* then nothing is known */
        return;
    gl_s3_fragment_text(way, text);
    out->updates = v->views * v->slices;
    out->processing = count_body(text, "void main()");
    if (way->sum == FBP_S3_BLEND)
        out->processing += v->slices;
    if (way->exact)
        out->processing += out->updates * count_body(text, "float bilinear(");
    out->texture = way->exact ? 0 : FETCH * (double)out->updates;
    out->bytes = texel * out->updates + 2.0 * sizeof(float) * v->slices;
    free(text);
}
