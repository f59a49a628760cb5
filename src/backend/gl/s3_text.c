/* The shaders of S3 as texts.  GLSL 3.30, so that old cards have them; one line a value, since
 * s3_cost.c counts them. */
#include "backend/gl/s3_plan.h"

#include <stdarg.h>
#include <stdio.h>
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

/* Of all views of a pass. */
static const char *type_of(unsigned views)
{
    return views == GL_S3_FOUR ? "vec4" : "float";
}

static void begin(char *text, bool counted)
{
    text[0] = 0;
    put(text, counted ? "#version 420 core\n" : "#version 330 core\n");
}

/* u w, v w and w at (x, y); `type` "" where they are declared. */
static void put_linear(char *text, const char *type)
{
    put(text, "    %s U = x * c[0] + y * c[1] + c[2];\n", type);
    put(text, "    %s V = x * c[3] + y * c[4] + c[5];\n", type);
    put(text, "    %s W = x * c[7] + y * c[8] + c[9];\n", type);
}

static const char corners[] = "    vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, "
                              "gl_VertexID == 2 ? 3.0 : -1.0);\n";

void gl_s3_vertex_text(const struct fbp_s3_way *way, char *out)
{
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);
    const char *type = type_of(v->views);

    begin(out, false);
    if (v->balanced)
        put(out,
            "uniform %s c[%d];\n"
            "uniform vec2 place, size;\n"
            "noperspective out %s U, V, W;\n",
            type, GL_S3_NUMBERS, type);
    put(out, "void main()\n{\n%s    gl_Position = vec4(p, 0.0, 1.0);\n", corners);
    if (v->balanced) {
        put(out, "    float x = (p.x + 1.0) * 0.5 * size.x - place.x;\n"
                 "    float y = (p.y + 1.0) * 0.5 * size.y - place.y;\n");
        put_linear(out, "");
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
                  ? "vec4 at(int i, int j)\n{\n"
                    "    ivec2 n = textureSize(views, 0).xy;\n"
                    "    return uint(i) < uint(n.x) && uint(j) < uint(n.y)\n"
                    "        ? texelFetch(views, ivec3(i, j, layer), 0) : vec4(0.0);\n"
                    "}\n"
                    "float bilinear(float u, float v, float column, float row, int of)\n{\n"
                    "    float fu = floor(clamp(u, -1e6, 1e6)), fv = floor(clamp(v, -1e6, 1e6));\n"
                    "    float a = u - fu;\n"
                    "    float b = v - fv;\n"
                    "    int i = int(fu) + int(column), j = int(fv) + int(row);\n"
                    "    float p = at(i, j)[of], q = at(i + 1, j)[of];\n"
                    "    float r = at(i, j + 1)[of], s = at(i + 1, j + 1)[of];\n"
                    "    p = p + a * (q - p);\n"
                    "    r = r + a * (s - r);\n"
                    "    p = p + b * (r - p);\n"
                    "    return p;\n"
                    "}\n"
                  : "#define bilinear(u, v) texture(views, vec3(u, v, float(layer)))\n");
}

/* View k at slice z of a pass. */
static void put_fetch(char *text, const struct fbp_s3_way *way, unsigned k, unsigned z)
{
    const bool one = gl_s3_variant(way->variant)->views == 1;
    char of[3] = {'.', channels[k], 0};

    if (one)
        of[0] = 0;
    if (way->exact)
        put(text, "bilinear(u%s, v%u%s, c[10]%s, c[11]%s, %u)", of, z, of, of, of, k);
    else
        put(text, "bilinear(u%s, v%u%s).%c", of, z, of, channels[k]);
}

/* What slice z of a pass gets: s<z>. */
static void put_slice(char *text, const struct fbp_s3_way *way, unsigned z)
{
    const unsigned views = gl_s3_variant(way->variant)->views;

    if (z > 0)
        put(text, "    %s v%u = v0 + %u.0 * dv;\n", type_of(views), z, z);
    if (views == 1) {
        put(text, "    float s%u = weight * ", z);
        put_fetch(text, way, 0, z);
        put(text, ";\n");
        return;
    }
    put(text, "    vec4 f%u = vec4(", z);
    for (unsigned k = 0; k < views; k++) {
        put(text, "%s", k ? ", " : "");
        put_fetch(text, way, k, z);
    }
    put(text, ");\n    float s%u = dot(weight, f%u);\n", z, z);
}

/* Into the targets; going from one texture to the other, what was there is added here. */
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
        type_of(v->views), GL_S3_NUMBERS);
    if (way->sum == FBP_S3_PING_PONG)
        put(text, "uniform sampler2DArray sums;\nuniform int before;\n");
    if (v->balanced)
        put(text, "noperspective in %s U, V, W;\n", type_of(v->views));
    for (unsigned i = 0; i < v->targets; i++)
        put(text, "layout(location = %u) out %s sum%u;\n", i, packs ? "vec4" : "float", i);
}

void gl_s3_fragment_text(const struct fbp_s3_way *way, char *out)
{
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);
    const char *type = type_of(v->views);

    begin(out, way->count);
    put_interface(out, way);
    put_interpolation(out, way->exact);
    put(out, "void main()\n{\n");
    if (!v->balanced) {
        put(out, "    float x = gl_FragCoord.x - place.x;\n"
                 "    float y = gl_FragCoord.y - place.y;\n");
        put_linear(out, type);
    }
    put(out, "    %s r = 1.0 / W;\n    %s weight = r * r;\n", type, type);
    put(out, "    %s u = U * r%s;\n", type, way->exact ? "" : " + c[10]");
    put(out, "    %s v0 = V * r%s;\n", type, way->exact ? "" : " + c[11]");
    if (v->slices > 1)
        put(out, "    %s dv = c[6] * r;\n", type);
    for (unsigned z = 0; z < v->slices; z++)
        put_slice(out, way, z);
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

void gl_s3_convolve_text(unsigned views, char *out)
{
    begin(out, false);
    put(out,
        "uniform sampler2DArray rows;\n"
        "uniform sampler2D taps;\n"
        "uniform int reach;\n"
        "layout(location = 0) out %s filtered;\n"
        "void main()\n{\n"
        "    ivec2 p = ivec2(gl_FragCoord.xy);\n"
        "    int last = min(p.x + reach, textureSize(rows, 0).x - 1);\n"
        "    %s sum = %s(0.0);\n"
        "    for (int i = max(p.x - reach, 0); i <= last; i++)\n"
        "        sum += texelFetch(taps, ivec2(abs(i - p.x), 0), 0).x *\n"
        "               texelFetch(rows, ivec3(i, p.y, 0), 0)%s;\n"
        "    filtered = sum;\n"
        "}\n",
        type_of(views), type_of(views), type_of(views), views == 1 ? ".x" : "");
}
