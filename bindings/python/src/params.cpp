#include "params.hpp"

#include "scan.hpp"

namespace fbp_python
{

static const char *keep_text(params &to, nb::handle value)
{
    to.texts.push_back(nb::cast<std::string>(value));
    return to.texts.back().c_str();
}

/* Names that the library has no list of. */
template <std::size_t N>
static int listed(const char *const (&names)[N], nb::handle value, const char *what)
{
    return place_of([&](int i) { return static_cast<std::size_t>(i) < N ? names[i] : nullptr; },
                    nb::cast<std::string>(value), what);
}

static void read_box(nb::handle value, std::size_t (&box)[3][2])
{
    for (std::size_t i = 0; i < 3; i++)
        for (std::size_t k = 0; k < 2; k++)
            box[i][k] = nb::cast<std::size_t>(nb::object(nb::object(value[i])[k]));
}

using reader = void (*)(params &, nb::handle, const char *);

static void take_weights(params &to, nb::handle value, const char *what)
{
    static const char *const names[] = {"auto", "equal"};

    to.p.filtering.angular_weights =
        static_cast<fbp_angular_weights>(FBP_ANGULAR_AUTO + listed(names, value, what));
}

static void take_precision(params &to, nb::handle value, const char *what)
{
    static const char *const names[] = {"default", "exact", "fast", "half", "double"};

    to.p.precision = static_cast<fbp_precision>(listed(names, value, what));
}

static void take_mask(params &to, nb::handle value, const char *)
{
    to.p.output.fill = true;
    to.p.output.fill_value = nb::cast<double>(value);
}

static void take_output_type(params &to, nb::handle value, const char *what)
{
    const std::string name = nb::cast<std::string>(value);
    const int type = fbp_name_find(FBP_LIST_TYPES, name.c_str());
    nb::list usable;

    for (const char *one : {"float32", "uint8", "uint16", "int16", "float64"})
        usable.append(nb::str(one));
    to.p.output.type = static_cast<fbp_type>(type);
    if (type <= FBP_TYPE_NONE)
        refuse_name(what, name, usable);
}

static void take_output_range(params &to, nb::handle value, const char *)
{
    for (std::size_t i = 0; i < 2; i++)
        to.p.output.range[i] = nb::cast<double>(nb::object(value[i]));
}

static void take_half_width(params &to, nb::handle value, const char *)
{
    to.p.filtering.half_width = nb::cast<std::size_t>(value);
    to.p.filtering.spatial = true;
}

static void take_window(params &to, nb::handle value, const char *)
{
    to.window = nb::cast<std::vector<double>>(value);
    to.p.filtering.window = to.window.data();
    to.p.filtering.n_window = to.window.size();
}

static void take_unit(params &to, nb::handle value, const char *what)
{
    to.p.output.unit = by_name<fbp_unit>(FBP_LIST_UNITS, nb::cast<std::string>(value), what);
}

static void take_part(params &to, nb::handle value, const char *)
{
    to.p.cluster.part = nb::cast<std::size_t>(nb::object(value[0]));
    to.p.cluster.n_parts = nb::cast<std::size_t>(nb::object(value[1]));
}

static void take_roi(params &to, nb::handle value, const char *)
{
    read_box(value, to.p.box);
}

/* Readers of one member: a value of a type, a text, one of an enum's names. */
#define VALUE(type, member) \
    [](params &to, nb::handle value, const char *) { to.p.member = nb::cast<type>(value); }
#define SIZE(member)   VALUE(std::size_t, member)
#define NUMBER(member) VALUE(double, member)
#define FLAG(member)   VALUE(bool, member)
#define TEXT(member) \
    [](params &to, nb::handle value, const char *) { to.p.member = keep_text(to, value); }
#define CHOICE(type, member, list)                                             \
    [](params &to, nb::handle value, const char *what) {                       \
        to.p.member = by_name<type>(list, nb::cast<std::string>(value), what); \
    }

static void take_refine(params &to, nb::handle value, const char *what)
{
    const std::string name = nb::cast<std::string>(nb::str(value)); /* 2, or "auto" */
    to.p.filtering.refine = by_name<fbp_refine>(FBP_LIST_REFINEMENTS, name, what);
}

static const struct {
    const char *name;
    reader read;
} keywords[] = {
    {"device", TEXT(device)},
    {"threads", VALUE(int, n_threads)},
    {"memory", SIZE(memory_bytes)},
    {"device_memory", SIZE(device_memory_bytes)},
    {"filter", CHOICE(fbp_filter, filter, FBP_LIST_FILTERS)},
    {"filter_factors", take_window},
    {"cutoff", NUMBER(cutoff)},
    {"cutoff_v", NUMBER(filtering.cutoff_v)},
    {"spatial", FLAG(filtering.spatial)},
    {"half_width", take_half_width},
    {"angular_weights", take_weights},
    {"precision", take_precision},
    {"hu", NUMBER(mu_water)},
    {"unit", take_unit},
    {"kernel", TEXT(tuning.kernel)},
    {"output_type", take_output_type},
    {"output_range", take_output_range},
    {"auto_range", FLAG(output.auto_range)},
    {"resume", FLAG(output.resume)},
    {"compress", FLAG(output.compress)},
    {"force", FLAG(output.force)},
    {"batch", SIZE(tuning.batch_views)},
    {"slab", SIZE(tuning.slab_slices)},
    {"follow", FLAG(input.follow)},
    {"follow_timeout", NUMBER(input.follow_timeout_s)},
    {"roi", take_roi},
    {"part", take_part},
    {"pad", CHOICE(fbp_pad_kind, pad, FBP_LIST_PADS)},
    {"refine", take_refine},
    {"mask", take_mask},
    {"scratch", TEXT(tuning.scratch)},
    {"timeline", TEXT(tuning.timeline)},
    {"region", TEXT(region.shape)},
    {"oversampling", SIZE(epr.oversampling)},
    {"wiener", NUMBER(epr.wiener)},
    {"interpolation", CHOICE(fbp_interpolation, epr.interpolation, FBP_LIST_INTERPOLATIONS)},
    {"periodic", FLAG(epr.periodic)},
    {"stages", VALUE(int, epr.stages)},
    {"angular",
     CHOICE(fbp_ring_interpolation, epr.ring_interpolation, FBP_LIST_RING_INTERPOLATIONS)},
    {"picture_oversampling", SIZE(epr.image_oversampling)},
    {"response", TEXT(epr.response)},
    {"angles", SIZE(epr.angles)},
    {"output", TEXT(output.path)},
};

static void read_one(const char *name, nb::handle value, params &out)
{
    for (const auto &k : keywords) {
        if (std::string(k.name) != name)
            continue;
        try {
            k.read(out, value, name);
        } catch (const nb::cast_error &) {
            PyErr_Clear();
            refuse(std::string(name) + ": found " + nb::cast<std::string>(nb::repr(value)) +
                   ", which is of the wrong type or negative");
        }
        return;
    }
    refuse(std::string("unknown keyword ") + name);
}

void read_params(const nb::dict &given, params &out)
{
    for (const auto &[key, value] : given)
        if (!value.is_none())
            read_one(nb::cast<std::string>(key).c_str(), value, out);
}

} // namespace fbp_python
