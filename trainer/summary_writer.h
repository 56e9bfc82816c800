#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace infeed {

// Appends scalars to a TensorBoard event file in a folder (TFRecord frames of
// Event messages). The file appears at once; Flush() pushes what was added to
// the kernel, as does every tenth scalar or so. One thread at a time. Throws
// IoError.
class SummaryWriter {
 public:
  explicit SummaryWriter(const std::string& folder);
  ~SummaryWriter();
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;

  void Scalar(std::string_view tag, double value, std::int64_t step);
  void Flush();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string pending_;
  int descriptor_ = -1;
};

}  // namespace infeed
