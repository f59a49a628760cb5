#include "array.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace fbp_python
{

bool array::is_plain() const
{
    std::ptrdiff_t step = static_cast<std::ptrdiff_t>(fbp_type_size(type));

    if (swapped || reinterpret_cast<std::uintptr_t>(data) % static_cast<std::size_t>(step) != 0)
        return false;
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (shape[i] > 1 && strides[i] != step)
            return false;
        step *= static_cast<std::ptrdiff_t>(shape[i]);
    }
    return true;
}

/* [first, end) of what it reaches, as addresses. */
static std::pair<std::uintptr_t, std::uintptr_t> reach(const array &a)
{
    std::uintptr_t first = reinterpret_cast<std::uintptr_t>(a.data);
    std::uintptr_t end = first + fbp_type_size(a.type);

    for (std::size_t i = 0; i < a.shape.size(); i++) {
        const std::ptrdiff_t far = a.strides[i] * static_cast<std::ptrdiff_t>(a.shape[i] - 1);
        (far < 0 ? first : end) += static_cast<std::uintptr_t>(far);
    }
    return {first, end};
}

bool array::overlaps(const array &other) const
{
    if (!data || !other.data || !place != !other.place)
        return false;
    const auto mine = reach(*this), theirs = reach(other);
    return mine.first < theirs.second && theirs.first < mine.second;
}

