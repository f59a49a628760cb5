/* Types of samples: names and sizes. */
#include "fbp/array.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [FBP_TYPE_NONE] = {"none", 0}, [FBP_U8] = {"uint8", 1},    [FBP_I8] = {"int8", 1},
    [FBP_U16] = {"uint16", 2},     [FBP_I16] = {"int16", 2},   [FBP_U32] = {"uint32", 4},
    [FBP_I32] = {"int32", 4},      [FBP_F32] = {"float32", 4}, [FBP_F64] = {"float64", 8},
};

enum { N_TYPES = sizeof types / sizeof *types };

size_t fbp_type_size(enum fbp_type type)
{
    return (size_t)type < N_TYPES ? types[type].size : 0;
}

const char *fbp_type_name(enum fbp_type type)
{
    return (size_t)type < N_TYPES ? types[type].name : "none";
}

enum fbp_type fbp_type_from_name(const char *name)
{
    for (size_t i = 1; name && i < N_TYPES; i++)
        if (strcmp(types[i].name, name) == 0)
            return (enum fbp_type)i;
    return FBP_TYPE_NONE;
}
