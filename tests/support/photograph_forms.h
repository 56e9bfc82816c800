#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "records/archives/tar_writer.h"
#include "records/bytes/byte_sink.h"
#include "records/example/builder.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_sink.h"
#include "records/tfrecord/format.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/zip_builder.h"

namespace infeed {

// One set of JPEGs as a folder of class folders, WebDataset tars, a zip, a
// shard of TFRecords, and a shard with the keys of TensorFlow Datasets: train
// has 30, validation 12, of three classes. The order of the records is the same
// in all.
class PhotographForms {
 public:
  static constexpr int kTrain = 30;
  static constexpr int kValidation = 12;

  PhotographForms() {
    for (const auto& [split, count] :
         {std::pair("train", kTrain), std::pair("validation", kValidation)}) {
      Make(split, count);
    }
    WriteFileAtomically(zip(), zip_.bytes());
  }

  // The arguments of --data_dir.
  [[nodiscard]] std::string images() const { return folder_ / "images"; }
  [[nodiscard]] std::string tars() const { return folder_ / "tars"; }
  [[nodiscard]] std::string zip() const { return folder_ / "photos.zip"; }
  [[nodiscard]] std::string shards() const { return folder_ / "shards"; }
  [[nodiscard]] std::string tfds() const { return folder_ / "tfds"; }
  [[nodiscard]] std::vector<std::string> all() const {
    return {images(), tars(), zip(), shards(), tfds()};
  }

 private:
  static constexpr int kClasses = 3;

  void Make(const std::string& split, int count) {
    namespace fs = std::filesystem;
    fs::create_directories(tars());
    fs::create_directories(shards());
    fs::create_directories(tfds());
    const std::unique_ptr<ByteSink> sink =
        OpenSink(tars() + "/" + split + "-000000.tar");
    TarWriter tar(*sink);
    std::string records;
    std::string tfds_records;
    for (int i = 0; i < count; ++i) {
      const int label = i * kClasses / count;  // Classes follow each other.
      const std::string folder = "class" + std::to_string(label);
      const std::string stem = split + std::to_string(1000 + i);
      const std::string jpeg =
          TestJpeg({.width = 40, .height = 30, .seed = Seed(split, i)});
      const std::string path = split + "/" + folder + "/" + stem + ".jpg";
      fs::create_directories(images() + "/" + split + "/" + folder);
      WriteFileAtomically(images() + "/" + path, jpeg);
      tar.Add(stem + ".jpg", AsBytes(jpeg));
      tar.Add(stem + ".cls", AsBytes(std::to_string(label)));
      zip_.Add(i % 2 == 0 ? StoredMember(path, jpeg)
                          : DeflatedMember(path, jpeg));
      AppendFrame(tfds_records,
                  BuildExample(std::vector<ExampleFeature>{
                      {"image", std::vector<std::string_view>{jpeg}},
                      {"label", std::vector<std::int64_t>{label}}}));
      AppendFrame(records, BuildImagenetExample({.label = label + 1,
                                                 .synset = folder,
                                                 .text = {},
                                                 .filename = stem + ".jpg",
                                                 .encoded = jpeg}));
    }
    tar.Finish();
    sink->Commit();
    WriteFileAtomically(tfds() + "/set-" + split + ".tfrecord-00000-of-00001",
                        tfds_records);
    WriteFileAtomically(shards() + "/" + split + "-00000-of-00001", records);
  }

  static std::uint64_t Seed(const std::string& split, int number) {
    return (split == "train" ? 0U : 1000U) + static_cast<unsigned>(number);
  }

  TemporaryFolder folder_;
  ZipBuilder zip_;
};

}  // namespace infeed
