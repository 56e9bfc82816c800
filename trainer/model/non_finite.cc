#include "trainer/model/non_finite.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace infeed {
namespace {

constexpr std::ptrdiff_t kShown = 3;

}  // namespace

std::string NonFiniteText(const std::vector<NonFiniteTensor>& tensors) {
  std::string text;
  for (auto begin = tensors.begin(); begin != tensors.end();) {
    const auto end = std::find_if(begin, tensors.end(), [&](const auto& other) {
      return other.kind != begin->kind;
    });
    text += (text.empty() ? "" : "; ") + begin->kind;
    const auto shown = std::min(end - begin, kShown);
    for (auto i = begin; i != begin + shown; ++i) {
      text += fmt::format("{} {} ({} of {} values)", i == begin ? "" : ",",
                          i->name, i->count, i->size);
    }
    if (shown < end - begin) {
      text += fmt::format(" and {} more", end - begin - shown);
    }
    begin = end;
  }
  return text;
}

}  // namespace infeed
