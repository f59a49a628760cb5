#include "array/format/zarr/zarr.h"

static const struct fbp_sink_format files[] = {{.extensions = ".ome.zarr .zarr",
                                                .layout = fbp_zarr_layout,
                                                .can_compress = true,
                                                .chunks = &fbp_zarr_chunks},
                                               {0}};

const struct fbp_format fbp_format_zarr = {
    .name = "zarr",
    .title = "OME-Zarr",
    .extensions = ".ome.zarr .zarr",
    .is_folder = fbp_zarr_is_folder,
    .open = fbp_zarr_open,
    .files = files,
};
