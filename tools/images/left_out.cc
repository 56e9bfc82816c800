#include "tools/images/left_out.h"

#include <algorithm>
#include <tuple>

namespace infeed {

void AddLeftOut(std::vector<LeftOut>& list, const LeftOut& more) {
  const auto key = [](const LeftOut& left_out) {
    return std::tie(left_out.kind, left_out.format);
  };
  const auto place = std::find_if(
      list.begin(), list.end(),
      [&](const LeftOut& known) { return key(known) >= key(more); });
  if (place != list.end() && key(*place) == key(more)) {
    place->count += more.count;
  } else {
    list.insert(place, more);
  }
}

}  // namespace infeed
