#include "records/example/builder.h"

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "base/error.h"
#include "records/example/example.pb.h"

namespace infeed {
namespace {

struct FillFeature {
  Feature& feature;

  void operator()(std::monostate /*none*/) const {}
  void operator()(const std::vector<std::string_view>& values) const {
    for (const std::string_view value : values) {
      feature.mutable_bytes_list()->add_value(value.data(), value.size());
    }
  }
  void operator()(const std::vector<float>& values) const {
    feature.mutable_float_list()->mutable_value()->Add(values.begin(),
                                                       values.end());
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    feature.mutable_int64_list()->mutable_value()->Add(values.begin(),
                                                       values.end());
  }
};

}  // namespace

std::string BuildExample(std::span<const ExampleFeature> features) {
  Example example;
  auto& map = *example.mutable_features()->mutable_feature();
  for (const ExampleFeature& feature : features) {
    std::visit(FillFeature{map[std::string(feature.key)]}, feature.values);
  }
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream output(&bytes);
    google::protobuf::io::CodedOutputStream stream(&output);
    stream.SetSerializationDeterministic(true);
    Check(example.SerializeToCodedStream(&stream), "a string takes any bytes");
  }
  return bytes;
}

}  // namespace infeed
