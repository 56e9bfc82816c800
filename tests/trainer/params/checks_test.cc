#include <string>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "trainer/params/params.h"
#include "trainer/params/table.h"

namespace infeed::checks_test {

std::string ErrorOf(const std::string& text) {
  return MessageOf<UsageError>(
      [&] { (void)ReadParams({.overrides = {text}}); });
}

TEST(CheckTogetherTest, NamesBothAndSaysWhy) {
  EXPECT_EQ(ErrorOf("enable_lars=true,optimizer=adam"),
            "enable_lars=true and optimizer=adam: they are two optimizers, "
            "give one");
}

TEST(CheckTogetherTest, SaysWhatAParameterIsUsedWith) {
  EXPECT_EQ(ErrorOf("layer_decay_blocks=2"),
            "layer_decay_blocks=2 and layer_decay=1: layer_decay_blocks needs "
            "layer_decay");
  EXPECT_EQ(ErrorOf("eval_crops=5,recipe=plain"),
            "eval_crops=5 and recipe=plain: corners are cropped with "
            "recipe=tpu or torchvision");
  EXPECT_EQ(ErrorOf("eval_crops=2,recipe=plain"), "");
  EXPECT_EQ(ErrorOf("model=lenet,image_size=28,small_stem=true"),
            "small_stem=true and model=lenet: small_stem is not used with "
            "model=lenet");
}

TEST(CheckTogetherTest, SaysWhereNormsAreFusedIntoConvolutions) {
  EXPECT_EQ(ErrorOf("conv_statistics=fused,precision=bfloat16"),
            "conv_statistics=fused and precision=bfloat16: cuDNN normalizes "
            "within a convolution in float16 only, give precision=float16 or "
            "conv_statistics=epilogue");
}

struct Pair {
  std::string given;
  std::string other;
  std::string remedy;  // that makes it good
};

class QuarrelTest : public testing::TestWithParam<Pair> {};

TEST_P(QuarrelTest, ConflictsAreRefusedAndCanBeMended) {
  const std::string given = GetParam().given;
  EXPECT_THAT(ErrorOf(given),
              AllOf(HasSubstr(given.substr(0, given.find('='))),
                    HasSubstr(" and " + GetParam().other + "=")));
  EXPECT_EQ(ErrorOf(given + "," + GetParam().remedy), "");
}

INSTANTIATE_TEST_SUITE_P(
    All, QuarrelTest,
    testing::Values(
        Pair{"enable_lars=1,optimizer=adamw", "optimizer", "optimizer=lars"},
        Pair{"poly_rate=5", "optimizer", "enable_lars=true"},
        Pair{"moving_average_every=32", "moving_average_decay",
             "moving_average_decay=0.99"},
        Pair{"moving_average_warmup=follow", "moving_average_decay",
             "moving_average_decay=0.99"},
        Pair{"eval_live_weights=1", "moving_average_decay",
             "moving_average_decay=0.9"},
        Pair{"export_moving_average=1", "moving_average_decay",
             "moving_average_decay=0.9"},
        Pair{"eval_crops=5,recipe=plain", "recipe", "recipe=tpu"},
        Pair{"drop_connect_growth=block", "drop_connect_rate",
             "drop_connect_rate=.1"},
        Pair{"dropblock_groups='3,4'", "dropblock_keep_prob",
             "dropblock_keep_prob=0.9"},
        Pair{"dropblock_size=3", "dropblock_groups",
             "dropblock_groups=4,dropblock_keep_prob=0.9"},
        Pair{"dropblock_keep_prob=.9", "dropblock_groups",
             "dropblock_groups=4"},
        Pair{"small_stem=1,use_resnetd_stem=1", "use_resnetd_stem",
             "small_stem=0"},
        Pair{"small_stem=1,replace_stem_max_pool=1", "replace_stem_max_pool",
             "small_stem=0"},
        Pair{"train_batch_size=8,gradient_accumulation_steps=3",
             "gradient_accumulation_steps", "train_batch_size=9"},
        Pair{"bce_target_threshold=.2", "loss", "loss=bce"},
        Pair{"loss_class_weights=balanced,class_weights=balanced",
             "class_weights", "loss_class_weights=w.txt"},
        Pair{"loss_class_weights=balanced,class_weights=w", "class_weights",
             "loss_class_weights=w.txt"},
        Pair{"loss_class_weights=balanced,sample_weights=w", "sample_weights",
             "loss_class_weights=w.txt"},
        Pair{"loss_class_weights=balanced,mix='a=1'", "mix",
             "loss_class_weights=w.txt"},
        Pair{"distill_model=resnet50", "distill_from", "distill_from=w.pth"},
        Pair{"distill_weight=.9", "distill_from", "distill_from=w.pth"},
        Pair{"distill_temperature=4", "distill_from", "distill_from=w.pth"},
        Pair{"norm_weight_decay=.1,weight_decay=0", "weight_decay",
             "weight_decay=.1"},
        Pair{"min_learning_rate=.1,train_batch_size=256", "base_learning_rate",
             "base_learning_rate=.2"},
        Pair{"learning_rate_schedule=multistep", "learning_rate_decay_epochs",
             "learning_rate_decay_epochs='30,60'"},
        Pair{"learning_rate_decay_epochs=20", "learning_rate_schedule",
             "learning_rate_schedule=step"},
        Pair{"learning_rate_decay=.5", "learning_rate_schedule",
             "learning_rate_schedule=exponential"},
        Pair{"plateau='top_1:3'", "learning_rate_schedule",
             "learning_rate_schedule=plateau"},
        Pair{"schedule_after_warmup=0", "learning_rate_schedule",
             "learning_rate_schedule=exponential"},
        Pair{"loss_scale=1024", "precision", "precision=float16"},
        Pair{"batch_norm_group=2,fused_batch_norm=1", "fused_batch_norm",
             "batch_norm_group=1"},
        Pair{"stem_layout=space_to_depth,small_stem=1", "small_stem",
             "small_stem=0"},
        Pair{"conv_statistics=epilogue,precision=float32", "precision",
             "precision=bfloat16"},
        Pair{"conv_statistics=epilogue,fused_batch_norm=0", "fused_batch_norm",
             "fused_batch_norm=1"},
        Pair{"conv_statistics=epilogue,pre_activation=1", "pre_activation",
             "pre_activation=0"},
        Pair{"conv_statistics=epilogue,batch_norm_group=2", "conv_statistics",
             "batch_norm_group=1"},
        Pair{"conv_statistics=fused", "precision", "precision=float16"},
        Pair{"conv_statistics=fused,precision=bfloat16", "precision",
             "conv_statistics=epilogue"},
        Pair{"model=lenet", "image_size", "image_size=28"},
        Pair{"model=lenet,image_size=28x32", "image_size", "image_size=28"}));

TEST(CheckTogetherTest, LeNetRefusesWhatIsNotOfIt) {
  for (const std::string given : {"model_variant=tpu",
                                  "image_size_schedule='0:16'",
                                  "pre_activation=1",
                                  "small_stem=1",
                                  "use_resnetd_stem=1",
                                  "resnetd_shortcut=1",
                                  "replace_stem_max_pool=1",
                                  "se_ratio=.25",
                                  "drop_connect_rate=.1",
                                  "dropblock_groups=4,dropblock_keep_prob=.9",
                                  "layer_decay=.9",
                                  "norm_weight_decay=0",
                                  "freeze_batch_norm=1",
                                  "fused_batch_norm=1",
                                  "stem_layout=space_to_depth",
                                  "conv_statistics=epilogue",
                                  "dropout_rate=.5",
                                  "batch_norm_group=2",
                                  "zero_gamma=1",
                                  "bn_momentum=.5"}) {
    EXPECT_THAT(ErrorOf("model=lenet,image_size=28," + given),
                AllOf(HasSubstr(given.substr(0, given.find('=') + 1)),
                      HasSubstr("model=lenet")));
    EXPECT_EQ(ErrorOf(given), "");
  }
}

TEST(CheckTogetherTest, RefusesWhatHasNoEffectUnderTheParametersNames) {
  EXPECT_EQ(ErrorOf("randaug_magnitude=9"),
            "randaug_magnitude=9: needs augment_name=randaugment, "
            "torchvision_randaugment or timm_randaugment");
  EXPECT_EQ(ErrorOf("randaug_magnitude=9,augment_name=randaugment"), "");
}

TEST(CheckTogetherTest, LooksAtWhatTheDataDecidesToo) {
  RunParams run = ReadParams({.overrides = {"gradient_accumulation_steps=3"}});
  const DataFacts facts = {
      .train_images = 1000, .eval_images = 100, .labels = {.classes = 10}};
  EXPECT_EQ(MessageOf<UsageError>([&] { ResolveDefaults(facts, run); }),
            "train_batch_size=64 and gradient_accumulation_steps=3: the batch "
            "must divide into equal parts");
}

}  // namespace infeed::checks_test
