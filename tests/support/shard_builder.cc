#include "tests/support/shard_builder.h"

#include <fstream>
#include <memory>

#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "records/files/shards.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/writer.h"
#include "tests/support/test_jpeg.h"

namespace infeed {

std::string TestPayload(int label) { return TestPayload(label, label); }

std::string TestPayload(int image, std::int64_t label) {
  return PayloadWithImage(
      TestJpeg({.width = 40 + image % 7,
                .height = 36 + image % 5,
                .subsampling =
                    image % 2 == 0 ? Subsampling::k420 : Subsampling::k444,
                .seed = static_cast<std::uint64_t>(image) + 1}),
      label);
}

std::string PayloadWithImage(const std::string& encoded, std::int64_t label) {
  return BuildImagenetExample(
      {.label = label + 1, .filename = "image.JPEG", .encoded = encoded});
}

std::vector<std::string> TestPayloads(int count) {
  std::vector<std::string> payloads;
  for (int label = 0; label < count; ++label) {
    payloads.push_back(TestPayload(label));
  }
  return payloads;
}

std::vector<std::string> PayloadsOfFourClasses(int count) {
  std::vector<std::string> payloads;
  for (int i = 0; i < count; ++i) {
    payloads.push_back(TestPayload(i % 4));
  }
  return payloads;
}

void WriteShard(const std::string& path,
                const std::vector<std::string>& payloads) {
  TfrecordWriter writer(path);
  for (const std::string& payload : payloads) {
    writer.Append(payload);
  }
  writer.Close();
}

void WriteShard(const TemporaryFolder& folder, const std::string& split,
                const std::vector<std::string>& payloads) {
  WriteShard(folder / ShardName(split, 0, 1), payloads);
}

TestShards::TestShards(const std::vector<std::string>& payloads, int shards) {
  std::vector<std::string> paths;
  const std::size_t count = static_cast<std::size_t>(shards);
  for (std::size_t shard = 0; shard < count; ++shard) {
    paths.push_back(
        folder_ / ShardName("train", static_cast<std::int64_t>(shard), shards));
    const auto place = [&](std::size_t part) {
      return payloads.begin() +
             static_cast<std::ptrdiff_t>(payloads.size() * part / count);
    };
    WriteShard(paths.back(), {place(shard), place(shard + 1)});
  }
  index_ = std::make_unique<RecordIndex>(
      paths, RecordIndexOptions{.use_cache = false});
}

const std::string& TestShards::PathOf(std::int64_t record) const {
  return index_->shards()[static_cast<std::size_t>(index_->at(record).shard)];
}

void TestShards::Damage(std::int64_t record) {
  Damage(record, index_->at(record).length / 2);
}

void TestShards::Damage(std::int64_t record, std::int64_t byte_of_payload) {
  TurnBit(record,
          static_cast<std::int64_t>(kFrameHeaderBytes) + byte_of_payload);
}

void TestShards::DamageHeader(std::int64_t record) { TurnBit(record, 0); }

void TestShards::TurnBit(std::int64_t record, std::int64_t byte_of_frame) {
  std::fstream file(PathOf(record),
                    std::ios::in | std::ios::out | std::ios::binary);
  const std::int64_t place = index_->at(record).offset + byte_of_frame;
  file.seekg(place);
  const int byte = file.get();
  file.seekp(place);
  file.put(static_cast<char>(byte ^ 1));
  Check(file.good(), "the shard can be damaged");
}

}  // namespace infeed
