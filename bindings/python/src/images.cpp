/* Pictures that counts are corrected by: from arrays, or from files. */
#include "scan.hpp"
#include "views.hpp"

namespace fbp_python
{

static fbp_image image_of(const std::string &name)
{
    static const char *const names[] = {"dark", "flat", "bad_pixels", nullptr};

    return static_cast<fbp_image>(place_of([](int i) { return names[i]; }, name, "image"));
}

/* (rows, columns), or several of them; of a scan of one row without rows, too. */
static void use_array(scan &of, const std::string &name, nb::handle given)
{
    const bool one_row = of.s.panel.n_rows == 1;
    desk *const nobody = nullptr;
    views kept;
    array a = borrow_anywhere(given, name.c_str());

    if (a.shape.size() > 3 || (a.shape.size() == 1 && !one_row))
        refuse(name + ": has shape " + a.shape_text() + ", expected (" +
               std::to_string(of.s.panel.n_rows) + ", " + std::to_string(of.s.panel.n_columns) +
               "), or (images, rows, columns), which are averaged");
    if (a.shape.size() == 2 && one_row) {
        a.shape.insert(a.shape.begin() + 1, 1);
        a.strides.insert(a.strides.begin() + 1, 0);
    }
    kept.samples = a.padded(3);
    for (std::size_t i = 0; i < 3; i++)
        kept.n[i] = kept.samples.shape[2 - i];
    kept.type = a.type;
    const opened source(kept, &nobody);
    check(fbp_scan_use_image(&of.s, image_of(name), source.get()));
}

static void use_file(scan &of, const std::string &name, const std::string &path)
{
    char **const files[] = {&of.s.dark, &of.s.flat, &of.s.bad_pixels};
    const fbp_image which = image_of(name);

    check(fbp_scan_use_image(&of.s, which, nullptr));
    set_text(*files[which], path);
}

void define_images(nb::module_ &m)
{
    m.def("scan_use_array", &use_array, nb::arg("scan"), nb::arg("name"), nb::arg("given"));
    m.def(
        "scan_find_bad_pixels", [](scan &of, bool find) { of.s.find_bad_pixels = find; },
        nb::arg("scan"), nb::arg("find"));
    m.def("scan_use_file", &use_file, nb::arg("scan"), nb::arg("name"), nb::arg("path"));
}

} // namespace fbp_python
