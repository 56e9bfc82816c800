#pragma once

#include <chrono>
#include <string>

#include "trainer/model/arithmetic.h"
#include "trainer/ranks/ranks.h"

namespace infeed {

struct DeviceOptions {
  std::string device = "auto";  // auto, cpu, cuda, cuda:N
  Precision precision = Precision::kFloat32;
  int threads = 0;  // of the CPU's own work; 0: one for each core
  Normalization normalization = Normalization::kImagenet;
  // On a GPU: whether steps are replayed as CUDA graphs.
  bool graphs = true;

  // ranks: the ranks that train this model, each on a part of every batch; must
  // outlive the loop; nullptr: a single process. batch_norm_group: how many
  // consecutive ranks share the statistics of their batch norms: a divisor of
  // world_size, 0 for all.
  Ranks* ranks = nullptr;
  int batch_norm_group = 1;
  std::chrono::seconds rank_timeout{300};

  [[nodiscard]] RankPlace place() const {
    return ranks == nullptr ? RankPlace() : ranks->place();
  }
};

}  // namespace infeed
