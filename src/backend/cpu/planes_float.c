#include "backend/cpu/planes_bp.h"

#define VALUE    float
#define PLANES   struct fbp_bp_planes
#define ADD(dev) (dev)->planes
#define KERNEL   cpu_kernel_planes
/* As many frames as stay in the cache with the samples of a group of views. */
#define FRAMES               10
#define SERIES(p, n, stride) ((p)->frames = (n), (p)->frame = (stride))
#define SLOTS                .store = cpu_rows_store, .fetch_row = cpu_plain_fetch_row

#include "backend/cpu/planes_cubes_tmpl.h"
