#include "trainer/model/named_networks.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tests/support/torchvision_golden.h"
#include "trainer/model/layers.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// The state's lines and numbers, as tests/data/make_named_network_goldens.py
// writes them.
nlohmann::json LayoutOf(const ModelOptions& options) {
  std::vector<std::string> lines;
  std::int64_t parameters = 0;
  for (const LayerPlan& layer : PlanLayers(options)) {
    for (const TensorPlan& tensor : TensorsOf(layer)) {
      lines.push_back(
          fmt::format("{} {}", tensor.name, fmt::join(tensor.shape, "x")));
      parameters += tensor.buffer ? 0 : CountElements(tensor);
    }
  }
  std::ranges::sort(lines);
  return {{"parameters", parameters},
          {"entries", lines.size()},
          {"fnv1a", Fnv1a(fmt::format("{}", fmt::join(lines, "\n")))}};
}

TEST(NamedNetworksTest, NetworksHaveTheirLibrarysTensors) {
  nlohmann::json golden = nlohmann::json::parse(
      std::ifstream(INFEED_TEST_DATA "/named_networks.json"));
  for (const NamedNetwork& network : NamedNetworks()) {
    const std::string name(network.name);
    ASSERT_TRUE(golden.contains(name)) << name;
    golden[name].erase("logits");
    nlohmann::json ours = LayoutOf(network.shape);
    ours["library"] = network.library;
    EXPECT_EQ(ours, golden[name]) << name;
    golden.erase(name);
  }
  EXPECT_EQ(golden, nlohmann::json::object());
}

TEST(NamedNetworksTest, NetworksAreFoundByNameAndShape) {
  for (const NamedNetwork& network : NamedNetworks()) {
    EXPECT_EQ(FindNetwork(network.name), &network);
    EXPECT_EQ(NetworkOf(network.shape), &network) << network.name;
  }
  EXPECT_EQ(FindNetwork("resnet"), nullptr);
  EXPECT_EQ(NetworkOf({.kind = ModelKind::kLeNet}), nullptr);
  EXPECT_EQ(NetworkOf({.groups = 2}), nullptr);
  // Only what makes layers counts.
  EXPECT_EQ(NetworkOf({.depth = 18, .num_classes = 3, .dropout_rate = 0.5}),
            FindNetwork("resnet18"));
}

}  // namespace
}  // namespace infeed
