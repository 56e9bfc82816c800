#include "trainer/formats/wrapper_names.h"

#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/tensors.h"

namespace infeed {
namespace {

using Names = std::vector<std::string>;

Names Of(const Names& names) {
  TensorMap tensors;
  for (const std::string& name : names) {
    tensors[name] = FloatTensor({1});
  }
  Names left;
  for (const auto& entry : WithoutWrappers(tensors)) {
    left.push_back(entry.first);
  }
  return left;
}

TEST(WrapperNamesTest, LosesWrappersInAnyNesting) {
  for (const std::string prefix :
       {"", "module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module.",
        "model.", "model._orig_mod.module.", "state_dict.model.module.",
        "_fsdp_wrapped_module.module."}) {
    EXPECT_THAT(Of({prefix + "conv1.weight", prefix + "fc.bias"}),
                ElementsAre("conv1.weight", "fc.bias"))
        << prefix;
  }
  EXPECT_THAT(Of({"conv1.weight", "layer1._orig_mod.0.bn1.bias"}),
              ElementsAre("conv1.weight", "layer1.0.bn1.bias"));
  EXPECT_THAT(Of({"module.conv1.weight", "n_averaged"}),
              ElementsAre("conv1.weight", "n_averaged"));
}

TEST(WrapperNamesTest, KeepsWhatNotEveryTensorHas) {
  EXPECT_THAT(Of({"module.a", "b.weight"}),
              ElementsAre("b.weight", "module.a"));
  EXPECT_THAT(Of({"my_orig_mod.a"}), ElementsAre("my_orig_mod.a"));
  EXPECT_THAT(Of({"module"}), ElementsAre("module"));
  EXPECT_THAT(Of({}), testing::IsEmpty());
}

}  // namespace
}  // namespace infeed
