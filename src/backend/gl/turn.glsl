/* exp(-2 pi i k / n), k < n < 2^28: by its eighth of a turn, so that it is good to the last places. */
vec2 turn(uint k, uint n_)
{
    uint eighth = 8u * k / n_, rest = 8u * k - eighth * n_;
    bool odd = (eighth & 1u) == 1u;
    float x = 0.78539816 * float(odd ? n_ - rest : rest) / float(n_);
    float c = cos_of(x), s = sin_of(x);
    vec2 v = ((eighth + 1u) & 2u) == 2u ? vec2(s, c) : vec2(c, s); /* from the nearest axis */

    if (eighth >= 2u && eighth < 6u)
        v.x = -v.x;
    return vec2(v.x, eighth < 4u ? -v.y : v.y);
}
