#include "trainer/formats/host_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxElementBytes = 8;

float FromBfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Sign, five bits of exponent with a bias of 15, ten of fraction.
float FromFloat16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {  // Zero, or a multiple of 2^-24.
    const float value = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == 0x1F ? 0xFF : exponent + 127 - 15;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

float FromFloat64(double value) { return static_cast<float>(value); }

template <typename Stored, typename Convert>
std::vector<std::byte> Widen(std::span<const std::byte> bytes,
                             Convert convert) {
  std::vector<std::byte> wide(bytes.size() / sizeof(Stored) * sizeof(float));
  for (std::size_t i = 0; i < bytes.size() / sizeof(Stored); ++i) {
    Stored stored{};
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    const float value = convert(stored);
    std::memcpy(wide.data() + i * sizeof value, &value, sizeof value);
  }
  return wide;
}

std::vector<std::byte> InMemory(StoredType type,
                                std::span<const std::byte> bytes) {
  switch (type) {
    case StoredType::kFloat16:
      return Widen<std::uint16_t>(bytes, FromFloat16);
    case StoredType::kBfloat16:
      return Widen<std::uint16_t>(bytes, FromBfloat16);
    case StoredType::kFloat64:
      return Widen<double>(bytes, FromFloat64);
    case StoredType::kFloat32:
    case StoredType::kInt64:
      return {bytes.begin(), bytes.end()};
  }
  Check(false, "a stored type is one of its values");
  return {};
}

}  // namespace

std::int64_t ElementBytes(StoredType type) {
  switch (type) {
    case StoredType::kFloat16:
    case StoredType::kBfloat16:
      return 2;
    case StoredType::kFloat32:
      return 4;
    case StoredType::kFloat64:
    case StoredType::kInt64:
      return 8;
  }
  Check(false, "a stored type is one of its values");
  return 0;
}

std::int64_t ElementCount(std::span<const std::int64_t> shape) {
  std::int64_t bytes = kMaxElementBytes;
  bool empty = false;
  for (const std::int64_t dimension : shape) {
    empty = empty || dimension == 0;
    if (dimension < 0 ||
        (dimension > 0 && __builtin_mul_overflow(bytes, dimension, &bytes))) {
      throw DataError("a shape is too large");
    }
  }
  return empty ? 0 : bytes / kMaxElementBytes;
}

HostTensor ToHostTensor(StoredType type, std::vector<std::int64_t> shape,
                        std::span<const std::byte> bytes) {
  Check(TensorBytes(type, shape) == static_cast<std::int64_t>(bytes.size()),
        "a tensor has the bytes its shape says");
  return {.type = type == StoredType::kInt64 ? DataType::kInt64
                                             : DataType::kFloat32,
          .shape = std::move(shape),
          .bytes = InMemory(type, bytes)};
}

bool Fits(const StridedView& view, std::int64_t elements) {
  const std::int64_t count = ElementCount(view.shape);
  std::int64_t last = view.offset;
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(std::max<std::int64_t>(view.shape[i] - 1, 0),
                               view.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return false;
    }
  }
  return view.offset >= 0 && count <= elements &&
         (count == 0 || last < elements);
}

std::vector<std::byte> CopyStrided(const StridedView& view,
                                   std::int64_t element_bytes,
                                   std::span<const std::byte> memory) {
  const auto width = static_cast<std::size_t>(element_bytes);
  const auto count = static_cast<std::size_t>(ElementCount(view.shape));
  std::vector<std::byte> dense(count * width);
  std::vector<std::int64_t> index(view.shape.size());
  std::int64_t place = view.offset;
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(dense.data() + i * width,
                memory.data() + static_cast<std::size_t>(place) * width, width);
    // The next index, as a counter whose last digit is the fastest.
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < view.shape[d]) {
        place += view.strides[d];
        break;
      }
      place -= view.strides[d] * (view.shape[d] - 1);
      index[d] = 0;
    }
  }
  return dense;
}

}  // namespace infeed
