#include "trainer/groups/torch_errors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

// Messages of LibTorch's allocators of the host and the GPU, of CUDA and cuDNN,
// and of oneDNN.
constexpr std::array<std::string_view, 6> kOutOfMemory = {
    "can't allocate memory", "not enough memory",  "out of memory",
    "out_of_memory",         "CUDNN_STATUS_ALLOC", "STATUS_ALLOC_FAILED"};

bool IsOutOfMemory(const std::exception& error, std::string_view text) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         std::ranges::any_of(kOutOfMemory, [&](std::string_view words) {
           return text.find(words) != std::string_view::npos;
         });
}

// The number of MiB in "... tried to allocate 4096 bytes", "... Tried to
// allocate 2.5 GiB".
std::optional<double> RequestedMiB(std::string_view text) {
  constexpr std::string_view kBefore = "ried to allocate ";
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {" bytes", 0x1p-20}, {" KiB", 0x1p-10}, {" MiB", 1}, {" GiB", 0x1p10}};
  const std::size_t place = text.find(kBefore);
  if (place == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(place + kBefore.size());
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  for (const auto& [unit, mib] : kUnits) {
    if (error == std::errc() && text.starts_with(unit)) {
      return number * mib;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string ErrorText(const std::exception& error) {
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  std::string text =
      of_torch != nullptr ? of_torch->what_without_backtrace() : error.what();
  // Errors that passed through std::exception_ptr or TorchScript have this
  // suffix.
  text.resize(std::min(text.find("\nException raised from "), text.size()));
  text.erase(text.find_last_not_of('\n') + 1);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

void TranslateTorchErrors(const std::function<void()>& work,
                          const OutOfMemoryText& out_of_memory) {
  try {
    work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const std::string text = ErrorText(error);
    if (!IsOutOfMemory(error, text)) {
      throw IoError(text);
    }
    const std::optional<double> mib = RequestedMiB(text);
    const std::string requested =
        mib ? fmt::format("{:.0f} MiB more", *mib) : "more";
    throw IoError(out_of_memory
                      ? out_of_memory(requested)
                      : "out of memory: " + requested + " was refused");
  }
}

}  // namespace infeed
