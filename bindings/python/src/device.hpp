/** @file device.hpp  Arrays in the memory of a device, borrowed by DLPack or, where there is none,
 * by the __cuda_array_interface__: they stay there. */
#ifndef FBP_PYTHON_DEVICE_HPP
#define FBP_PYTHON_DEVICE_HPP

#include "array.hpp"

namespace fbp_python
{

struct queue_deleter {
    const char *backend;
    void operator()(void *queue) const noexcept
    {
        fbp_device_queue_destroy(backend, queue);
    }
};

/** Where samples lie, and what is to be waited for before they are used. */
class on_device
{
  public:
    /** Borrow the object's samples; `out` gets all but its place.  Needs the GIL, as all but the
     *  destructor does. */
    on_device(nb::handle object, const char *what, array &out);
    ~on_device();
    on_device(const on_device &) = delete;
    on_device &operator=(const on_device &) = delete;

    /** Have queue() wait for what the program has given to the device so far. */
    void follow() const;
    void *queue() const noexcept
    {
        return queue_.get();
    }
    const char *backend() const noexcept
    {
        return backend_;
    }
    /** "cuda:1" */
    std::string name() const
    {
        return std::string(backend_) + ":" + std::to_string(index_);
    }
    /** Does "cuda:0,1", "cuda:all" or "cuda" (the first) name it, too? */
    bool is_among(const std::string &devices) const;

  private:
    void borrow_tensor(array &out);
    void borrow_interface(array &out);
    void find(const array &a);
    void wait_for(const nb::object &stream) const;

    std::string what_;
    nb::object object_, capsule_;
    const char *backend_ = "cuda";
    int index_ = -1;
    std::unique_ptr<void, queue_deleter> queue_{nullptr, {"cuda"}};
    char *data_ = nullptr;
};

/** Borrow an array wherever it lies; one on a device is in C order without gaps. */
array borrow_anywhere(nb::handle object, const char *what);

/** Refuse an array on a device that is none of `devices`, on which a plan computes. */
void check_place(const array &a, const std::string &devices, const char *what);

} // namespace fbp_python

#endif // FBP_PYTHON_DEVICE_HPP
