/* Filtered pairs on their way out of the filter: a group a row, which is one part of a pair. */

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer In { vec2 rows_in[]; };

float sample_of_part(uint at)
{
    return part == 0u ? rows_in[at].x : rows_in[at].y;
}

/* The group's row, and what it is of; false: there is none. */
bool own_pair(out uint number, out Pair p)
{
    number = group_number();
    p = pair_of(number);
    return number < n && p.there;
}
