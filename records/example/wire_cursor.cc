#include "records/example/wire_cursor.h"

#include <vector>

namespace infeed {

WireCursor WireCursor::AfterGroup(WireCursor cursor, std::uint32_t tag) {
  constexpr std::size_t kMostOpen = 100;  // protobuf's limit
  std::vector<std::uint32_t> open = {tag};
  while (!open.empty()) {
    const std::uint32_t next = cursor.TakeTag();
    if (WireTypeOf(next) == WireType::kGroup) {
      open.push_back(next);
      if (open.size() > kMostOpen) {
        cursor.Fail();
      }
    } else if (WireTypeOf(next) == WireType::kGroupEnd) {
      if (next >> 3 != open.back() >> 3) {  // another field's
        cursor.Fail();
      }
      open.pop_back();
    } else {
      cursor.Skip(next);
    }
  }
  return cursor;
}

}  // namespace infeed
