#include "device.hpp"

#include "call.hpp"

#include <cstring>

namespace fbp_python
{

/* What capsules hold, as DLPack says: before its version 1, and from then on. */
struct managed_before {
    nb::dlpack::dltensor tensor;
    void *context;
    void (*drop)(managed_before *);
};

struct managed {
    std::uint32_t version[2];
    void *context;
    void (*drop)(managed *);
    std::uint64_t flags;
    nb::dlpack::dltensor tensor;
};

static constexpr std::uint64_t READ_ONLY = 1, IS_COPIED = 2;
static constexpr const char *COPY =
    "; copy it to host memory, for example by tensor.cpu() or cupy.asnumpy()";

/* The library's name for DLPack's types of devices: CUDA's memory, its managed memory, and the one
 * for tests, which is the pretended device. */
static const char *backend_of(int type, const std::string &what)
{
    static const struct {
        int type;
        const char *name, *backend;
    } types[] = {{2, "CUDA", "cuda"},    {13, "CUDA", "cuda"},   {12, "tests", "mock"},
                 {4, "OpenCL", nullptr}, {7, "Vulkan", nullptr}, {8, "Metal", nullptr},
                 {10, "ROCm", nullptr},  {14, "oneAPI", nullptr}};
    const char *name = "an unknown kind";

    for (const auto &t : types) {
        if (t.type == type && t.backend)
            return t.backend;
        if (t.type == type)
            name = t.name;
    }
    refuse(what + ": lies in the memory of a device of " + name + " (DLPack's type " +
           std::to_string(type) + "), but only CUDA memory is supported" + COPY);
}

/* What the maker of a tensor says when it does not lend it becomes an error of this argument. */
template <class F> static nb::object asked(const std::string &what, const F &f)
{
    try {
        return f();
    } catch (nb::python_error &e) {
        if (!e.matches(PyExc_Exception))
            throw;
        refuse(what + ": cannot be accessed through DLPack: " + nb::str(e.value()).c_str());
    }
}

/* A capsule that stays as it is: nobody else takes the tensor out of it, and when it goes, its
 * maker gets the tensor back. */
static nb::object capsule_of(const nb::object &tensor, void *queue)
{
    const nb::int_ stream(reinterpret_cast<std::uintptr_t>(queue));

    try {
        return tensor.attr("__dlpack__")(nb::arg("stream") = stream,
                                         nb::arg("max_version") = nb::make_tuple(1, 0));
    } catch (nb::python_error &e) {
        if (!e.matches(PyExc_TypeError))
            throw;
    }
    return tensor.attr("__dlpack__")(nb::arg("stream") = stream); /* a maker from before DLPack 1 */
}

struct found_tensor {
    const nb::dlpack::dltensor *tensor;
    std::uint64_t flags;
};

static found_tensor tensor_in(const nb::object &capsule, const std::string &what)
{
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
        const auto *m =
            static_cast<managed_before *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
        return {&m->tensor, 0};
    }
    if (!PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned"))
        refuse(what + ": its __dlpack__ returned no tensor; give an array of CuPy, Torch or JAX");
    const auto *m =
        static_cast<managed *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (m->version[0] != 1)
        refuse(what + ": was exported by version " + std::to_string(m->version[0]) +
               " of DLPack; only version 1 is supported" + COPY);
    return {&m->tensor, m->flags};
}

static char *address_in(const nb::object &capsule, const std::string &what)
{
    const nb::dlpack::dltensor *t = tensor_in(capsule, what).tensor;
    return static_cast<char *>(t->data) + t->byte_offset;
}

void on_device::borrow_tensor(array &out)
{
    const nb::object device = object_.attr("__dlpack_device__")();
    const int number = nb::cast<int>(nb::int_(nb::object(device[1])));
    void *queue = nullptr;
    fbp_status st;

    backend_ = backend_of(nb::cast<int>(nb::int_(nb::object(device[0]))), what_);
    {
        const gil_release free_python;
        st = fbp_device_queue_create(&queue, backend_, number);
    }
    queue_ = {queue, {backend_}};
    if (st != FBP_OK)
        throw failure{st, what_ + ": lies in the memory of a GPU, which cannot be used here (" +
                              fbp_message() + ")" + COPY};
    capsule_ = asked(what_, [&] { return capsule_of(object_, this->queue()); });
    const found_tensor found = tensor_in(capsule_, what_);
    take_tensor(out, *found.tensor, what_.c_str());
    out.writable = !(found.flags & (READ_ONLY | IS_COPIED));
}

static nb::object interface_of(const nb::object &object, const std::string &what)
{
    return asked(what, [&] { return nb::object(object.attr("__cuda_array_interface__")); });
}

static char *address_in(const nb::object &interface)
{
    const nb::object data = interface["data"];
    return reinterpret_cast<char *>(nb::cast<std::uintptr_t>(nb::object(data[0])));
}

static nb::object entry(const nb::object &interface, const char *name)
{
    return interface.attr("get")(name);
}

/* "<f4" */
static void take_typestr(array &out, const std::string &text, const char *what)
{
    const bool known = text.size() == 3 && text[0] != '>' && std::strchr("iuf", text[1]);

    take_type(out, known ? text[1] : '\0', known ? static_cast<std::size_t>(text[2] - '0') : 0,
              "\"" + text + "\"", what);
}

void on_device::borrow_interface(array &out)
{
    const nb::object interface = interface_of(object_, what_);
    const nb::object strides = entry(interface, "strides"), data = interface["data"];

    if (!entry(interface, "mask").is_none())
        refuse(what_ +
               ": has a mask, which is not supported; replace the masked elements by numbers");
    take_typestr(out, nb::cast<std::string>(nb::object(interface["typestr"])), what_.c_str());
    out.data = address_in(interface);
    out.shape = nb::cast<std::vector<std::size_t>>(nb::object(interface["shape"]));
    out.writable = !nb::cast<bool>(nb::object(data[1]));
    if (!strides.is_none())
        out.strides = nb::cast<std::vector<std::ptrdiff_t>>(strides);
    else
        set_dense(out);
}

/* The device of the library's that has all of it. */
void on_device::find(const array &a)
{
    std::size_t bytes = fbp_type_size(a.type);

    for (const std::size_t n : a.shape)
        bytes *= n;
    index_ = fbp_device_of_memory(backend_, a.data, bytes);
    if (index_ < 0 && !capsule_.is_valid()) /* an interface does not say which sort it is of */
        index_ = fbp_device_of_memory(backend_ = "mock", a.data, bytes);
    if (index_ < 0)
        refuse(what_ +
               ": lies in the memory of a GPU that the library cannot use, see "
               "libfbp.devices()" +
               COPY);
    data_ = a.data;
}

on_device::on_device(nb::handle object, const char *what, array &out)
    : what_(what), object_(nb::borrow(object))
{
    if (nb::hasattr(object, "__dlpack_device__"))
        borrow_tensor(out);
    else
        borrow_interface(out);
    check_extent(out, what);
    find(out);
    if (!capsule_.is_valid())
        follow();
    if (!out.is_plain())
        refuse(what_ +
               ": an array in device memory must be contiguous and in C order; give "
               "cupy.ascontiguousarray(" +
               what_ + ") or tensor.contiguous()");
}

on_device::~on_device()
{
    const nb::gil_scoped_acquire python;
    const nb::error_scope pending; /* its maker may run Python code */

    capsule_.reset();
    object_.reset();
}

/* A stream that an interface tells; None: the default one. */
void on_device::wait_for(const nb::object &stream) const
{
    void *queue =
        stream.is_none() ? nullptr : reinterpret_cast<void *>(nb::cast<std::uintptr_t>(stream));
    const gil_release free_python;

    check(fbp_device_queue_wait(backend_, queue));
}

/* By DLPack its maker has the queue wait; by the interface it tells its own. */
void on_device::follow() const
{
    char *now;

    if (capsule_.is_valid()) {
        now = address_in(asked(what_, [&] { return capsule_of(object_, queue()); }), what_);
    } else {
        const nb::object interface = interface_of(object_, what_);
        wait_for(entry(interface, "stream"));
        now = address_in(interface);
    }
    if (now != data_)
        refuse(what_ + ": the array's memory has moved since it was given; give the array again, "
                       "by scan.with_views(views)");
}

bool on_device::is_among(const std::string &devices) const
{
    const std::size_t colon = devices.find(':');
    const std::string list = colon == std::string::npos ? "0" : devices.substr(colon + 1);
    char *end = nullptr;

    if (devices.substr(0, colon) != backend_)
        return false;
    if (list == "all")
        return true;
    for (const char *at = list.c_str(); std::strtol(at, &end, 10) != index_; at = end + 1)
        if (end == at || *end == '\0')
            return false;
    return true;
}

array borrow_anywhere(nb::handle object, const char *what)
{
    array out;

    if (!is_elsewhere(object))
        return borrow(object, what);
    out.place = std::make_shared<const on_device>(object, what, out);
    out.lender = object;
    return out;
}

void check_place(const array &a, const std::string &devices, const char *what)
{
    if (!a.place || a.place->is_among(devices))
        return;
    refuse(std::string(what) + ": lies in the memory of " + a.place->name() +
           ", and the plan computes on " + devices + "; make the plan with device=\"" +
           a.place->name() + "\", or copy it to host memory, as by tensor.cpu()");
}

} // namespace fbp_python
