/** @file array.hpp  Arrays of Python programs, as they are: any stride, any order of bytes,
 * borrowed by the buffer protocol (NumPy, memoryview) or by DLPack (Torch, JAX).  device.hpp
 * borrows those in the memory of a GPU. */
#ifndef FBP_PYTHON_ARRAY_HPP
#define FBP_PYTHON_ARRAY_HPP

#include "common.hpp"

#include <memory>

namespace fbp_python
{

class on_device;

/** A borrowed array of up to four dimensions; its memory stays as long as this. */
struct array {
    std::shared_ptr<void> owner;            /**< gives the memory back, with the GIL */
    std::shared_ptr<const on_device> place; /**< none: the memory is the host's */
    nb::handle lender;                      /**< what owner or place refers to; none: unknown */
    char *data = nullptr;                   /**< of that memory: the host cannot use a device's */
    std::vector<std::size_t> shape;
    std::vector<std::ptrdiff_t> strides; /**< bytes */
    fbp_type type = FBP_TYPE_NONE;
    bool swapped = false; /**< in the other order of bytes than this machine's */
    bool writable = false;

    /** In C order without gaps, in this machine's order of bytes, and aligned? */
    bool is_plain() const;
    std::string shape_text() const;
    /** Does some byte between its first and its last lie in the other's memory? */
    bool overlaps(const array &other) const;
    /** The same samples with dimensions of 1 put in front, until there are n. */
    array padded(std::size_t n) const;
};

/** Does the object lend its samples: a buffer, DLPack, or in the memory of a GPU? */
bool is_array(nb::handle object);

/** Does it lie in memory that the host cannot read? */
bool is_elsewhere(nb::handle object);

/**
 * Borrow an array in the host's memory.  `what` is the argument's name in messages.  Refused, as
 * InvalidError: memory of a GPU, types that the library does not read, arrays without elements or
 * dimensions.
 */
array borrow(nb::handle object, const char *what);

/** Take what DLPack tells of a tensor: type, place and extent. */
void take_tensor(array &out, const nb::dlpack::dltensor &t, const char *what);
/** By a type's letter ('i', 'u', 'f') and its bytes, as in NumPy's interfaces of arrays. */
void take_type(array &out, char sort, std::size_t bytes, const std::string &name, const char *what,
               bool is_tensor = false);
/** C order without gaps. */
void set_dense(array &out);
/** Refuse arrays without elements or dimensions. */
void check_extent(const array &a, const char *what);

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
