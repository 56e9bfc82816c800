#include "trainer/model_identity.h"

#include <string>

#include "gtest/gtest.h"

namespace infeed {
namespace {

// The defaults with one value changed.
template <typename T, typename U>
TrainParams With(T TrainParams::*field, const U& value) {
  TrainParams params;
  params.*field = value;
  return params;
}

TEST(ModelIdentityTest, NamesWhatIsNotTorchvisions) {
  EXPECT_EQ(ModelNameOf({}), "ResNet-50");
  EXPECT_EQ(ModelNameOf(With(&TrainParams::model, "lenet")), "LeNet-5");
  TrainParams params = With(&TrainParams::model_variant, "tpu");
  params.resnet_depth = 101;
  params.small_stem = true;
  params.se_ratio = 0.25;
  EXPECT_EQ(ModelNameOf(params),
            "ResNet-101 (model_variant=tpu, small_stem, se_ratio=0.25)");
}

// What keeps a run with one value changed from a default run's checkpoint.
template <typename T, typename U>
std::string Difference(T TrainParams::*field, const U& value) {
  return FirstDifference(ModelIdentityOf(With(field, value)),
                         ModelIdentityOf({}));
}

TEST(ModelIdentityTest, IsOfTheNetworkAlone) {
  EXPECT_EQ(Difference(&TrainParams::train_steps, 7), "");
  EXPECT_EQ(Difference(&TrainParams::model, "lenet"),
            "model is \"lenet\", the checkpoint has \"resnet\"");
  EXPECT_EQ(Difference(&TrainParams::resnet_depth, 18),
            "resnet_depth is 18, the checkpoint has 50");
  EXPECT_EQ(Difference(&TrainParams::num_label_classes, 5),
            "num_label_classes is 5, the checkpoint has 0");
  EXPECT_EQ(Difference(&TrainParams::model_variant, "tpu"),
            "model_variant is \"tpu\", the checkpoint has \"torchvision\"");
  EXPECT_EQ(Difference(&TrainParams::pre_activation, true),
            "pre_activation is true, the checkpoint has false");
  EXPECT_EQ(Difference(&TrainParams::se_ratio, 0.25),
            "se_ratio is 0.25, the checkpoint has 0");
}

}  // namespace
}  // namespace infeed
