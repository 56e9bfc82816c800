#pragma once

#include <cstdint>

#include "records/example/fields.h"

namespace infeed {

// Calls visit with a zero of the C++ type of a fixed field's items, and returns
// what it returns; C++ has no type for kFloat16, whose bits are a uint16_t.
template <typename Visit>
auto VisitItem(ItemType type, Visit visit) {
  switch (type) {
    case ItemType::kInt64:
      return visit(std::int64_t{});
    case ItemType::kInt32:
      return visit(std::int32_t{});
    case ItemType::kInt16:
      return visit(std::int16_t{});
    case ItemType::kInt8:
      return visit(std::int8_t{});
    case ItemType::kUint16:
    case ItemType::kFloat16:
      return visit(std::uint16_t{});
    case ItemType::kUint8:
      return visit(std::uint8_t{});
    case ItemType::kBool:
      return visit(bool{});
    case ItemType::kFloat32:
      return visit(float{});
    case ItemType::kFloat64:
      break;
  }
  return visit(double{});
}

}  // namespace infeed
