#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/choices.h"
#include "base/error.h"
#include "base/own_files.h"
#include "records/bytes/plain_text.h"
#include "records/example/builder.h"
#include "records/example/reader.h"
#include "records/http/http_client.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"
#include "records/tfrecord/writer.h"

#include "python/module/module.h"
#include "python/module/unlocked.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

std::span<const std::byte> BytesOf(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

nb::bytes ToBytes(std::span<const std::byte> bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

// Random access to an index's records.
class Records {
 public:
  explicit Records(std::shared_ptr<const RecordIndex> index)
      : index_(std::move(index)), store_(*index_) {}

  [[nodiscard]] std::int64_t size() const { return index_->size(); }

  [[nodiscard]] nb::bytes At(std::int64_t record) const {
    const std::int64_t number = record < 0 ? record + size() : record;
    if (number < 0 || number >= size()) {
      throw nb::index_error("no such record");
    }
    std::vector<std::byte> buffer;
    std::span<const std::byte> payload;
    {
      const Unlocked unlocked;
      payload = store_.Read(number, buffer);
    }
    return ToBytes(payload);
  }

 private:
  std::shared_ptr<const RecordIndex> index_;
  RecordStore store_;
};

// A feature's values as a list.
struct ToList {
  nb::object operator()(std::monostate /*none*/) const { return nb::list(); }
  nb::object operator()(const std::vector<std::string_view>& values) const {
    nb::list list;
    for (const std::string_view value : values) {
      list.append(nb::bytes(value.data(), value.size()));
    }
    return list;
  }
  template <typename T>
  nb::object operator()(const std::vector<T>& values) const {
    nb::list list;
    for (const T value : values) {
      list.append(value);
    }
    return list;
  }
};

nb::dict ParseExample(const nb::bytes& payload) {
  nb::dict features;
  for (const ExampleFeature& feature : ListFeatures(BytesOf(payload))) {
    features[nb::cast(AsUtf8(feature.key))] =
        std::visit(ToList{}, feature.values);
  }
  return features;
}

// A list of bytes, of floats or of ints, borrowed.
ExampleFeature ToFeature(std::string_view key, const nb::list& values) {
  ExampleFeature feature{.key = key, .values = {}};
  if (values.size() == 0) {
    return feature;
  }
  if (nb::isinstance<nb::bytes>(values[0])) {
    auto& texts = feature.values.emplace<std::vector<std::string_view>>();
    for (nb::handle value : values) {
      const auto bytes = nb::cast<nb::bytes>(value);
      texts.emplace_back(bytes.c_str(), bytes.size());
    }
  } else if (nb::isinstance<nb::float_>(values[0])) {
    feature.values = nb::cast<std::vector<float>>(values);
  } else {
    feature.values = nb::cast<std::vector<std::int64_t>>(values);
  }
  return feature;
}

nb::bytes BuildExampleBytes(const nb::dict& given) {
  std::vector<ExampleFeature> features;
  std::list<std::string> keys;
  for (const auto& [key, values] : given) {
    keys.push_back(nb::cast<std::string>(key));
    features.push_back(ToFeature(keys.back(), nb::cast<nb::list>(values)));
  }
  const std::string bytes = BuildExample(features);
  return nb::bytes(bytes.data(), bytes.size());
}

constexpr Choices<Compression, 3> kCompressions = {
    {{"none", Compression::kNone},
     {"gzip", Compression::kGzip},
     {"zlib", Compression::kZlib}}};

// A shard that appears when it is closed. Threads may share it.
class Writer {
 public:
  Writer(const nb::bytes& path, const std::string& compression)
      : writer_(std::in_place, std::string(path.c_str(), path.size()),
                TfrecordWriterOptions{
                    .compression =
                        ParseChoice("compression", compression, kCompressions),
                    .own_names = kNamedByUser}) {}

  void Write(const nb::bytes& payload) {
    const std::span<const std::byte> bytes = BytesOf(payload);
    const Unlocked unlocked;
    const std::scoped_lock lock(mutex_);
    if (!writer_) {
      throw UsageError("the writer is closed");
    }
    writer_->Append(bytes);
  }

  void Close() {
    const Unlocked unlocked;
    const std::scoped_lock lock(mutex_);
    if (writer_) {
      writer_->Close();
      writer_.reset();
    }
  }

  // Drops the file.
  void Abandon() {
    const Unlocked unlocked;
    const std::scoped_lock lock(mutex_);
    writer_.reset();
  }

 private:
  std::mutex mutex_;
  std::optional<TfrecordWriter> writer_;  // none: closed
};

}  // namespace

void AddRecords(nb::module_& module) {
  nb::class_<Records>(module, "Records", "Random access to an index's records.")
      .def(nb::init<std::shared_ptr<const RecordIndex>>(), nb::arg("index"))
      .def("__len__", &Records::size)
      .def("__getitem__", &Records::At, nb::arg("record"),
           "The record's payload; its checksum is right, or DataError.");
  nb::class_<Writer>(module, "Writer",
                     "Writes a TFRecord file or object, which appears under "
                     "its name when it is closed.")
      .def(nb::init<const nb::bytes&, const std::string&>(), nb::arg("path"),
           nb::arg("compression") = "none")
      .def("write", &Writer::Write, nb::arg("payload"))
      .def("close", &Writer::Close)
      .def("abandon", &Writer::Abandon);
  module.def("parse_example", &ParseExample, nb::arg("payload"),
             nb::sig("def parse_example(payload: bytes) -> dict[str, "
                     "list[typing.Any]]"),
             "The features of a tf.train.Example: key -> list of bytes, floats "
             "or ints.");
  module.def(
      "build_example", &BuildExampleBytes, nb::arg("features"),
      nb::sig("def build_example(features: dict[str, list[typing.Any]]) "
              "-> bytes"),
      "A tf.train.Example: of each key a list of bytes, floats or ints.");
  module.def("certificate_file", &CertificateFile,
             "The certificate authorities that https:// is verified by; \"\" "
             "where no file of them is found.");
}

}  // namespace infeed::python
