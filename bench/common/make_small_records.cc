#include <array>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "preprocess/jpeg/jpeg.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "records/tfrecord/writer.h"
#include "tools/cli/flags.h"

// Makes a set of many small image records, for measuring costs per record: 8x8
// JPEGs of ten classes, each record with its own file name.
namespace infeed {
namespace {

constexpr std::int64_t kClasses = 10;
constexpr int kSide = 8;

struct Flags {
  std::string output;
  std::int64_t records = 1'000'000;
  std::int64_t shards = 16;
};

std::string ClassJpeg(std::int64_t number) {
  RgbImage image;
  image.Resize(kSide, kSide);
  std::uint8_t value = static_cast<std::uint8_t>(20 * number);
  for (std::uint8_t& byte : image.pixels()) {
    byte = value++;
  }
  return EncodeJpeg(image.view(), {.quality = 50});
}

void WriteShard(const Flags& flags, std::int64_t shard,
                const std::array<std::string, kClasses>& jpegs) {
  TfrecordWriter writer(flags.output + "/" +
                        ShardName("train", shard, flags.shards));
  for (std::int64_t i = shard; i < flags.records; i += flags.shards) {
    const std::int64_t label = i % kClasses;
    ImagenetExample example;
    example.height = kSide;
    example.width = kSide;
    example.label = label + 1;
    example.synset = "class" + std::to_string(label);
    example.text = example.synset;
    example.filename = std::to_string(i) + ".jpg";
    example.encoded = jpegs[static_cast<std::size_t>(label)];
    writer.Append(BuildImagenetExample(example));
  }
  writer.Close();
}

// A folder with other shards would be a mixture.
void RequireEmpty(const std::string& folder) {
  if (!std::filesystem::is_empty(folder)) {
    throw UsageError("--output " + PathForMessages(folder) +
                     ": is not empty: give another folder");
  }
}

ExitCode Run(int argc, char** argv) {
  CLI::App app("Makes shards of many small image records.");
  Flags flags;
  app.add_option("--output", flags.output, "the folder for them, an empty one")
      ->required();
  app.add_option("--records", flags.records)->capture_default_str();
  app.add_option("--shards", flags.shards)
      ->check(CLI::Range(1, 99999))
      ->capture_default_str();
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  MakeFolder(flags.output);
  RequireEmpty(flags.output);
  std::array<std::string, kClasses> jpegs;
  for (std::int64_t i = 0; i < kClasses; ++i) {
    jpegs[static_cast<std::size_t>(i)] = ClassJpeg(i);
  }
  for (std::int64_t shard = 0; shard < flags.shards; ++shard) {
    WriteShard(flags, shard, jpegs);
  }
  std::cout << flags.records << " records in " << flags.shards << " shards\n";
  return ExitCode::kDone;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::Run);
}
