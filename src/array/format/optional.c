/* Tables of the formats HDF5 and TIFF (fbp_format_hdf5, fbp_format_tiff), whose libraries a build
 * may lack, and functions that recognize files of these formats by their first bytes. Also
 * fbp_fail_no_library(), the error that names the package to install if a library is missing
 * (HDF5, TIFF, or expat for RTK's XML files).
 * Used by: hdf5_write.c, array/formats.c, scan/format/hdf5_scan.c. */
#include "array/file/format.h"

#include <string.h>

/* Find the signature of HDF5 in head[n]: at byte 0, or after a user block, at 512, 1024 … */
bool fbp_hdf5_detect(const char *path, const unsigned char *head, size_t n)
{
    static const unsigned char magic[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

    (void)path;
    for (size_t at = 0; at + sizeof magic <= n; at = at ? 2 * at : 512)
        if (memcmp(head + at, magic, sizeof magic) == 0)
            return true;
    return false;
}

static bool detect_tiff(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n >= 4 && (memcmp(head, "II*\0", 4) == 0 || memcmp(head, "MM\0*", 4) == 0 ||
                      memcmp(head, "II+\0", 4) == 0 || memcmp(head, "MM\0+", 4) == 0);
}

fbp_status fbp_fail_no_library(const char *path, const char *files, const char *package,
                               const char *option)
{
    return FBP_UNSUPPORTED(
        "%s: this build of fbp does not support %s; install %s and build fbp again (%s=ON)", path,
        files, package, option);
}

#ifndef FBP_HAS_HDF5
fbp_status fbp_hdf5_source(struct fbp_source *src)
{
    return fbp_fail_no_library(src->path, "HDF5 files", "libhdf5-dev", "FBP_HDF5");
}

fbp_status fbp_hdf5_layout(const char *path, const struct fbp_array_info *info,
                           uint64_t compressed_bytes, struct fbp_layout *out)
{
    (void)info, (void)compressed_bytes, (void)out;
    return fbp_fail_no_library(path, "HDF5 files", "libhdf5-dev", "FBP_HDF5");
}
#endif

#ifndef FBP_HAS_TIFF
static fbp_status check_tiff(const char *path, const struct fbp_array_info *info)
{
    (void)info;
    return fbp_fail_no_library(path, "TIFF files", "libtiff-dev", "FBP_TIFF");
}

fbp_status fbp_tiff_source(struct fbp_source *src)
{
    return check_tiff(src->path, NULL);
}

fbp_status fbp_tiff_layout(const char *path, const struct fbp_array_info *info,
                           uint64_t compressed_bytes, struct fbp_layout *out)
{
    (void)compressed_bytes, (void)out;
    return check_tiff(path, info);
}
#endif

static const struct fbp_sink_format hdf5_files[] = {
    {.extensions = FBP_HDF5_WRITTEN, .layout = fbp_hdf5_layout, .frames = true}, {0}};

const struct fbp_format fbp_format_hdf5 = {
    .name = "hdf5",
    .title = "HDF5",
    .extensions = FBP_HDF5_READ,
    .detect = fbp_hdf5_detect,
    .open = fbp_hdf5_source,
    .not_growing = "--follow cannot read HDF5 files; reconstruct when the file is complete",
    .has_members = true,
    .files = hdf5_files,
};

static const char tiff_names[] = ".tif .tiff";

static const struct fbp_sink_format tiff_files[] = {
    {.extensions = tiff_names, .layout = fbp_tiff_layout}, {0}};
static const struct fbp_slice_format tiff_slices = {
    .extensions = tiff_names,
#ifdef FBP_HAS_TIFF
    .encode = fbp_tiff_encode,
#else
    .check = check_tiff,
#endif
};

const struct fbp_format fbp_format_tiff = {
    .name = "tiff",
    .title = "TIFF",
    .extensions = tiff_names,
    .detect = detect_tiff,
    .open = fbp_tiff_source,
    .not_growing = "--follow cannot read a growing TIFF file; write one file per view",
    .files = tiff_files,
    .slices = &tiff_slices,
};
