/* Weights of samples, included by the texts of the filter (gl/filter.c): products of an image and
 * lines, or ray by ray as in weight/ray.h. Terms that would cancel are computed in double. */

layout(std430, binding = 2) readonly buffer Image { float image[]; };
layout(std430, binding = 3) readonly buffer Lines { float lines[]; };
layout(std430, binding = 4) readonly buffer Rays { double rays[]; }; /* struct fbp_ray_view */

const uint PRODUCTS = 1u, RAY_BY_RAY = 2u;
const uint PARKER = 1u, WANG = 2u, PER_RAY = 3u;
const uint VIEW = 21u, FACTOR = 9u, STEP = 10u, END = 11u, OF_END = 5u; /* in doubles */

/* A group computes weights for up to two rows, which have indices i. */
shared vec3 ray_q[2], ray_u[2];
shared float ray_factor[2];
shared double ray_ramp[8];

/* Compute the part of the weights of row i that all its columns share; called by one thread,
 * followed by a barrier. */
void find_rays(uint i, uint view, uint row)
{
    if (weights != RAY_BY_RAY)
        return;
    uint at = view * VIEW;
    double q[3], u[3];
    for (uint k = 0u; k < 3u; k++) {
        u[k] = rays[at + 3u + k];
        q[k] = rays[at + k] + double(row) * rays[at + 6u + k];
    }
    double x = q[1] * u[2] - q[2] * u[1], y = q[2] * u[0] - q[0] * u[2];
    double z = q[0] * u[1] - q[1] * u[0], f = rays[at + FACTOR];
    ray_q[i] = vec3(float(q[0]), float(q[1]), float(q[2]));
    ray_u[i] = vec3(float(u[0]), float(u[1]), float(u[2]));
    ray_factor[i] = float(cone == 1u ? f / sqrt(x * x + y * y + z * z) : f);
    for (uint k = 0u; k < 2u; k++) {
        ray_ramp[4u * i + 2u * k] = (k == 1u ? -q[1] : q[1]) * delta0 - q[0] * delta1;
        ray_ramp[4u * i + 2u * k + 1u] = (k == 1u ? -u[1] : u[1]) * delta0 - u[0] * delta1;
    }
}

float geometry_of(uint i, vec3 at)
{
    float across = at.x * at.x + at.z * at.z;
    return cone == 1u ? ray_factor[i] * sqrt(across / (across + at.y * at.y)) : ray_factor[i];
}

float parker(float angle, float half_ramp)
{
    float s = sin_of(0.78539816339744830962 * max(angle, 0.0) / half_ramp);
    return 2.0 * s * s;
}

double lack(uint end, double half_ramp)
{
    double share0 = rays[end + 3u], share1 = rays[end + 4u];
    double width = share1 - share0, stop = min(share1, 2.0LF * half_ramp);

    if (half_ramp <= 0.0LF)
        return share0 > 0.0LF ? 0.0LF : 2.0LF * half_ramp / width;
    if (stop <= share0)
        return 0.0LF;
    double quarter = 0.78539816339744830962LF / half_ramp;
    float middle = float(quarter * (stop + share0)), reach = float(quarter * (stop - share0));
    return (stop - share0) / width * double(1.0 + cos_of(middle) * sin_of(reach) / reach);
}

float redundancy_of(uint i, uint view, vec3 at, float column)
{
    float n = -at.x, t = at.y, c = float(delta0), s = float(delta1);
    double m = 2.0LF;

    if (redundancy == WANG) {
        float x = (cone == 1u ? atan_of(t, n) : t) * float(inverse_overlap);
        return 1.0 + sin_of(1.57079632679489661923 * clamp(x, -1.0, 1.0));
    }
    if (redundancy != PARKER)
        return 1.0;
    for (uint k = 0u; k < 2u; k++) {
        uint end = view * VIEW + END + k * OF_END, ramp = 4u * i + 2u * k;
        float y = cone == 1u ? float(ray_ramp[ramp] + double(column) * ray_ramp[ramp + 1u]) : s;
        float x = cone == 1u ? n * c + (k == 1u ? t : -t) * s : c;
        if (means == 1u)
            m -= lack(end, double(atan_of(y, x)));
        else if (y > 0.0 && float(rays[end + 1u]) * y > float(rays[end + 2u]) * x)
            return parker(float(rays[end]), atan_of(y, x));
    }
    return float(m);
}

/* The weight of column c of row i of the group. */
float weight_of(uint i, uint view, uint row, uint c)
{
    if (weights == PRODUCTS)
        return image[row * n_columns + c] * lines[view * n_columns + c];
    vec3 at = ray_q[i] + float(c) * ray_u[i];
    if (redundancy == PER_RAY)
        return geometry_of(i, at) * lines[view * n_columns + c];
    return float(rays[view * VIEW + STEP]) * geometry_of(i, at) *
           redundancy_of(i, view, at, float(c));
}
