#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tools/input/input_flags.h"

namespace infeed::view_flag_test {

TEST(ViewFlagTest, ReadsSettingsBesideThoseOfTheInput) {
  InputOptions options = {.preprocess = {.recipe = Recipe::kTorchvision}};
  const std::vector<std::string> texts = {
      "", "image_size=96,crop_scale=0.05,hue=0.1",
      "key=image/mask,labels=int32,fill=-1"};
  AddViews(texts, options);
  ASSERT_EQ(options.views.size(), 3U);
  EXPECT_EQ(options.views[0].preprocess, options.preprocess);
  EXPECT_EQ(options.views[1].preprocess.image_size, 96);
  EXPECT_EQ(options.views[1].preprocess.recipe, Recipe::kTorchvision);
  EXPECT_FLOAT_EQ(options.views[1].preprocess.crop.scale, 0.05F);
  EXPECT_EQ(options.views[2].key, "image/mask");
  EXPECT_EQ(options.views[2].content, ViewContent::kLabels32);
  EXPECT_EQ(options.views[2].draws, 0);
  EXPECT_EQ(options.views[2].fill, -1);
  EXPECT_EQ(options.views[2].preprocess.image_size, 224);
}

TEST(ViewFlagTest, NamesTheTextThatItCannotRead) {
  const auto refusal = [](const std::string& text) {
    return MessageOf<UsageError>([&] {
      InputOptions options;
      AddViews(std::vector<std::string>{text}, options);
    });
  };
  EXPECT_THAT(refusal("96"), HasSubstr("--view 96: \"96\" is no NAME=VALUE"));
  EXPECT_THAT(refusal("image_size=big"), HasSubstr("--view image_size=big: "));
  EXPECT_THAT(refusal("layout=rgb"),
              HasSubstr("'layout' is no setting of a view"));
  EXPECT_THAT(refusal("labels=float"), HasSubstr("labels is \"float\""));
}

}  // namespace infeed::view_flag_test
