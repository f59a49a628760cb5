/* GLSL's functions are too inaccurate for weights, and differ between renderers.  These have errors of
 * a few units in the last place (polynomials of Moshier's Cephes, the logarithm of Ng 1993). */

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
