#include "weight/redundancy.h"

#include "base/vec.h"

double fbp_parker(double beta, double gamma, double arc)
{
    const double delta = (arc - FBP_PI) / 2;
    const double head = delta + gamma, tail = delta - gamma; /* half lengths of the two ramps */

    if (head > 0 && beta < 2 * head) {
        const double s = sin(FBP_PI / 4 * fmax(beta, 0) / head);
        return 2 * s * s;
    }
    if (tail > 0 && arc - beta < 2 * tail) {
        const double s = sin(FBP_PI / 4 * fmax(arc - beta, 0) / tail);
        return 2 * s * s;
    }
    return 2;
}

double fbp_wang(double x)
{
    return 1 + sin(FBP_PI / 2 * fmin(fmax(x, -1), 1));
}
