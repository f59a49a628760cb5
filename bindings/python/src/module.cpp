/* libfbp._core: the C interface for the package libfbp, whose Python files are what users see. */
#include "call.hpp"

namespace fbp_python
{

/* A failure as one of libfbp._errors, by its status. */
static void raise(const std::exception_ptr &thrown, void *)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const failure &f) {
        const nb::object make = nb::module_::import_("libfbp._errors").attr("of_status");
        const nb::object text = nb::steal(PyUnicode_DecodeUTF8(
            f.message.data(), static_cast<Py_ssize_t>(f.message.size()), "replace"));
        const nb::object error = make(static_cast<int>(f.status), text);
        PyErr_SetObject(error.type().ptr(), error.ptr());
    }
}

void refuse_name(const char *what, const std::string &text, const nb::list &names)
{
    const nb::module_ arguments = nb::module_::import_("libfbp._arguments");

    refuse(nb::cast<std::string>(arguments.attr("unknown_name")(what, text, names)));
}

} // namespace fbp_python

NB_MODULE(core, m)
{
    m.doc() = "The C interface of libfbp; use the package libfbp, which is made of it.";
    nb::register_exception_translator(fbp_python::raise);
    fbp_python::define_views(m);
    fbp_python::define_scan(m);
    fbp_python::define_images(m);
    fbp_python::define_geometry(m);
    fbp_python::define_plan(m);
    fbp_python::define_tools(m);
    fbp_python::define_files(m);
    fbp_python::end_calls_at_exit();
}

/* nanobind keeps one state per process, which a subinterpreter would replace.  The check is made
 * when the module is executed: Python 3.13 calls PyInit in the main interpreter. */
static int execute(PyObject *module)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
        return nanobind_core_exec(module);
    PyErr_SetString(PyExc_ImportError,
                    "libfbp: imported in a subinterpreter, which is not supported; import it in "
                    "the main interpreter, or use processes");
    return -1;
}

extern "C" NB_EXPORT PyObject *PyInit__core()
{
    PyObject *definition = PyInit_core();

    for (auto *s = definition ? reinterpret_cast<PyModuleDef *>(definition)->m_slots : nullptr;
         s && s->slot; s++)
        if (s->slot == Py_mod_exec)
            s->value = reinterpret_cast<void *>(&execute);
    return definition;
}
