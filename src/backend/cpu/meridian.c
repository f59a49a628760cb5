#include "backend/meridian.h"
#include "backend/cpu/cpu.h"

#define VALUE    float
#define PLANES   struct fbp_bp_planes
#define ADD(dev) (dev)->planes
#define MERIDIAN cpu_meridian_float

#include "backend/cpu/meridian_tmpl.h"

fbp_status cpu_meridian(fbp_device *device, const void *filtered, const struct fbp_picture *picture,
                        void *out)
{
    const struct cpu_device *dev = (const struct cpu_device *)(const void *)device;

    if (fbp_in_double(dev->job))
        cpu_meridian_double(dev, filtered, picture, out);
    else
        cpu_meridian_float(dev, filtered, picture, out);
    return FBP_OK;
}
