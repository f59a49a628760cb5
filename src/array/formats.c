/* The table of array formats. */
#include "array/formats.h"

#include "base/text.h"

static const struct fbp_format *const formats[] = {
    &fbp_format_mha,   &fbp_format_npy,  &fbp_format_tiff,     &fbp_format_png, &fbp_format_nrrd,
    &fbp_format_nifti, &fbp_format_hdf5, &fbp_format_rabbitct, &fbp_format_mat};

enum { N_FORMATS = sizeof formats / sizeof *formats };

const struct fbp_format *fbp_source_format(size_t i)
{
    return i < N_FORMATS ? formats[i] : NULL;
}

const struct fbp_format *fbp_format_of_name(const char *path)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no entry is NULL */
        if (fbp_has_extension(path, formats[i]->extensions))
            return formats[i];
    return NULL;
}
