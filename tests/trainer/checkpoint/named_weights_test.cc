#include "trainer/checkpoint/named_weights.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::named_weights_test {

constexpr const char* kParam = "resnet_checkpoint";

class NamedWeightsTest : public testing::Test {
 protected:
  NamedWeightsTest() {
    MakeFolder(own_);
    MakeFolder(hub_);
  }

  static void Touch(const std::string& path) { WriteFileAtomically(path, ""); }
  static std::string ErrorOf(const std::string& name) {
    return MessageOf<UsageError>([&] { (void)FindWeights(name, kParam); });
  }

  TemporaryFolder folder_;
  std::string own_ = folder_ / "own";
  std::string hub_ = folder_ / "torch/hub/checkpoints";
  EnvironmentVariable weights_{"INFEED_WEIGHTS", own_};
  EnvironmentVariable torch_{"TORCH_HOME", folder_ / "torch"};
};

TEST_F(NamedWeightsTest, KnowsTheFilesOfAName) {
  for (const char* file : {"resnet18.pth", "resnet18.safetensors",
                           "resnet18-f37072fd.pth", "resnet18-a.pt"}) {
    EXPECT_TRUE(IsFileOfWeights(file, "resnet18")) << file;
  }
  for (const char* file : {"resnet18.txt", "resnet18", "resnet180.pth",
                           "resnet18_swsl-1.pth", "wide_resnet18.pth"}) {
    EXPECT_FALSE(IsFileOfWeights(file, "resnet18")) << file;
  }
}

TEST_F(NamedWeightsTest, LeavesPathsAndUrlsAlone) {
  Touch(folder_ / "resnet18");
  for (const std::string& path :
       {folder_ / "resnet18", folder_ / "none", std::string("none.pth"),
        std::string("none.safetensors"), std::string("s3://b/resnet18"),
        std::string("https://h/w.pth?sig=1"), std::string()}) {
    EXPECT_EQ(FindWeights(path, kParam), path);
  }
}

TEST_F(NamedWeightsTest, TakesAnExistingPathBeforeAName) {
  Touch(hub_ + "/resnet18-f37072fd.pth");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  Touch("resnet18");
  EXPECT_EQ(FindWeights("resnet18", kParam), "resnet18");
  std::filesystem::current_path(before);
}

TEST_F(NamedWeightsTest, LooksInOnesOwnFolderAndThenInTorchs) {
  Touch(hub_ + "/resnet18-f37072fd.pth");
  EXPECT_EQ(FindWeights("resnet18", kParam), hub_ + "/resnet18-f37072fd.pth");
  {
    const EnvironmentVariable torch("TORCH_HOME", "");
    const EnvironmentVariable cache("XDG_CACHE_HOME", folder_.path());
    EXPECT_EQ(FindWeights("resnet18", kParam), hub_ + "/resnet18-f37072fd.pth");
  }
  Touch(own_ + "/resnet18.safetensors");
  EXPECT_EQ(FindWeights("resnet18", kParam), own_ + "/resnet18.safetensors");
}

TEST_F(NamedWeightsTest, RefusesToChooseBetweenTwo) {
  Touch(hub_ + "/resnet50-11ad3fa6.pth");
  Touch(hub_ + "/resnet50-0676ba61.pth");
  EXPECT_EQ(ErrorOf("resnet50"),
            "resnet_checkpoint=resnet50: " + hub_ +
                " has several files of this name, resnet50-0676ba61.pth, "
                "resnet50-11ad3fa6.pth: give the path of one of them");
}

TEST_F(NamedWeightsTest, SaysWhereItLookedAndHowToGetThem) {
  EXPECT_EQ(ErrorOf("resnet18"),
            "resnet_checkpoint=resnet18: no such file, and no weights of this "
            "name (resnet18.pth, resnet18-*.pth or .safetensors) in " +
                own_ + ", " + hub_ +
                "; to fill torch's cache: python -c 'import torchvision; "
                "torchvision.models.resnet18(weights=\"DEFAULT\")'");
  EXPECT_THAT(ErrorOf("wide_resnet50_2"),
              HasSubstr("torchvision.models.wide_resnet50_2("));
  EXPECT_THAT(ErrorOf("seresnet50"), Not(HasSubstr("torchvision")));
  const EnvironmentVariable none("INFEED_WEIGHTS", "");
  EXPECT_THAT(ErrorOf("flowers"),
              AllOf(HasSubstr("in $INFEED_WEIGHTS (not set), " + hub_),
                    Not(HasSubstr("torchvision"))));
}

TEST_F(NamedWeightsTest, LooksBelowAUrl) {
  const EnvironmentVariable url("INFEED_WEIGHTS", "https://h/w?sig=1");
  EXPECT_TRUE(IsLookedUpAtUrl("resnet18"));
  EXPECT_FALSE(IsLookedUpAtUrl("resnet18.pth"));
  const auto list = [](const std::string& folder, const std::string& name) {
    EXPECT_EQ(folder, "https://h/w?sig=1");
    return std::vector<std::string>{name + ".pth"};
  };
  EXPECT_EQ(FindWeights("resnet18", kParam, list),
            "https://h/w/resnet18.pth?sig=1");
  EXPECT_THAT(MessageOf<UsageError>([] {
                (void)FindWeights("resnet18", kParam,
                                  [](const auto&, const auto&) {
                                    return std::vector<std::string>();
                                  });
              }),
              AllOf(HasSubstr(" in https://h/w, "), Not(HasSubstr("sig"))));
}

TEST_F(NamedWeightsTest, RefusesTheNameOfAnotherDepth) {
  EXPECT_NO_THROW(RequireDepthOfName("resnet18", {.depth = 18}));
  EXPECT_NO_THROW(RequireDepthOfName("flowers", {.depth = 18}));
  EXPECT_NO_THROW(RequireDepthOfName("a/resnet50", {.depth = 18}));
  EXPECT_NO_THROW(RequireDepthOfName("resnext50_32x4d", {.depth = 50}));
  EXPECT_EQ(MessageOf<UsageError>(
                [] { RequireDepthOfName("resnext50_32x4d", {.depth = 101}); }),
            "resnet_checkpoint=resnext50_32x4d: these are weights of 50 "
            "layers, but resnet_depth is 101");
  EXPECT_EQ(MessageOf<UsageError>(
                [] { RequireDepthOfName("resnet50", {.depth = 18}); }),
            "resnet_checkpoint=resnet50: these are weights of 50 layers, but "
            "resnet_depth is 18");
}

}  // namespace infeed::named_weights_test
