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
/* Store one part of filtered pairs: one group per row. */
layout(std430, binding = 0) readonly buffer In { vec2 rows_in[]; };

float sample_of_part(uint at)
{
    return part == 0u ? rows_in[at].x : rows_in[at].y;
}

#ifdef FORMAT
/* Store a row in a layered texture, times the views' scale. Rows of two texels per column begin and
 * end with the mean of a sample and the zero outside. Two rows of zeros follow the last row if the
 * texture is high enough; rows above them are never read. */

layout(FORMAT, binding = 0) uniform image2DArray views; /* lanes are stored one after another */

/* Rounds to the nearest fp16. Drivers may truncate, which would shift all samples. */
float nearest(float q)
{
    uint bits = floatBitsToUint(q);

    return MOST > 65504.0 ? q : uintBitsToFloat((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}

void put(uint x, uint row, uint layer, uint lane, float q)
{
    ivec3 at = ivec3(int(x), int(row), int(layer));
    vec4 texel = CHANNELS > 1 && lane > 0u ? imageLoad(views, at) : vec4(0.0);

    texel[lane] = nearest(clamp(q * scale, -MOST, MOST));
    imageStore(views, at, texel);
}

void store_row(uint number, Pair p)
{
    uint from = number * row_length, layer = bound_group + p.group, last = n_rows - 1u;
    for (uint x = gl_LocalInvocationID.x; x < wide_columns + texels - 1u; x += 64u) {
        float q = x < wide_columns ? sample_of_part(from + x) : 0.0;
        float before = x > 0u ? sample_of_part(from + x - 1u) : 0.0;
        if (x < wide_columns)
            put(texels * x + texels - 1u, p.row, layer, p.lane, q);
        if (texels == 2u)
            put(2u * x, p.row, layer, p.lane, 0.5 * (before + q));
        for (uint k = 1u; p.row == last && k <= 2u && last + k < height; k++) {
            put(texels * x, last + k, layer, p.lane, 0.0);
            if (texels == 2u && x < wide_columns)
                put(2u * x + 1u, last + k, layer, p.lane, 0.0);
        }
    }
}
#elif defined PLAIN
/* Store a row in plain rows: [n_views][n_rows][wide_columns]. */

layout(std430, binding = 1) writeonly buffer Out { float plain_out[]; };

void store_row(uint number, Pair p)
{
    uint to = views_skip + ((p.stored - bound_view) * n_rows + p.row) * wide_columns;
    for (uint i = gl_LocalInvocationID.x; i < wide_columns; i += 64u)
        plain_out[to + i] = sample_of_part(number * row_length + i);
}
#else
/* Store a row in plain memory, between borders of zeros (struct gpu_plain). */

layout(std430, binding = 1) writeonly buffer Views { float views[]; };

const uint BORDER = 2u; /* GPU_BORDER */

void store_row(uint number, Pair p)
{
    uint from = number * row_length;
    uint to = views_skip + ((p.group - bound_group) * group + (BORDER + p.row) * stride) * lanes +
              p.lane;
    for (uint i = gl_LocalInvocationID.x; i < stride; i += 64u) {
        bool inside = i >= BORDER && i - BORDER < wide_columns;
        views[to + i * lanes] = inside ? sample_of_part(from + i - BORDER) : 0.0;
    }
}
#endif

void main()
{
    uint number = group_number();
    Pair p = pair_of(number);

    if (number < n && p.there)
        store_row(number, p);
}
#endif
