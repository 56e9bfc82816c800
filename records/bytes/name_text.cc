#include "records/bytes/name_text.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "records/bytes/plain_text.h"

namespace infeed {
namespace {

struct Free {
  void operator()(utf8proc_uint8_t* text) const { std::free(text); }
};

// Requires: UTF-8.
std::string Composed(const std::string& text) {
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &bytes,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, Free> owner(bytes);
  if (size < 0) {
    throw UsageError("a name of " + std::to_string(text.size()) +
                     " bytes: " + utf8proc_errmsg(size));
  }
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

}  // namespace

std::string NameText(std::string_view bytes) { return Composed(AsUtf8(bytes)); }

}  // namespace infeed
