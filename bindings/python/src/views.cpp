#include "views.hpp"

#include <cstring>
#include <thread>

namespace fbp_python
{

/** Views of an iterator that have come so far: all are kept, as the library may ask again. */
class feed
{
  public:
    explicit feed(const views &of)
        : of_(of), view_bytes_(of.n[0] * of.n[1] * fbp_type_size(of.type)),
          bytes_(new char[view_bytes_ * of.n[2]])
    {
    }
    std::size_t there() const noexcept
    {
        return there_;
    }
    const char *view(std::size_t k) const noexcept
    {
        return bytes_.get() + k * view_bytes_;
    }
    bool next();

  private:
    const views &of_;
    std::size_t view_bytes_;
    std::unique_ptr<char[]> bytes_;
    std::atomic<std::size_t> there_{0};
};

/* One view of the user's, as it is to be stored: rows [row0, row0 + n_rows). */
static void take_view(const views &of, nb::handle given, std::size_t k, std::size_t row0,
                      std::size_t n_rows, void *out)
{
    const std::string what = "view " + std::to_string(k);
    const array as_given = borrow(given, what.c_str()), a = as_given.padded(3);

    if (a.shape.size() != 3 || a.shape[0] != 1 || a.shape[1] != of.n[1] || a.shape[2] != of.n[0])
        refuse(what + ": has shape " + as_given.shape_text() + ", expected (" +
               std::to_string(of.n[1]) + ", " + std::to_string(of.n[0]) + "): rows, columns");
    if (a.type == of.type) {
        copy_rows(a, 0, 1, row0, n_rows, out);
        return;
    }
    if (of.type != FBP_F32 && of.type != FBP_F64)
        refuse(what + ": is " + fbp_name(FBP_LIST_TYPES, a.type) + ", but dtype is " +
               fbp_name(FBP_LIST_TYPES, of.type));
    std::vector<char> as_is(n_rows * of.n[0] * fbp_type_size(a.type));
    copy_rows(a, 0, 1, row0, n_rows, as_is.data());
    convert(as_is.data(), a.type, n_rows * of.n[0], of.type, out);
}

bool feed::next()
{
    const std::size_t k = there_;

    if (k == of_.n[2])
        return false;
    nb::object given = nb::steal(PyIter_Next(of_.given.ptr()));
    if (!given.is_valid()) {
        if (PyErr_Occurred())
            throw nb::python_error();
        refuse(k == 0 ? "views: the iterator is empty, or an earlier run has used it up; give an "
                        "array, or a new iterator by scan.with_views()"
                      : "views: the iterator ended after " + std::to_string(k) +
                            " views, the scan has " + std::to_string(of_.n[2]) +
                            "; give as many views as angles");
    }
    take_view(of_, given, k, 0, of_.n[1], bytes_.get() + k * view_bytes_);
    there_ = k + 1;
    return there_ < of_.n[2];
}

static int fails(char *why, std::size_t n_why, const char *text) noexcept
{
    if (n_why > 0) {
        std::strncpy(why, text, n_why - 1);
        why[n_why - 1] = '\0';
    }
    return 1;
}

int opened::read_array(void *user, std::size_t slice0, std::size_t n_slices, std::size_t row0,
                       std::size_t n_rows, void *out, char *why, std::size_t n_why) noexcept
{
    (void)why;
    (void)n_why;
    copy_rows(static_cast<opened *>(user)->of_.samples, slice0, n_slices, row0, n_rows, out);
    return 0;
}

int opened::read_function(void *user, std::size_t slice0, std::size_t n_slices, std::size_t row0,
                          std::size_t n_rows, void *out, char *why, std::size_t n_why) noexcept
{
    const opened *self = static_cast<opened *>(user);
    const views &of = self->of_;
    const std::size_t bytes = n_rows * of.n[0] * fbp_type_size(of.type);
    desk *at = *self->at_;

    if (!at)
        return fails(why, n_why, "the object that supplies them no longer exists");
    for (std::size_t k = 0; k < n_slices; k++)
        if (!at->ask([&] {
                take_view(of, of.given(slice0 + k), slice0 + k, row0, n_rows,
                          static_cast<char *>(out) + k * bytes);
            }))
            return fails(why, n_why, "the function for views failed");
    return 0;
}

int opened::read_feed(void *user, std::size_t slice0, std::size_t n_slices, std::size_t row0,
                      std::size_t n_rows, void *out, char *why, std::size_t n_why) noexcept
{
    const opened *self = static_cast<opened *>(user);
    const std::size_t row = self->of_.n[0] * fbp_type_size(self->of_.type);
    char *to = static_cast<char *>(out);

    if (slice0 + n_slices > self->feed_->there())
        return fails(why, n_why, "they are not available yet");
    for (std::size_t k = slice0; k < slice0 + n_slices; k++, to += n_rows * row)
        std::memcpy(to, self->feed_->view(k) + row0 * row, n_rows * row);
    return 0;
}

std::size_t opened::there(void *user) noexcept
{
    return static_cast<opened *>(user)->feed_->there();
}

void opened::open_array(const fbp_array_info &info)
{
    const on_device *place = of_.samples.place.get();

    if (place) {
        check(fbp_source_device_memory(&source_, of_.samples.data, &info, place->backend(),
                                       place->queue()));
        return;
    }
    if (of_.samples.is_plain()) {
        check(fbp_source_memory(&source_, of_.samples.data, &info));
        return;
    }
    fbp::sized<fbp_source_functions> functions;
    functions.read = read_array;
    functions.user = this;
    functions.at_once = of_.n[2];
    functions.concurrent = 1;
    check(fbp_source_callback(&source_, &functions, &info));
}

void opened::open_called(const fbp_array_info &info)
{
    fbp::sized<fbp_source_functions> functions;

    functions.user = this;
    functions.at_once = of_.n[2];
    functions.read = of_.from == views::sort::function ? read_function : read_feed;
    if (of_.from == views::sort::iterator) {
        feed_ = std::make_unique<feed>(of_);
        functions.concurrent = 1;
        functions.there = there;
    }
    check(fbp_source_callback(&source_, &functions, &info));
}

opened::opened(const views &of, desk *const *at) : of_(of), at_(at)
{
    fbp::array_info info;

    follow();
    std::memcpy(info.n, of.n, sizeof info.n);
    info.type = of.type;
    info.row_order = of.order;
    if (of.from == views::sort::array)
        open_array(info);
    else
        open_called(info);
}

opened::~opened()
{
    fbp_source_close(&source_);
}

void opened::follow() const
{
    if (of_.samples.place)
        of_.samples.place->follow();
}

bool opened::next()
{
    return feed_->next();
}

static fbp_row_order order_of(const std::string &text)
{
    if (text == "top-down")
        return FBP_ROWS_TOP_DOWN;
    if (text == "bottom-up")
        return FBP_ROWS_BOTTOM_UP;
    refuse("row_order: found \"" + text + "\", expected \"bottom-up\" or \"top-down\"");
}

/* (views, rows, columns), or without rows. */
static views of_array(nb::handle given, const std::string &order)
{
    views out;
    const array a = borrow_anywhere(given, "views");

    if (a.shape.size() != 2 && a.shape.size() != 3)
        refuse("views: has shape " + a.shape_text() +
               ", expected (views, rows, columns), or (views, columns) of one row");
    out.samples = a;
    if (a.shape.size() == 2) {
        out.samples.shape.insert(out.samples.shape.begin() + 1, 1);
        out.samples.strides.insert(out.samples.strides.begin() + 1, 0);
    }
    for (int i = 0; i < 3; i++)
        out.n[i] = out.samples.shape[2 - static_cast<std::size_t>(i)];
    out.type = a.type;
    out.order = order_of(order);
    return out;
}

static views of_called(bool iterates, nb::object given, std::vector<std::size_t> shape,
                       const std::string &type, const std::string &order)
{
    views out;

    out.from = iterates ? views::sort::iterator : views::sort::function;
    out.given = std::move(given);
    for (std::size_t i = 0; i < 3; i++)
        out.n[i] = shape.at(2 - i);
    /* exact names only: the aliases of fbp_name_find() take NumPy's float, which has 64 bits, for
     * float32 */
    int number = FBP_F64;
    while (number > FBP_TYPE_NONE &&
           type != fbp_name(FBP_LIST_TYPES, static_cast<std::size_t>(number)))
        number--;
    if (number == FBP_TYPE_NONE)
        refuse("dtype: elements of type " + type +
               " are not supported; choose float32, float64, or an integer of 8, 16 or 32 bits");
    out.type = static_cast<fbp_type>(number);
    out.order = order_of(order);
    return out;
}

/* For Python's collector of cycles. */
static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self))
        return 0;
    const views *v = nb::inst_ptr<views>(self);
    Py_VISIT(v->given.ptr());
    if (v->samples.owner.use_count() + v->samples.place.use_count() == 1)
        Py_VISIT(v->samples.lender.ptr());
    return 0;
}

