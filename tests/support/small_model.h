#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "records/tfrecord/writer.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_resnet.h"

#include "gtest/gtest.h"

namespace infeed {

// A model of four classes that train_resnet has trained for two steps of 8
// images, with a checkpoint after each: 16 images in train-*, 10 in
// validation-*, image i of class i modulo 4.
class SmallModel {
 public:
  static constexpr const char* kParameters =
      "model=lenet,image_size=28,train_batch_size=8,train_steps=2,"
      "iterations_per_loop=1,steps_per_checkpoint=1,precision=float32";

  SmallModel() {
    WriteShard(data_, "train", PayloadsOfFourClasses(16));
    WriteShard(data_, "validation", PayloadsOfFourClasses(10));
    std::ofstream(data_ / "labels.txt") << "ant\nbee\ncat\ndog\n";
    const ProgramResult trained = RunTrainResnet(
        "--device cpu --data_dir " + data_.path() + " --model_dir " +
        folder_.path() + " --params_override " + kParameters);
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
  }

  // Runs train_resnet on the model.
  [[nodiscard]] ProgramResult Run(const std::string& flags) const {
    return RunTrainResnet("--device cpu --model_dir " + folder_.path() + " " +
                          flags);
  }

  [[nodiscard]] const std::string& folder() const { return folder_.path(); }
  [[nodiscard]] const std::string& data_dir() const { return data_.path(); }

 private:
  TemporaryFolder data_;
  TemporaryFolder folder_;
};

// Each line of a text as JSON.
inline std::vector<nlohmann::json> JsonLines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(nlohmann::json::parse(text.substr(at, end - at)));
    at = end == std::string::npos ? end : end + 1;
  }
  return lines;
}

}  // namespace infeed
