#include "records/files/open_sink.h"

#include <utility>

#include "base/atomic_file.h"
#include "records/cloud/object_sink.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

class FileSink final : public ByteSink {
 public:
  FileSink(std::string path, int own_names)
      : file_(std::move(path), own_names) {}

  using ByteSink::Write;
  void Write(std::span<const std::byte> bytes) override { file_.Write(bytes); }
  void Commit() override { file_.Commit(); }
  [[nodiscard]] std::int64_t size() const override { return file_.size(); }

 private:
  AtomicFile file_;
};

}  // namespace

std::unique_ptr<ByteSink> OpenSink(const std::string& path, int own_names) {
  if (IsUrl(path)) {
    return std::make_unique<ObjectSink>(path);
  }
  return std::make_unique<FileSink>(path, own_names);
}

}  // namespace infeed
