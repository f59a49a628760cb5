/* A pass of groups of views, each at all places of an orbit. */

void add_views(ivec3 p)
{
    vec2 t = vec2(p.xy + ivec2(domain_x0, domain_y0)) - vec2(x_ref, y_ref);
    float tz = float(z0 + p.z) - z_ref;
    uint slice = uint(nx * ny * LAYERS), at = volume_skip / uint(TURNS) +
              uint((p.z * ny + p.y - y0) * nx + p.x);
    vec4 sum[SLICES];

    for (int k = 0; k < SLICES; k++)
        sum[k] = p.z + k * LAYERS < nz ? WIDE(volume[at + uint(k) * slice]) : vec4(0.0);
    for (int i = 0; i < n; i++) {
        vec2 place = t;
        add_place(i, 0, place, tz, sum);
        place = turned(place);
        add_place(i, 1, place, tz, sum);
#if TURNS == 4
        place = turned(place);
        add_place(i, 2, place, tz, sum);
        place = turned(place);
        add_place(i, 3, place, tz, sum);
#endif
    }
    for (int k = 0; k < SLICES; k++)
        if (p.z + k * LAYERS < nz)
            volume[at + uint(k) * slice] = NARROW(sum[k]);
}

void main()
{
    Box b = box_of_group();
    ivec3 p = b.low + place_of_thread();

    if ((region == 0 || is_wanted(b)) && p.x < nx && p.y < y1)
        add_views(p);
}
