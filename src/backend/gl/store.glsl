/* Stores filtered rows in the views of a kernel, or as plain rows; run by gl/filter.c. Programs:
 * store; store FORMAT; with PLAIN: store plain; with BORDER_ROWS: border. */

layout(local_size_x = 64) in;

#ifdef BORDER_ROWS
/* Write rows of zeros below and above the views of a batch: one group per row, four rows per view.
 * */
layout(std430, binding = 0) writeonly buffer Views { float views[]; };

const uint BORDER = 2u; /* GPU_BORDER */

void main()
{
    uint number = group_number();
    if (number >= n)
        return;
    uint line = number % (2u * BORDER), row = line < BORDER ? line : line + n_rows;
    uint to = views_skip + (number / (2u * BORDER) * group + row * stride) * lanes;

    for (uint i = gl_LocalInvocationID.x; i < stride * lanes; i += 64u)
        views[to + i] = 0.0;
}
#else
layout(std430, binding = 0) readonly buffer In { vec2 rows_in[]; };

#ifdef PLAIN
/* Store both rows of a pair in plain rows, [n_views][n_rows][wide_columns]: one group per pair. */

layout(std430, binding = 1) writeonly buffer Out { float plain_out[]; };

void store_pair(uint number, Pair p, bool second)
{
    uint to = views_skip + ((p.stored - bound_view) * n_rows + p.row) * wide_columns;
    for (uint i = gl_LocalInvocationID.x; i < wide_columns; i += 64u) {
        vec2 q = rows_in[number * row_length + i];
        plain_out[to + i] = q.x;
        if (second)
            plain_out[to + n_rows * wide_columns + i] = q.y;
    }
}
#else
/* Store pairs of rows in the layout of a kernel, all lanes at once: one group per pair of the first
 * lane. */
#ifdef FORMAT
/* Store rows in a layered texture, times the views' scale. Rows of two texels per column begin and
 * end with the mean of a sample and the zero outside. Two rows of zeros follow the last row if the
 * texture is high enough; rows above them are never read. */

layout(FORMAT, binding = 0) writeonly uniform image2DArray views;

/* Rounds to the nearest fp16. Drivers may truncate, which would shift all samples. */
float nearest(float q)
{
    uint bits = floatBitsToUint(q);

    return MOST > 65504.0 ? q : uintBitsToFloat((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}

/* Both texels of a pair at one column: a channel per lane. */
struct Texels {
    vec4 of[2];
};

Texels texels_at(uint number, uint x)
{
    Texels t;

    t.of[0] = vec4(0.0);
    t.of[1] = vec4(0.0);
    for (uint lane = 0u; lane < CHANNELS && x < wide_columns; lane++) {
        vec2 q = rows_in[(number + lane * per_lane) * row_length + x];
        t.of[0][lane] = q.x;
        t.of[1][lane] = q.y;
    }
    return t;
}

void put(uint x, uint row, uint layer, vec4 q)
{
    q = clamp(q * scale, -MOST, MOST);
    imageStore(views, ivec3(int(x), int(row), int(layer)),
               vec4(nearest(q.x), nearest(q.y), nearest(q.z), nearest(q.w)));
}

void store_pair(uint number, Pair p, bool second)
{
    uint last = n_rows - 1u;

    for (uint x = gl_LocalInvocationID.x; x < wide_columns + texels - 1u; x += 64u) {
        Texels here = texels_at(number, x);
        Texels left = texels_at(number, texels == 2u ? x - 1u : wide_columns); /* or zeros */
        for (uint part = 0u; part < (second ? 2u : 1u); part++) {
            uint layer = bound_group + p.group + part;
            if (x < wide_columns)
                put(texels * x + texels - 1u, p.row, layer, here.of[part]);
            if (texels == 2u)
                put(2u * x, p.row, layer, 0.5 * (left.of[part] + here.of[part]));
            for (uint k = 1u; p.row == last && k <= 2u && last + k < height; k++) {
                put(texels * x, last + k, layer, vec4(0.0));
                if (texels == 2u && x < wide_columns)
                    put(2u * x + 1u, last + k, layer, vec4(0.0));
            }
        }
    }
}
#else
/* Store rows in plain memory, between borders of zeros (struct gpu_plain). */

layout(std430, binding = 1) writeonly buffer Views { float views[]; };

const uint BORDER = 2u; /* GPU_BORDER */

void store_pair(uint number, Pair p, bool second)
{
    uint to = views_skip + ((p.group - bound_group) * group + (BORDER + p.row) * stride) * lanes;
    for (uint i = gl_LocalInvocationID.x; i < stride; i += 64u) {
        bool inside = i >= BORDER && i - BORDER < wide_columns;
        for (uint lane = 0u; lane < lanes; lane++) {
            uint from = (number + lane * per_lane) * row_length + i - BORDER;
            vec2 q = inside ? rows_in[from] : vec2(0.0);
            views[to + i * lanes + lane] = q.x;
            if (second)
                views[to + group * lanes + i * lanes + lane] = q.y;
        }
    }
}
#endif
#endif

void main()
{
    uint number = before + group_number();

    if (group_number() < n)
        store_pair(number, pair_of(number, 0u), pair_of(number, 1u).there);
}
#endif
