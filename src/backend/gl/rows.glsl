/* Parameters and functions of all programs of the filter, included by the texts of programs that
 * gl/filter.c runs. The block `Rows` is struct rows of filter.c, member by member. */

layout(std140, binding = 0) uniform Rows
{
    uint n_views, load_rows, n_columns, first_row;
    uint view0, part_views, panel_rows, has_counts;
    uint intensity, has_dark, has_gain, use_bitmap;
    uint weights, cone, means, redundancy;
    uint pad_left, before, n_groups, n_rows;
    uint row0, first, n, row_length;
    uint wide_columns, per_lane, half_width, bound_view;
    uint samples_skip, counts_skip, bound_group, r0;
    uint r_rows, n_bridges, weighted_rows, stride;
    uint group, views_skip, lanes, edge;
    uint fit, end0, end1, n_lengths;
    uint first_view, texels, height, span;
    uint radix, exchange, apart, n_hardening;
    float inverse_i0, scale;
    double delta0, delta1, inverse_overlap;
    vec4 lengths[16];
    vec4 hardening[2];
};

/* Real (part 0) or imaginary part of a pair, a complex row of two views. */
struct Pair {
    uint lane, group;
    uint row, panel_row; /* row of the batch; row of the detector */
    uint view;           /* index in the scan */
    uint stored;         /* index in the raw batch */
    bool there;          /* false: the pair has no second part */
};

/* Returns a part of the pair with index `number` in scratch memory, which contains per_lane pairs
 * of each lane, lane after lane; the pairs of a lane are ordered by groups, then by row. */
Pair pair_of(uint number, uint part)
{
    Pair p;
    uint at = first + number % per_lane;

    p.lane = number / per_lane;
    p.group = 2u * (at / n_rows) + part;
    p.row = at % n_rows;
    p.panel_row = row0 + p.row;
    p.view = view0 + p.lane * part_views + p.group;
    p.stored = p.lane * n_groups + p.group;
    p.there = p.group < n_groups;
    return p;
}

/* Returns the index of the first sample of detector row `row` of a stored view, in the bound part
 * of the buffer. */
uint sample_of(uint stored, uint row)
{
    return samples_skip + ((stored - bound_view) * load_rows + (row - first_row)) * n_columns;
}

/* Returns the number of this group in a grid of up to 32768 groups along x; the inverse of
 * gl_groups(). */
uint group_number()
{
    return gl_WorkGroupID.y * 32768u + gl_WorkGroupID.x;
}

/* Is a value finite? Tests the bits, because compilers may assume that all values are finite. */
bool is_finite(float x)
{
    return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u;
}

/* Functions for weights: GLSL's functions are too inaccurate, and differ between renderers. These
 * have errors of a few units in the last place (polynomials of Moshier's Cephes, the logarithm of
 * Ng 1993). */

float log_of(float x) /* x: normal and positive */
{
    uint i = floatBitsToUint(x) + (0x3f800000u - 0x3f3504f3u);
    float k = float(int(i >> 23) - 127);
    float f = uintBitsToFloat((i & 0x007fffffu) + 0x3f3504f3u) - 1.0;
    float s = f / (2.0 + f), z = s * s, w = z * z;
    float r = z * (0.66666662693 + w * 0.28498786688) + w * (0.40000972152 + w * 0.24279078841);
    float h = 0.5 * f * f;

    return s * (h + r) + k * 9.0580006145e-06 - h + f + k * 6.9313812256e-01;
}

float sin_of(float x) /* x: -pi/2 ... pi/2 */
{
    float a = abs(x);

    if (a <= 0.78539816) {
        float z = x * x;
        return x + x * z * ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1);
    }
    float y = (1.5707964 - a) - 4.371139e-8, z = y * y;
    float c = 1.0 - 0.5 * z +
              z * z * ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z +
                       4.166664568298827e-2);
    return x < 0.0 ? -c : c;
}

float cos_of(float x) /* x: 0 ... pi */
{
    return sin_of((1.5707964 - x) - 4.371139e-8);
}

float atan_of(float y, float x)
{
    float most = max(abs(x), abs(y)), least = min(abs(x), abs(y));
    float t = most > 0.0 ? least / most : 0.0, a = 0.0;

    if (t > 0.41421356) {
        a = 0.78539816;
        t = (t - 1.0) / (t + 1.0);
    }
    float z = t * t;
    a += (((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z -
          3.33329491539e-1) * z * t + t;
    if (abs(y) > abs(x))
        a = (1.5707964 - a) - 4.371139e-8;
    if (x < 0.0)
        a = (3.1415927 - a) - 8.742278e-8;
    return y < 0.0 ? -a : a;
}
