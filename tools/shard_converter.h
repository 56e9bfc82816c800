#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/dataset_info.h"
#include "records/tfrecord_writer.h"
#include "tools/conversion_plan.h"
#include "tools/image_encoder.h"

namespace infeed {

enum class OnBadImage {
  kFail,  // stop with a DataError that names the file
  kSkip,  // leave it out and report it
};

struct ConverterOptions {
  OnBadImage on_bad_image = OnBadImage::kFail;
  // Whether every image is decoded once; otherwise only headers are read, and
  // a broken image is found when it is used.
  bool verify_images = true;
  // Whether shards in the output folder that are not part of the plan may be
  // removed; otherwise they are a UsageError.
  bool overwrite = false;
  int threads = 0;  // 0: one for each core
};

struct SkippedImage {
  std::string path;
  std::string reason;
};

// One shard of a plan, by its place there.
struct ShardTask {
  std::size_t split = 0;
  std::size_t shard = 0;
};

struct ShardResult {
  ShardTask task;
  DatasetInfo::Shard info;
  std::int64_t reencoded = 0;
  std::vector<SkippedImage> skipped;
};

// Writes shards of a plan into a folder, one at a time: reads each image,
// makes it fit for a record and appends its Example.
//
// The constructor's arguments must outlive it. One thread at a time: each
// worker has one. Throws IoError, and DataError naming the file for a bad image
// that is not to be skipped.
class ShardConverter {
 public:
  ShardConverter(const ConversionPlan& plan, const std::string& output_dir,
                 const ConverterOptions& options);

  // Writes one shard, calling on_image after each image; when that returns
  // false the shard is given up, nothing of it remains, and the result is
  // nullopt.
  [[nodiscard]] std::optional<ShardResult> Write(
      const ShardTask& task, const std::function<bool()>& on_image);

 private:
  void Append(const ImageFile& image, TfrecordWriter& writer,
              ShardResult& result);

  const ConversionPlan& plan_;
  const std::string& output_dir_;
  const ConverterOptions& options_;
  ImageEncoder encoder_;
};

}  // namespace infeed
