#include "backend/cpu/planes_double_bp.h"

#define VALUE                double
#define PLANES               struct fbp_bp_planes_double
#define ADD(dev)             (dev)->doubles.planes
#define KERNEL               cpu_kernel_planes_double
#define FRAMES               1
#define SERIES(p, n, stride) ((void)(p), (void)(n), (void)(stride))
#define SLOTS                .store_double = cpu_rows_store_double, .fetch_row_double = cpu_plain_fetch_row_double

#include "backend/cpu/planes_cubes_tmpl.h"
