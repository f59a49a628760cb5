void main()
{
    int x = int(gl_GlobalInvocationID.x), y = y0 + int(gl_GlobalInvocationID.y);
    int z = int(gl_GlobalInvocationID.z) * SLICES;
    float tx = float(x) - x_ref, ty = float(y) - y_ref, tz = float(z0 + z) - z_ref;
    uint slice = uint(nx * ny), at = volume_skip + uint(z * ny + y - y0) * uint(nx) + uint(x);
    float sum[SLICES];

    if (x >= nx || y >= y1)
        return;
    for (int k = 0; k < SLICES; k++)
        sum[k] = z + k < nz ? volume[at + uint(k) * slice] : 0.0;
    for (int i = 0; i < n; i++) {
        vec4 cu = view[i].u, cv = view[i].v, cw = view[i].w;
        vec3 c0 = vec3(fma(tx, cu.x, fma(ty, cu.y, cu.w)), fma(tx, cv.x, fma(ty, cv.y, cv.w)),
                       fma(tx, cw.x, fma(ty, cw.y, cw.w)));
        add_view(i, c0, vec3(cu.z, cv.z, cw.z), tz, sum);
    }
    for (int k = 0; k < SLICES; k++)
        if (z + k < nz)
            volume[at + uint(k) * slice] = sum[k];
}
