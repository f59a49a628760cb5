/* Functions of all programs but the kernels. */

/* The number of this group in a grid of up to 32768 groups along x; the inverse of gl_groups(). */
uint group_number()
{
    return gl_WorkGroupID.y * 32768u + gl_WorkGroupID.x;
}

/* Tests the bits, because compilers may assume that all values are finite. */
bool is_finite(float x)
{
    return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u;
}
