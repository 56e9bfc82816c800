#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "records/bytes/fnv_hash.h"
#include "records/files/shards.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_resnet.h"
#include "trainer/results/model_dir.h"

namespace infeed {

// The program train_resnet: LeNet on 16 small images, with its folders in an
// object store or on this disk.
class CloudTraining : public CloudFixture {
 protected:
  static constexpr std::int64_t kSteps = 20;
  static constexpr std::int64_t kMaxBytes = 1 << 24;

  CloudTraining() {
    const std::string name = ShardName("train", 0, 1);
    WriteShard(local_ / name, PayloadsOfFourClasses(16));
    for (const char* folder : {"shards/data/", "gs-shards/data/"}) {
      server_.Put(folder + name, ReadWholeFile(local_ / name, kMaxBytes));
    }
  }

  // The bucket's name: "shards" for "s3://shards/".
  static std::string Bucket(const std::string& root) {
    const std::size_t begin = root.find("://") + 3;
    return root.substr(begin, root.find('/', begin) - begin);
  }

  // A run's flags: its data and its model_dir below a root, a folder or a
  // bucket's URL.
  [[nodiscard]] std::vector<std::string> Flags(
      const std::string& root,
      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> flags = {
        "--data_dir",
        root.find("://") == std::string::npos ? local_.path() : root + "data",
        "--model_dir",
        root + "model",
        "--mode",
        "train",
        "--device",
        "cpu",
        "--local_scratch_dir",
        scratch_,
        "--params_override",
        "model=lenet,image_size=28,recipe=plain,precision=float32,"
        "train_batch_size=8,"
        "iterations_per_loop=1,steps_per_checkpoint=1,keep_last=3,"
        "train_steps=" +
            std::to_string(kSteps)};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }

  [[nodiscard]] ProgramResult Train(
      const std::string& root,
      const std::vector<std::string>& more = {}) const {
    return RunTrainResnet(Flags(root, more));
  }

  // The steps of the whole checkpoints in a bucket's model_dir.
  [[nodiscard]] std::vector<std::int64_t> StepsIn(
      const std::string& bucket, const std::string& model = "model/") const {
    std::vector<std::string> names;
    for (const std::string& key : server_.Keys(bucket)) {
      if (key.starts_with(model) && key.ends_with("/MANIFEST")) {
        const std::string rest = key.substr(model.size());
        names.push_back(rest.substr(0, rest.find('/')));
      }
    }
    return CheckpointSteps(names);
  }

  [[nodiscard]] std::string ObjectsBelow(const std::string& bucket,
                                         const std::string& prefix) const {
    std::string names;
    for (const std::string& key : server_.Keys(bucket)) {
      names += key.starts_with(prefix) ? key + "\n" : "";
    }
    return names;
  }

  // Waits until a checkpoint of this step or a later one is there; false when
  // none comes.
  [[nodiscard]] bool AwaitStep(const std::string& bucket,
                               std::int64_t step) const {
    for (int looks = 0; looks < 40'000; ++looks) {
      const std::vector<std::int64_t> steps = StepsIn(bucket);
      if (!steps.empty() && steps.back() >= step) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  // The tensors' files of the last step: equal for equal bytes.
  [[nodiscard]] static std::string LastSumsOf(const std::string& model_dir) {
    const std::string folder = CheckpointFolder(model_dir, kSteps);
    return SumOf(ReadWholeFile(PathIn(folder, kModelFile), kMaxBytes)) +
           SumOf(ReadWholeFile(PathIn(folder, kOptimizerFile), kMaxBytes));
  }
  [[nodiscard]] std::string LastSumsIn(const std::string& bucket) const {
    const std::string folder = CheckpointFolder(bucket + "/model", kSteps);
    return SumOf(server_.Get(PathIn(folder, kModelFile))) +
           SumOf(server_.Get(PathIn(folder, kOptimizerFile)));
  }

  // Length and hash.
  [[nodiscard]] static std::string SumOf(const std::string& bytes) {
    return std::to_string(bytes.size()) + "-" + std::to_string(FnvHash(bytes)) +
           " ";
  }

  TemporaryFolder local_;
  TemporaryFolder machine_;
  std::string scratch_ = machine_ / "scratch";
};

}  // namespace infeed
