#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "records/example/fields.h"
#include "records/example/imagenet_example.h"
#include "records/example/reader.h"
#include "tests/support/example.pb.h"

// Any bytes as an Example: what protobuf parses, our walk over the wire must
// parse to the same.
namespace infeed {
namespace {

using Bytes = std::span<const std::byte>;

std::optional<std::vector<ExampleFeature>> OurFeatures(Bytes bytes) {
  try {
    return ListFeatures(bytes);
  } catch (const DataError&) {
    return std::nullopt;
  }
}

template <typename T, typename List, typename Same>
bool Equal(const ExampleFeature& ours, const List& theirs, Same same) {
  const auto* values = std::get_if<std::vector<T>>(&ours.values);
  if (values == nullptr ||
      values->size() != static_cast<std::size_t>(theirs.value_size())) {
    return false;
  }
  for (std::size_t i = 0; i < values->size(); ++i) {
    if (!same((*values)[i], theirs.value(static_cast<int>(i)))) {
      return false;
    }
  }
  return true;
}

bool Equal(const ExampleFeature& ours, const Feature& theirs) {
  const auto same = [](const auto& a, const auto& b) { return a == b; };
  const auto same_bits = [](float a, float b) {  // NaNs as well
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  };
  switch (theirs.kind_case()) {
    case Feature::kBytesList:
      return Equal<std::string_view>(ours, theirs.bytes_list(), same);
    case Feature::kFloatList:
      return Equal<float>(ours, theirs.float_list(), same_bits);
    case Feature::kInt64List:
      return Equal<std::int64_t>(ours, theirs.int64_list(), same);
    case Feature::KIND_NOT_SET:
      return std::holds_alternative<std::monostate>(ours.values);
  }
  return false;
}

void CompareWithProtobuf(Bytes bytes) {
  const auto ours = OurFeatures(bytes);
  Example message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return;  // We need not find everything wrong that protobuf does.
  }
  Check(ours.has_value(), "what protobuf parses, we parse");
  const auto& theirs = message.features().feature();
  Check(ours->size() == theirs.size(), "there are as many keys");
  for (const ExampleFeature& feature : *ours) {
    const auto found = theirs.find(std::string(feature.key));
    Check(found != theirs.end(), "the keys are protobuf's");
    Check(Equal(feature, found->second), "the values are protobuf's");
  }
}

// A view of our keys lies within the bytes.
void CheckView(Bytes bytes) {
  try {
    const ImagenetExampleView view = ParseImagenetExample(bytes);
    for (const Bytes part : {view.encoded, view.packed, view.seek_index}) {
      Check(part.empty() ||
                (part.data() >= bytes.data() &&
                 part.data() + part.size() <= bytes.data() + bytes.size()),
            "nothing is copied and nothing beyond is read");
    }
  } catch (const DataError& error) {
    Check(!error.reason().empty(), "an error says what is wrong");
  }
}

// A fixed field has the values of the whole walk, as many as it says.
void CheckFixedField(Bytes bytes) {
  const std::vector<FieldSpec> fields = {
      {.key = "t",
       .shape = std::vector<std::int64_t>{4},
       .pad = std::string(sizeof(std::int64_t), '\x7f')}};
  std::vector<std::int64_t> row(4);
  std::int64_t length = -1;
  const FieldPlace place = {.row = std::as_writable_bytes(std::span(row)),
                            .length = &length};
  try {
    (void)FieldReader(fields, 0).Read(bytes, {&place, 1});
  } catch (const DataError& error) {
    Check(!error.reason().empty(), "an error says what is wrong");
    return;
  }
  std::vector<std::int64_t> values;
  const auto features = OurFeatures(bytes);
  if (!features) {
    return;  // Another feature's values are wrong.
  }
  for (const ExampleFeature& feature : *features) {
    const auto* list = std::get_if<std::vector<std::int64_t>>(&feature.values);
    if (feature.key == "t" && list != nullptr) {
      values = *list;
    }
  }
  Check(length == std::min<std::int64_t>(std::ssize(values), 4),
        "the length is that of the list, or of the row");
  for (std::size_t i = 0; i < 4; ++i) {
    Check(row[i] == (std::cmp_less(i, length) ? values[i] : 0x7f7f7f7f7f7f7f7f),
          "the row has the list's values, then padding");
  }
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  infeed::CompareWithProtobuf(bytes);
  infeed::CheckView(bytes);
  infeed::CheckFixedField(bytes);
  return 0;
}
