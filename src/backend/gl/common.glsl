/* What all programs begin with. */

/* The number of this group, of a grid of up to 32768 groups along x. */
uint group_number()
{
    return gl_WorkGroupID.y * 32768u + gl_WorkGroupID.x;
}

/* As bits, since a compiler may take for granted that there are no others. */
bool is_finite(float x)
{
    return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u;
}