std::string array::shape_text() const
{
    std::string text = "(";

    for (std::size_t i = 0; i < shape.size(); i++)
        text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

array array::padded(std::size_t n) const
{
    array out = *this;

    while (out.shape.size() < n) {
        out.shape.insert(out.shape.begin(), 1);
        out.strides.insert(out.strides.begin(), 0);
    }
    return out;
}

/* Integers and floats by sign and size. */
static fbp_type type_of(char sort, std::size_t bytes)
{
    static const struct {
        char sort;
        std::size_t bytes;
        fbp_type type;
    } types[] = {{'u', 1, FBP_U8},  {'i', 1, FBP_I8},  {'u', 2, FBP_U16}, {'i', 2, FBP_I16},
                 {'u', 4, FBP_U32}, {'i', 4, FBP_I32}, {'f', 4, FBP_F32}, {'f', 8, FBP_F64}};

    for (const auto &t : types)
        if (t.sort == sort && t.bytes == bytes)
            return t.type;
    return FBP_TYPE_NONE;
}

/* The sort of a letter of a buffer's format; 0: none that is read. */
static char sort_of(char letter)
{
    if (std::strchr("bhilq", letter))
        return 'i';
    if (std::strchr("BHILQ", letter))
        return 'u';
    return std::strchr("fd", letter) ? 'f' : '\0';
}

/* NumPy's name of a buffer's format, of those that are not read. */
static std::string name_of(const char *format, std::size_t bytes)
{
    static const char *const names[][2] = {{"e", "float16"},     {"g", "longdouble"},
                                           {"?", "bool"},        {"Zf", "complex64"},
                                           {"Zd", "complex128"}, {"O", "object"}};
    const std::string text = format + std::strspn(format, "@=<>!");
    const std::string bits = std::to_string(8 * bytes);

    for (const auto &n : names)
        if (text == n[0])
            return n[1];
    if (text.size() == 1 && sort_of(text[0]) == 'i')
        return "int" + bits;
    if (text.size() == 1 && sort_of(text[0]) == 'u')
        return "uint" + bits;
    return "\"" + std::string(format) + "\"";
}

/* is_tensor: such as Torch's, which has other names of what NumPy does. */
[[noreturn]] static void refuse_type(const std::string &what, const std::string &type,
                                     bool is_tensor)
{
    const bool is_complex = type.find("complex") != std::string::npos;
    const std::string numpys = what + (is_complex ? ".real.copy()" : ".astype(\"float32\")");
    const std::string torchs = what + (is_complex ? ".real" : ".float()") + " of Torch, or ";

    refuse(what + ": elements of type " + type + " are not supported; " +
           (is_complex ? "use their real or imaginary part" : "convert them") + ", for example " +
           (is_tensor ? torchs : "") + numpys);
}

void take_type(array &out, char sort, std::size_t bytes, const std::string &name, const char *what,
               bool is_tensor)
{
    out.type = sort ? type_of(sort, bytes) : FBP_TYPE_NONE;
    if (out.type == FBP_TYPE_NONE)
        refuse_type(what, name, is_tensor);
}

static void take_format(array &out, const char *format, std::size_t bytes, const char *what)
{
    const char *f = format ? format : "B";
    const bool prefixed = *f && std::strchr("@=<>!", *f);
    const char order = prefixed ? *f++ : '@';
    const std::uint16_t one = 1;
    const bool little = *reinterpret_cast<const unsigned char *>(&one) == 1;
    const char sort = *f && !f[1] ? sort_of(*f) : '\0';

    take_type(out, sort, bytes, name_of(f - prefixed, bytes), what);
    out.swapped =
        bytes > 1 && ((order == '<' && !little) || ((order == '>' || order == '!') && little));
}

/* Given back with the GIL, wherever the last user of it lets it go. */
struct buffer {
    Py_buffer view{};
    bool held = false;
    ~buffer()
    {
        if (held) {
            const nb::gil_scoped_acquire python;
            PyBuffer_Release(&view);
        }
    }
};

static bool from_buffer(nb::handle object, array &out, const char *what)
{
    auto kept = std::make_shared<buffer>();

    if (!PyObject_CheckBuffer(object.ptr()))
        return false;
    if (PyObject_GetBuffer(object.ptr(), &kept->view, PyBUF_RECORDS) == 0) {
        out.writable = true;
    } else {
        PyErr_Clear();
        if (PyObject_GetBuffer(object.ptr(), &kept->view, PyBUF_RECORDS_RO) != 0) {
            PyErr_Clear(); /* such as float16 by some makers, or a mapped file that was closed */
            return false;
        }
    }
    kept->held = true;
    const Py_buffer &v = kept->view;
    take_format(out, v.format, static_cast<std::size_t>(v.itemsize), what);
    out.data = static_cast<char *>(v.buf);
    for (int i = 0; i < v.ndim; i++) {
        out.shape.push_back(static_cast<std::size_t>(v.shape[i]));
        out.strides.push_back(v.strides[i]);
    }
    out.owner = kept;
    out.lender = v.obj;
    return true;
}

bool is_elsewhere(nb::handle object)
{
    static constexpr int HOST[] = {1, 3, 11}; /* DLPack: host, and what a GPU pinned or shares */

    if (!nb::hasattr(object, "__dlpack_device__"))
        return nb::hasattr(object, "__cuda_array_interface__");
    const nb::object device = object.attr("__dlpack_device__")();
    const int kind = nb::cast<int>(nb::int_(nb::object(device[0])));
    return std::find(std::begin(HOST), std::end(HOST), kind) == std::end(HOST);
}

void set_dense(array &out)
{
    std::ptrdiff_t step = static_cast<std::ptrdiff_t>(fbp_type_size(out.type));

    out.strides.resize(out.shape.size());
    for (std::size_t i = out.shape.size(); i-- > 0;) {
        out.strides[i] = step;
        step *= static_cast<std::ptrdiff_t>(out.shape[i]);
    }
}

/* "float16", by the codes of DLPack. */
static std::string name_of(nb::dlpack::dtype type)
{
    static const char *const sorts[] = {"int", "uint", "float", nullptr, "bfloat", "complex"};
    const std::string bits = std::to_string(type.bits);

    if (type.code == 6)
        return "bool";
    if (type.code < std::size(sorts) && sorts[type.code])
        return sorts[type.code] + bits;
    return "code " + std::to_string(type.code) + " with " + bits + " bits";
}

void take_tensor(array &out, const nb::dlpack::dltensor &t, const char *what)
{
    static const char sorts[] = {'i', 'u', 'f'}; /* DLPack's codes from 0 on */
    const nb::dlpack::dtype type = t.dtype;
    const bool is_read = type.lanes == 1 && type.code < std::size(sorts);

    take_type(out, is_read ? sorts[type.code] : '\0', type.bits / 8u, name_of(type), what, true);
    out.data = static_cast<char *>(t.data) + t.byte_offset;
    out.shape.assign(t.shape, t.shape + t.ndim);
    set_dense(out);
    for (std::size_t i = 0; t.strides && i < out.shape.size(); i++)
        out.strides[i] = t.strides[i] * static_cast<std::ptrdiff_t>(fbp_type_size(out.type));
}

static bool from_dlpack(nb::handle object, array &out, const char *what)
{
    nb::ndarray<> t;

    if (!nb::hasattr(object, "__dlpack__"))
        return false;
    if (nb::try_cast(object, t, false)) {
        out.writable = true;
    } else {
        nb::ndarray<nb::ro> readable;
        PyErr_Clear();
        if (!nb::try_cast(object, readable, false)) {
            PyErr_Clear(); /* what cannot be lent, such as times */
            return false;
        }
        t = nb::ndarray<>(readable);
    }
    take_tensor(out,
                {t.data_handle(),
                 {},
                 static_cast<std::int32_t>(t.ndim()),
                 t.dtype(),
                 const_cast<std::int64_t *>(t.shape_ptr()),
                 const_cast<std::int64_t *>(t.stride_ptr()),
                 t.byte_offset()},
                what);
    out.owner = std::shared_ptr<void>(new nb::ndarray<>(t), [](void *p) {
        const nb::gil_scoped_acquire python;
        delete static_cast<nb::ndarray<> *>(p);
    });
    return true;
}

bool is_array(nb::handle object)
{
    return PyObject_CheckBuffer(object.ptr()) || nb::hasattr(object, "__dlpack__") ||
           nb::hasattr(object, "__cuda_array_interface__");
}

static std::string text_of(const nb::object &object)
{
    return nb::str(object).c_str();
}

void check_extent(const array &a, const char *what)
{
    if (a.shape.empty())
        refuse(std::string(what) + ": has no dimensions; give an array, not a number");
    for (const std::size_t n : a.shape)
        if (n == 0)
            refuse(std::string(what) + ": has shape " + a.shape_text() + ", without elements");
}

array borrow(nb::handle object, const char *what)
{
    array out;

    if (is_elsewhere(object))
        refuse(std::string(what) + ": lies in GPU memory, but must be in host memory here; copy "
                                   "it, for example by tensor.cpu() or cupy.asnumpy()");
    if (!from_buffer(object, out, what) && !from_dlpack(object, out, what)) {
        if (nb::hasattr(object, "dtype"))
            refuse_type(what, text_of(object.attr("dtype")), nb::hasattr(object, "__dlpack__"));
        refuse(std::string(what) + ": a " + text_of(object.type().attr("__name__")) +
               " is not an array; give a NumPy array or a tensor in host memory");
    }
    check_extent(out, what);
    return out;
}

template <class T> static T swap_bytes(T value)
{
    unsigned char bytes[sizeof value];

    std::memcpy(bytes, &value, sizeof value);
    std::reverse(std::begin(bytes), std::end(bytes));
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

/* n elements of sizeof(T) bytes, which may stand at any address. */
template <class T>
static void copy_strided(char *out, std::ptrdiff_t to, const char *in, std::ptrdiff_t from,
                         std::size_t n, bool swapped)
{
    for (std::size_t i = 0; i < n; i++, in += from, out += to) {
        T value;
        std::memcpy(&value, in, sizeof value);
        if (swapped)
            value = swap_bytes(value);
        std::memcpy(out, &value, sizeof value);
    }
}

static void copy_row(std::size_t size, char *out, std::ptrdiff_t to, const char *in,
                     std::ptrdiff_t from, std::size_t n, bool swapped)
{
    const std::ptrdiff_t dense = static_cast<std::ptrdiff_t>(size);

    if (to == dense && from == dense && !swapped)
        std::memcpy(out, in, n * size);
    else if (size == 1)
        copy_strided<std::uint8_t>(out, to, in, from, n, false);
    else if (size == 2)
        copy_strided<std::uint16_t>(out, to, in, from, n, swapped);
    else if (size == 4)
        copy_strided<std::uint32_t>(out, to, in, from, n, swapped);
    else
        copy_strided<std::uint64_t>(out, to, in, from, n, swapped);
}

static char *row_of(const array &a, std::size_t slice, std::size_t row)
{
    return a.data + static_cast<std::ptrdiff_t>(slice) * a.strides[0] +
           static_cast<std::ptrdiff_t>(row) * a.strides[1];
}

void copy_rows(const array &from, std::size_t slice0, std::size_t n_slices, std::size_t row0,
               std::size_t n_rows, void *out)
{
    const std::size_t size = fbp_type_size(from.type), n = from.shape[2];
    char *to = static_cast<char *>(out);

    for (std::size_t k = slice0; k < slice0 + n_slices; k++)
        for (std::size_t r = row0; r < row0 + n_rows; r++, to += n * size)
            copy_row(size, to, static_cast<std::ptrdiff_t>(size), row_of(from, k, r),
                     from.strides[2], n, from.swapped);
}

void put_slices(const array &to, std::size_t slice0, std::size_t n_slices, const void *slices)
{
    const std::size_t size = fbp_type_size(to.type), n = to.shape[2];
    const char *from = static_cast<const char *>(slices);

    for (std::size_t k = slice0; k < slice0 + n_slices; k++)
        for (std::size_t r = 0; r < to.shape[1]; r++, from += n * size)
            copy_row(size, row_of(to, k, r), to.strides[2], from, static_cast<std::ptrdiff_t>(size),
                     n, to.swapped);
}

template <class From, class To> static void convert_each(const void *from, std::size_t n, void *out)
{
    const From *in = static_cast<const From *>(from);
    To *to = static_cast<To *>(out);

    for (std::size_t i = 0; i < n; i++)
        to[i] = static_cast<To>(in[i]);
}

template <class To>
static void convert_to(const void *from, fbp_type type, std::size_t n, void *out)
{
    switch (type) {
    case FBP_U8:
        return convert_each<std::uint8_t, To>(from, n, out);
    case FBP_I8:
        return convert_each<std::int8_t, To>(from, n, out);
    case FBP_U16:
        return convert_each<std::uint16_t, To>(from, n, out);
    case FBP_I16:
        return convert_each<std::int16_t, To>(from, n, out);
    case FBP_U32:
        return convert_each<std::uint32_t, To>(from, n, out);
    case FBP_I32:
        return convert_each<std::int32_t, To>(from, n, out);
    case FBP_F64:
        return convert_each<double, To>(from, n, out);
    default:
        return convert_each<float, To>(from, n, out);
    }
}

void convert(const void *from, fbp_type type, std::size_t n, fbp_type wanted, void *out)
{
    if (type == wanted)
        std::memcpy(out, from, n * fbp_type_size(type));
    else if (wanted == FBP_F64)
        convert_to<double>(from, type, n, out);
    else
        convert_to<float>(from, type, n, out);
}

} // namespace fbp_python
