/** @file conic.h  Area of a convex polygon inside a conic section (internal; double, pure). */
#ifndef FBP_SRC_CONIC_H
#define FBP_SRC_CONIC_H

/** The points with q[0] x^2 + 2 q[1] x y + q[2] y^2 + 2 (l . p) + k <= 0; in the polygon that it is
 *  used with they are convex. */
struct conic {
    double q[3], l[2], k;
};

enum { CONIC_CORNERS = 24 };

/** Convex, counter-clockwise; n = 0: nothing. */
struct conic_polygon {
    int n;
    double p[CONIC_CORNERS][2];
};

/** Keep what has a . p <= b; no more than 20 times. */
void conic_polygon_cut(struct conic_polygon *polygon, const double a[2], double b);

/** Area of what is in both. */
double conic_polygon_area(const struct conic *conic, const struct conic_polygon *polygon);

#endif /* FBP_SRC_CONIC_H */
