/** @file rates.h  What work takes on a renderer in hardware, measured by runs and kept (internal).
 *
 * Of no renderer is anything known before it has run.  A run whose rates are not known times one of
 * its batches in the filter, takes the rate of the kernel from its pace, and times two copies when
 * it is closed.  Later plans divide their work by that, and predict.
 */
#ifndef FBP_SRC_GL_RATES_H
#define FBP_SRC_GL_RATES_H

#include "backend/backend.h"

struct gl_device;

/** In the queue, as is all below: of a device. */
struct gl_meter {
    bool due;      /**< nothing is kept of this kernel on this renderer */
    unsigned n;    /**< batches filtered */
    double start;  /**< of the one that is timed */
    double filter; /**< seconds a sample; 0: not known yet */
};

/** The backend's slot `rates`, of the first renderer. */
void gl_rates(const struct fbp_job *job, struct fbp_rates *out);

void gl_meter_open(struct gl_device *dev);
/** Before and after a batch is filtered, of so many samples. */
void gl_meter_begin(struct gl_meter *meter);
void gl_meter_end(struct gl_meter *meter, double samples);
/** Keep what was measured, if it is all there. */
void gl_meter_close(struct gl_device *dev);

#endif /* FBP_SRC_GL_RATES_H */
