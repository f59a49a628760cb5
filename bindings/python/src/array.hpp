/** @file array.hpp  Arrays of Python programs in host memory, as they are: any stride, any order of
 *  bytes, borrowed by the buffer protocol (NumPy, memoryview) or by DLPack (Torch, JAX). */
#ifndef FBP_PYTHON_ARRAY_HPP
#define FBP_PYTHON_ARRAY_HPP

#include "common.hpp"

#include <memory>

namespace fbp_python
{

/** A borrowed array of up to four dimensions; its memory stays as long as this. */
struct array {
    std::shared_ptr<void> owner; /**< gives the memory back, with the GIL */
    char *data = nullptr;
    std::vector<std::size_t> shape;
    std::vector<std::ptrdiff_t> strides; /**< bytes */
    fbp_type type = FBP_TYPE_NONE;
    bool swapped = false; /**< in the other order of bytes than this machine's */
    bool writable = false;

    /** In C order without gaps, in this machine's order of bytes, and aligned? */
    bool is_plain() const;
    std::string shape_text() const;
    /** The same samples with dimensions of 1 put in front, until there are n. */
    array padded(std::size_t n) const;
};

/** Does the object lend its samples: a buffer, DLPack, or in the memory of a GPU? */
bool is_array(nb::handle object);

/**
 * Borrow an array.  `what` is the argument's name in messages.  Refused, as InvalidError: memory of
 * a GPU, types that the library does not read, arrays without elements or dimensions.
 */
array borrow(nb::handle object, const char *what);

/** Copy rows [row0, row0 + n_rows) of slices [slice0, slice0 + n_slices) of a three-dimensional
 *  array to `out`, dense, in this machine's order of bytes. */
void copy_rows(const array &from, std::size_t slice0, std::size_t n_slices, std::size_t row0,
               std::size_t n_rows, void *out);

/** Copy slices to such an array, whose type is that of `slices`. */
void put_slices(const array &to, std::size_t slice0, std::size_t n_slices, const void *slices);

/** Convert n elements of `type` to another one, of which there are float and double. */
void convert(const void *from, fbp_type type, std::size_t n, fbp_type wanted, void *out);

} // namespace fbp_python

#endif // FBP_PYTHON_ARRAY_HPP