/* Samples stay, as the source of a plan may point to them. */
static int clear(PyObject *self)
{
    nb::inst_ptr<views>(self)->given.reset();
    return 0;
}

static const PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void *>(&traverse)},
                                    {Py_tp_clear, reinterpret_cast<void *>(&clear)},
                                    {0, nullptr}};

void define_views(nb::module_ &m)
{
    nb::class_<views>(m, "Views", nb::type_slots(slots),
                      "Where views come from: borrowed samples, or functions.")
        .def_prop_ro(
            "shape", [](const views &v) { return nb::make_tuple(v.n[2], v.n[1], v.n[0]); },
            "(views, rows, columns)")
        .def_prop_ro(
            "dtype", [](const views &v) { return fbp_name(FBP_LIST_TYPES, v.type); },
            "\"float32\" …")
        .def_prop_ro(
            "device",
            [](const views &v) {
                return v.samples.place ? nb::object(nb::str(v.samples.place->name().c_str()))
                                       : nb::none();
            },
            nb::sig("def device(self) -> str | None"),
            "\"cuda:0\": they lie in its memory; None: in the host's.")
        .def_prop_ro(
            "is_copied",
            [](const views &v) { return v.from == views::sort::array && !v.samples.is_plain(); },
            "True if rows are gathered from gaps or turned bytes while they are read.");
    m.def("is_array", &is_array, nb::arg("given").none(),
          "Does the object lend its samples, by the buffer protocol or DLPack?");
    m.def(
        "device_of", [](nb::handle given) { return borrow_anywhere(given, "out").place->name(); },
        nb::arg("given"), "\"cuda:0\", of an array that is elsewhere.");
    m.def("views_of_array", &of_array, nb::arg("given"), nb::arg("row_order"));
    m.def("views_of_function", &of_called, nb::arg("iterates"), nb::arg("given"), nb::arg("shape"),
          nb::arg("dtype"), nb::arg("row_order"));
}

} // namespace fbp_python
