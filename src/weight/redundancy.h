/** @file redundancy.h  How much a ray counts that was measured twice (internal; double, pure). */
#ifndef FBP_SRC_REDUNDANCY_H
#define FBP_SRC_REDUNDANCY_H

/**
 * Parker 1982 in Silver's form (2000) for any arc: delta = (arc - pi)/2 stands for the half fan.
 *
 * beta: source angle counter-clockwise from the beginning of the arc; gamma as fbp_ray_gamma().
 * The ray (beta, gamma) is measured again as (beta + pi - 2 gamma, -gamma); the weights of the two
 * add up to 2, and a ray whose partner lies outside the arc has 2.
 */
double fbp_parker(double beta, double gamma, double arc);

/** Wang 2002: x = -1 … 1 across the doubly measured part, -x its partner; 2 beyond the long side.
 */
double fbp_wang(double x);

#endif /* FBP_SRC_REDUNDANCY_H */
