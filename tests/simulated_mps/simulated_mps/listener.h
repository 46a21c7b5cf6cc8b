// Tells Python what happens on the device: there it gets a place in the user's code (findings.py).
#pragma once

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include "record.h"

namespace simulated_mps {

// Call `function(event, operator)` from now on, in the thread that computes; with None, nothing any more.
inline void listen(const py::object& function) {
  std::shared_ptr<const Listener> listener;
  if (!function.is_none()) {
    auto* callee = function.ptr();
    Py_INCREF(callee);  // for good: another thread may be about to call it
    listener = std::make_shared<const Listener>([callee](const std::string& event, const std::string& op) {
      const py::gil_scoped_acquire gil;
      PyObject* result = PyObject_CallFunction(callee, "ss", event.c_str(), op.c_str());
      if (result == nullptr) {  // such as Ctrl-C, which belongs to the program
        python_error error;
        error.persist();
        throw error;
      }
      Py_DECREF(result);
    });
  }
  const std::lock_guard<std::mutex> lock(record().mutex);
  record().listener.swap(listener);
}

}  // namespace simulated_mps
