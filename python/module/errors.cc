#include <exception>

#include <nanobind/stl/string.h>

#include "base/error.h"
#include "base/shown_text.h"

#include "python/module/module.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

// Messages contain file names, which may have any bytes; Python's str may not.

void SetDataError(const DataError& error) {
  const nb::object type =
      nb::module_::import_("infeed._errors").attr("DataError");
  const DataError::Origin& origin = error.origin();
  const nb::object value =
      type(ShownText(error.what()), ShownText(origin.path), origin.record,
           origin.offset, ShownText(error.reason()));
  PyErr_SetObject(type.ptr(), value.ptr());
}

void SetOsError(const IoError& error) {
  if (error.errno_value() == 0) {
    PyErr_SetString(PyExc_OSError, ShownText(error.what()).c_str());
    return;
  }
  // OSError(errno, text) is made an object of the subclass for that errno.
  const nb::object value =
      nb::borrow(PyExc_OSError)(error.errno_value(), ShownText(error.what()));
  PyErr_SetObject(value.type().ptr(), value.ptr());
}

void Translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const UsageError& error) {
    PyErr_SetString(PyExc_ValueError, ShownText(error.what()).c_str());
  } catch (const DataError& error) {
    SetDataError(error);
  } catch (const IoError& error) {
    SetOsError(error);
  }
}

}  // namespace

void AddErrors(nb::module_& /*module*/) {
  nb::register_exception_translator(Translate);
}

}  // namespace infeed::python
