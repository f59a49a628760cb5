/* Names of filters, devices, phantoms and other choices, for programs and bindings that offer these
 * choices: the public functions fbp_name() and fbp_name_find() (fbp/types.h). The names are defined
 * in the files that implement the choices. */
#include "array/file/bytes.h"
#include "backend/backend.h"
#include "base/text.h"
#include "filter/filter.h"
#include "geometry/directions.h"
#include "geometry/kind.h"
#include "phantom/shapes.h"
#include "scan/adjust.h"

static const char *type_name(size_t i)
{
    return i <= FBP_F64 ? fbp_type_name((enum fbp_type)i) : NULL;
}

static const char *(*const lists[])(size_t i) = {
    [FBP_LIST_TYPES] = type_name,
    [FBP_LIST_KINDS] = fbp_kind_listed,
    [FBP_LIST_UNITS] = fbp_unit_name,
    [FBP_LIST_FILTERS] = fbp_filter_name,
    [FBP_LIST_PADS] = fbp_pad_name,
    [FBP_LIST_REFINEMENTS] = fbp_refine_name,
    [FBP_LIST_INTERPOLATIONS] = fbp_interpolation_name,
    [FBP_LIST_RING_INTERPOLATIONS] = fbp_ring_interpolation_name,
    [FBP_LIST_QUADRATURES] = fbp_quadrature_name,
    [FBP_LIST_DIRECTION_SETS] = fbp_direction_set_name,
    [FBP_LIST_DIRECTION_ORDERS] = fbp_direction_order_name,
    [FBP_LIST_POLES] = fbp_pole_name,
    [FBP_LIST_ADJUSTMENTS] = fbp_adjust_name,
    [FBP_LIST_DEVICES] = fbp_device_name,
    [FBP_LIST_KERNELS] = fbp_kernel_name,
    [FBP_LIST_PHANTOMS] = fbp_phantom_name,
};

const char *fbp_name(enum fbp_list list, size_t i)
{
    return (size_t)list < sizeof lists / sizeof *lists ? lists[list](i) : NULL;
}

int fbp_name_find(enum fbp_list list, const char *name)
{
    const char *usual = name ? fbp_usual_name(name) : "", *one;

    for (size_t i = 0; *usual && (one = fbp_name(list, i)); i++)
        if (*one && fbp_same_name(one, usual))
            return (int)i;
    return -1;
}
