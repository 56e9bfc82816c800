#include "trainer/params/params.h"

#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/model/named_networks.h"
#include "trainer/params/table.h"

namespace infeed::params_test {

RunParams ReadRun(const std::string& override_text,
                  const std::string& file = "") {
  return ReadParams({.config_file = file, .overrides = {override_text}});
}
TrainParams Read(const std::string& override_text) {
  return ReadRun(override_text).values;
}
std::string ErrorOf(const std::string& override_text) {
  return MessageOf<UsageError>([&] { (void)Read(override_text); });
}

// Refused with "NAME='VALUE': must be ...", where the quotes may be empty.
void ExpectRefusals(
    const std::string& quote,
    const std::vector<std::pair<std::string, std::string>>& refusals) {
  for (const auto& [given, must_be] : refusals) {
    const std::size_t value = given.find('=') + 1;
    EXPECT_EQ(ErrorOf(given), given.substr(0, value) + quote +
                                  given.substr(value) + quote + ": must be " +
                                  must_be);
  }
}

// The notes on parameters that have no effect, by their names.
std::vector<std::string> NotesOf(const std::string& override_text) {
  std::vector<std::string> notes;
  for (const auto& [name, note] : ReadRun(override_text).notes) {
    notes.push_back(note);
  }
  return notes;
}

// Expects parameters to have these values, "name=value,name=value".
void ExpectValues(const TrainParams& params, const std::string& values) {
  std::istringstream list(values);
  for (std::string one; std::getline(list, one, ',');) {
    const std::string name = one.substr(0, one.find('='));
    EXPECT_EQ(name + "=" + ValueText(*FindParam(name), params), one);
  }
}

// A run on a data set of 1,000 training and 100 evaluation images.
const DataFacts kFacts = {
    .train_images = 1000, .eval_images = 100, .labels = {.classes = 10}};

RunParams Resolve(const std::string& override_text,
                  const DataFacts& facts = kFacts) {
  RunParams run = ReadRun(override_text);
  ResolveDefaults(facts, run);
  return run;
}

std::string ResolveError(const std::string& override_text,
                         const DataFacts& facts = kFacts) {
  return MessageOf<UsageError>([&] { (void)Resolve(override_text, facts); });
}

// A configuration file.
class ParamFileTest : public testing::Test {
 protected:
  RunParams ReadFile(const std::string& text) const {
    WriteFileAtomically(file_, text);
    return ReadRun("", file_);
  }
  const TemporaryFolder folder_;
  const std::string file_ = folder_ / "run.yaml";
};

TEST(ParamTableTest, NamesEachParameterOnce) {
  std::set<std::string_view> names;
  for (const Param& param : ParamTable()) {
    EXPECT_TRUE(names.insert(param.name).second) << param.name;
  }
  for (const UnsupportedParam& param : UnsupportedParams()) {
    EXPECT_TRUE(names.insert(param.name).second) << param.name;
  }
}

TEST(ParamTableTest, ReadsEveryDefaultAsItWritesIt) {
  const TrainParams defaults;
  for (const Param& param : ParamTable()) {
    if (IsGiven(param, defaults)) {
      const std::string text = ValueText(param, defaults);
      EXPECT_EQ(ValueText(param, Read(std::string(param.name) + "=" + text)),
                text);
    }
  }
}

TEST(ParamTableTest, KnowsTheNameOfAField) {
  const TrainParams params;
  EXPECT_EQ(NameOf(params, &params.input.batch_size), "train_batch_size");
  EXPECT_EQ(NameOf(params, &params.input.preprocess.image_size), "image_size");
  EXPECT_EQ(NameOf(params, &params.train_steps), "train_steps");
  EXPECT_EQ(NameOf(params, &params.input.num_label_classes),
            "num_label_classes");
}

TEST(ParamTableTest, ParametersThatAffectBatchesAreMarked) {
  for (const char* const name :
       {"seed", "train_batch_size", "augment_name", "image_size", "mix",
        "subset", "image_size_schedule", "on_bad_record"}) {
    EXPECT_TRUE(FindParam(name)->affects_batches) << name;
  }
  for (const char* const name :
       {"num_parallel_calls", "workers", "memory_limit", "iterations_per_loop",
        "base_learning_rate", "resnet_depth", "mixup_alpha"}) {
    EXPECT_FALSE(FindParam(name)->affects_batches) << name;
  }
}

TEST(ReadParamsTest, TakesNullForTheDefault) {
  const TrainParams params =
      Read("augment_name=null,randaug_magnitude=7,randaug_magnitude=null");
  EXPECT_EQ(params.input.preprocess.augment.policy, AugmentPolicy::kNone);
  EXPECT_EQ(params.input.preprocess.augment.magnitude,
            TrainParams().input.preprocess.augment.magnitude);
}

TEST_F(ParamFileTest, PutsLayerOnLayer) {
  WriteFileAtomically(file_, "resnet_depth: 18\nimage_size: 64\nseed: 1\n");
  const RunParams run = ReadParams(
      {.config_file = file_,
       .overrides = {"image_size=8,image_size=64", "image_size=32,seed=2"},
       .flags = {{"seed", "3"}}});
  ExpectValues(run.values, "resnet_depth=18,image_size=32,seed=3");
  EXPECT_EQ(run.origins.at("resnet_depth"), "config file");
  EXPECT_EQ(run.origins.at("image_size"), "--params_override");
  EXPECT_EQ(run.origins.at("seed"), "flag");
  EXPECT_EQ(run.origins.count("recipe"), 0U);
  EXPECT_TRUE(IsOnCommandLine(run, "image_size"));
  EXPECT_TRUE(IsOnCommandLine(run, "seed"));
  EXPECT_FALSE(IsOnCommandLine(run, "resnet_depth"));
  EXPECT_FALSE(IsOnCommandLine(run, "recipe"));
}

TEST_F(ParamFileTest, TakesANetworksNameAsTheModel) {
  WriteFileAtomically(file_, "resnet_depth: 18\nse_ratio: 0.5\n");
  const RunParams run = ReadParams(
      {.config_file = file_,
       .flags = {{"pre_activation", "true"}, {"model", "resnet50d"}}});
  const ModelOptions& model = run.values.model;
  EXPECT_EQ(model.kind, ModelKind::kResNet);
  EXPECT_EQ(model.depth, 50);
  EXPECT_TRUE(model.resnetd_stem);
  EXPECT_EQ(model.se_ratio, 0);
  EXPECT_EQ(run.origins.at("use_resnetd_stem"), "model=resnet50d");
  // A parameter beside it counts, wherever it is.
  EXPECT_TRUE(model.pre_activation);
  EXPECT_EQ(run.origins.at("pre_activation"), "flag");
}

// What a model's params.yaml says of a network's name is the whole shape.
TEST_F(ParamFileTest, KeepsTheShapeOfEachNetwork) {
  for (const NamedNetwork& network : NamedNetworks()) {
    // The second is a network without a name, mostly.
    for (const int depth : {network.shape.depth, 152}) {
      const RunParams run =
          ReadParams({.flags = {{"model", std::string(network.name)},
                                {"resnet_depth", std::to_string(depth)}}});
      const RunParams again = ReadFile(ToYaml(run));
      EXPECT_TRUE(ShapeOf(again.values.model) == ShapeOf(run.values.model))
          << ToYaml(run);
    }
  }
}

TEST(ReadParamsTest, ModelResNetRemovesOnlyTheParametersThatANameSets) {
  const ModelOptions model =
      Read("model=ecaresnext26t_32x4d,model=resnet").model;
  EXPECT_EQ(model.depth, 26);
  EXPECT_EQ(model.groups, 1);
  EXPECT_FALSE(model.eca);
  EXPECT_EQ(Read("resnet_depth=18,model=resnet").model.depth, 18);
  EXPECT_THAT(
      ErrorOf("model=resnext51"),
      HasSubstr("model='resnext51': must be resnet, lenet, resnet18, "));
}

// The texts of the reference's table of types, in all three forms. There 1e-4
// in a file, and 1.5e4 anywhere, are text, which it finds out later.
TEST_F(ParamFileTest, ReadsTheReferencesTypesInEveryForm) {
  const auto expect = [&](const std::string& name, const std::string& text,
                          const std::string& value) {
    const Param& param = *FindParam(name);
    const TrainParams of_file = ReadFile(name + ": " + text + "\n").values;
    for (const TrainParams& params :
         {of_file, Read(file_), Read(name + "=" + text),
          Read("{" + name + ": " + text + "}")}) {
      EXPECT_EQ(ValueText(param, params), value) << name << " " << text;
    }
  };
  expect("weight_decay", "1e-4", "0.0001");
  expect("weight_decay", "1e4", "10000");
  expect("weight_decay", "1.5e4", "15000");
  expect("weight_decay", "1.5e-4", "0.00015");
  expect("weight_decay", "1.5e+4", "15000");
  expect("weight_decay", "4.0e-05", "4e-05");
  expect("weight_decay", ".5", "0.5");
  expect("weight_decay", "5.", "5");
  expect("weight_decay", "+5.", "5");
  expect("augment_name", "null", "none");
  expect("augment_name", "None", "none");
  expect("image_size", "0x10", "16");
  expect("image_size", "'+32'", "32");
  expect("image_size", "1_000", "1000");
  expect("seed", "18446744073709551615", "18446744073709551615");
  for (const char* text : {"true", "True", "YES", "yes", "on", "1"}) {
    expect("use_nesterov", text, "true");
  }
  for (const char* text : {"false", "FALSE", "no", "Off", "0"}) {
    expect("use_nesterov", text, "false");
  }
}

TEST(ReadParamsTest, TakesNestedNamesHyphensAndAliases) {
  ExpectValues(
      Read("{train: {batch: {size: 8}, steps: 5}, bn: {momentum: 0.5}}"),
      "train_batch_size=8,train_steps=5,bn_momentum=0.5");
  ExpectValues(Read("bn.momentum=0.8,eval.batch-size=2"), "bn_momentum=0.8");
  ExpectValues(Read("image-size=64"), "image_size=64");
  ExpectValues(Read("resnet_size=18"), "resnet_depth=18");
}

TEST(ReadParamsTest, TakesTheNamesOfASplitInFolders) {
  for (const auto& [word, split] : {std::pair{"val", "validation"},
                                    {"dev", "validation"},
                                    {"auto", "auto"}}) {
    EXPECT_EQ(Read(std::string("eval_split=") + word).eval_split, split);
  }
}

TEST(ReadParamsTest, TakesListsWhereTextIsOne) {
  EXPECT_EQ(Read("bad_record_report=[3, 4]").input.bad_record_report, "3,4");
  EXPECT_EQ(Read("{bad_record_report: [3, 4]}").input.bad_record_report, "3,4");
  EXPECT_EQ(ErrorOf("train_steps=[1,2]"),
            "train_steps='1,2': must be an integer");
}

TEST(ReadParamsTest, RefusesALeadingZeroInEveryForm) {
  for (const char* text : {"train_batch_size=010", "{train_batch_size: 010}",
                           "{\"train_batch_size\": \"010\"}"}) {
    EXPECT_EQ(ErrorOf(text),
              "train_batch_size='010': must be an integer without a leading "
              "zero");
  }
}

TEST(ReadParamsTest, ReadsBytesInUnitsOrAShareOfTheMemory) {
  const auto limit = [](const std::string& text) {
    return Read("memory_limit=" + text).input.memory_limit;
  };
  EXPECT_EQ(limit("512MiB"), 512 << 20);
  EXPECT_EQ(limit("1073741825"), 1073741825);
  EXPECT_EQ(limit("4GB"), 4'000'000'000);
  EXPECT_GT(limit("50%"), 1 << 20);
  EXPECT_LE(std::abs(limit("25%") - limit("50%") / 2), 1);
  EXPECT_THAT(ErrorOf("memory_limit=half%"), HasSubstr("memory_limit"));
}

TEST(ReadParamsTest, RefusesAnotherType) {
  ExpectRefusals(
      "'",
      {{"train_steps=abc", "an integer"},
       {"train_steps=1.5", "an integer"},
       {"train_batch_size=1:30", "an integer"},
       {"base_learning_rate=00.1", "a number without a leading zero"},
       {"momentum=nan", "a number"},
       {"momentum=.inf", "a number"},
       {"use_nesterov=maybe", "true or false"},
       {"precision=fp16", "auto, bfloat16, float16 or float32"},
       {"eval_crops=4", "1, 2, 5 or 10"},
       {"resnet_depth=20", "18, 26, 34, 50, 101, 152, 200, 270, 350 or 420"},
       {"memory_limit=4XiB",
        "a size such as 512MB or 4GiB, or a share such as 50%"}});
}

TEST(ReadParamsTest, RefusesWhatIsOutOfRange) {
  ExpectRefusals("", {{"iterations_per_loop=0", "at least 1"},
                      {"train_steps=0", "at least 1"},
                      {"train_epochs=0", "more than 0"},
                      {"momentum=1", "less than 1"},
                      {"base_learning_rate=0", "more than 0"},
                      {"num_parallel_calls=1025", "at most 1024"},
                      {"seed=-1", "at least 0"},
                      {"seed=18446744073709551616", "at most 2^64 - 1"},
                      {"image_size=99999999999999999999", "at most 4096"},
                      {"keep_last=-99999999999999999999", "at least 1"},
                      {"memory_limit=1KiB", "at least 1MiB"},
                      {"memory_limit=17TiB", "at most 16TiB"}});
}

TEST_F(ParamFileTest, RefusalsSayWhereInTheFile) {
  EXPECT_EQ(
      MessageOf<UsageError>([&] { (void)ReadFile("seed: 1\nkeep_last: 0\n"); }),
      "keep_last=0: must be at least 1 (" + file_ + ", line 2)");
}

TEST(ReadParamsTest, SuggestsANameForAnUnknownOneOrAnotherPrograms) {
  for (const auto& [other, ours] :
       {std::pair<std::string, std::string>("train_step", "train_steps"),
        {"model.resnet_depth", "resnet_depth"},
        {"lr", "base_learning_rate"},
        {"learning-rate", "base_learning_rate"},
        {"batch_size", "train_batch_size"},
        {"batch-size", "train_batch_size"},
        {"epochs", "train_epochs"},
        {"num_epochs", "train_epochs"},
        {"num-workers", "num_parallel_calls"}}) {
    EXPECT_EQ(ErrorOf(other + "=1"), "unknown parameter '" + other +
                                         "': did you mean '" + ours + "'?");
  }
  EXPECT_EQ(ErrorOf("xyzzy=5"),
            "unknown parameter 'xyzzy' (--help_all lists them)");
}

TEST(ReadParamsTest, AcceptsReferenceDefaultsOfWhatItDoesNotHave) {
  for (const UnsupportedParam& param : UnsupportedParams()) {
    const std::string text =
        std::string(param.name) + "='" + std::string(param.default_text) + "'";
    EXPECT_THAT(NotesOf(text), testing::IsEmpty()) << text;
  }
  EXPECT_THAT(NotesOf("use_tpu=True, num_cores=8, data_format=channels_last"),
              testing::IsEmpty());
}

TEST(ReadParamsTest, NotesOtherValuesOfWhatItDoesNotHave) {
  EXPECT_THAT(
      NotesOf("use_tpu=False,num_cores=16,transpose_input=no,"
              "data_format=channels_first"),
      testing::ElementsAre(
          testing::StartsWith("data_format=channels_first has no effect: "),
          "num_cores=16 has no effect: each process drives one device; "
          "--local_ranks or a launcher sets their number",
          testing::StartsWith("transpose_input=no has no effect: "),
          "use_tpu=False has no effect: there is no TPU here, --device "
          "chooses the device"));
  EXPECT_THAT(NotesOf("num_cores=16,num_cores=8"), testing::IsEmpty());
}

TEST(ReadParamsTest, RefusesWhatTheseMayNotBe) {
  ExpectRefusals("'", {{"use_tpu=2", "true or false"},
                       {"num_cores=0", "at least 1"},
                       {"num_cores=many", "at least 1"},
                       {"data_format=NCHW", "channels_last or channels_first"},
                       {"norm_act_layer=evonorm_s0", "bn_relu"}});
}

TEST(ReadParamsTest, LetsStepsAndEpochsReplaceEachOther) {
  const RunParams run = ReadParams(
      {.overrides = {"train_steps=10"}, .flags = {{"train_epochs", "3"}}});
  EXPECT_EQ(run.values.train_steps, 0);
  EXPECT_EQ(run.values.train_epochs, 3);
  EXPECT_EQ(ErrorOf("train_steps=10,train_epochs=3"),
            "train_steps=10 and train_epochs=3 are both given: give one of "
            "them");
}

TEST(ResolveDefaultsTest, TakesEverythingFromTheData) {
  ExpectValues(Resolve("").values,
               "num_train_images=1000,num_eval_images=100,num_label_classes=10,"
               "train_batch_size=64,eval_batch_size=64,iterations_per_loop=15,"
               "steps_per_eval=15,train_steps=1350,steps_per_checkpoint=5000");
  // None for training.
  ExpectValues(
      Resolve("", {.eval_images = 100, .labels = {.classes = 10}}).values,
      "train_batch_size=64,eval_batch_size=64");
}

TEST(ResolveDefaultsTest, GivesTheReferencesNumbersForItsData) {
  ExpectValues(Resolve("", {.train_images = 1'281'167,
                            .eval_images = 50'000,
                            .labels = {.classes = 1000},
                            .on_gpu = true})
                   .values,
               "train_batch_size=1024,iterations_per_loop=1251,"
               "train_steps=112590,steps_per_eval=1251");
}

TEST(ResolveDefaultsTest, KeepsWhatIsGiven) {
  const std::string given =
      "train_steps=7,num_label_classes=11,num_train_images=500,"
      "iterations_per_loop=9999,steps_per_eval=3,eval_batch_size=8,"
      "steps_per_checkpoint=2,num_eval_images=50";
  const RunParams run = Resolve(given);
  ExpectValues(run.values, given);
  EXPECT_EQ(run.origins.at("train_steps"), "--params_override");
  EXPECT_EQ(run.origins.at("train_batch_size"), "the data");
}

TEST(ResolveDefaultsTest, TakesNoMoreImagesThanThereAre) {
  const DataFacts tiny = {
      .train_images = 40, .eval_images = 7, .labels = {.classes = 2}};
  for (const char* given : {"", "eval_batch_size=1024"}) {
    ExpectValues(Resolve(given, tiny).values,
                 "train_batch_size=40,eval_batch_size=7");
  }
  EXPECT_EQ(ResolveError("train_batch_size=41", tiny),
            "train_batch_size=41: the data has only 40 training images");
  EXPECT_EQ(Resolve("num_eval_images=50000").values.num_eval_images, 100);
  EXPECT_EQ(ResolveError("train_batch_size=64,num_train_images=10"),
            "train_batch_size=64: more than an epoch, num_train_images=10");
}

TEST(ResolveDefaultsTest, RefusesABatchThatRanksCannotShare) {
  DataFacts facts = kFacts;
  const auto error = [&](int batch, int ranks) {
    facts.ranks = ranks;
    return ResolveError("train_batch_size=" + std::to_string(batch), facts);
  };
  EXPECT_EQ(error(12, 1), "");
  EXPECT_EQ(error(12, 4), "");
  EXPECT_EQ(error(12, 5),
            "train_batch_size=12: 5 ranks cannot share it equally; give 10 or "
            "15");
  EXPECT_THAT(error(2, 3), HasSubstr("give 3"));
}

TEST(ResolveDefaultsTest, NeedsTheNumberOfClasses) {
  const DataFacts unknown = {.train_images = 1000};
  EXPECT_THAT(ResolveError("", unknown),
              HasSubstr("num_label_classes: the data does not say"));
  EXPECT_EQ(
      Resolve("num_label_classes=5", unknown).values.input.num_label_classes,
      5);
  // A training refuses this; an evaluation compares the names.
  const TrainParams few = Resolve("num_label_classes=9").values;
  EXPECT_EQ(
      MessageOf<UsageError>([&] { RequireAllClasses({.classes = 10}, few); }),
      "num_label_classes=9: the data has 10 classes");
  EXPECT_NO_THROW(RequireAllClasses({.classes = 9}, few));
}

TEST(ResolveDefaultsTest, CountsEpochsInWholeBatches) {
  const RunParams run = Resolve("train_epochs=2.5");
  EXPECT_EQ(run.values.train_steps, 38);  // 2.5 * 15, rounded
  EXPECT_EQ(run.values.train_epochs, 0);
  EXPECT_EQ(run.origins.at("train_steps"),
            "train_epochs=2.5, --params_override");
  EXPECT_EQ(Resolve("train_epochs=1e-9").values.train_steps, 1);
}

TEST(ResolveDefaultsTest, CountsALastBatchThatIsNotDropped) {
  // MNIST in batches of 128: 468 of them, and one of 96.
  const DataFacts mnist = {.train_images = 60000, .labels = {.classes = 10}};
  for (const auto& [last_batch, values] :
       {std::pair("auto", "train_steps=2340"),
        std::pair("drop", "train_steps=2340"),
        std::pair(
            "pad",
            "train_steps=2345,iterations_per_loop=469,steps_per_eval=469"),
        std::pair("repeat", "train_steps=2345")}) {
    ExpectValues(Resolve("train_epochs=5,train_batch_size=128,last_batch=" +
                             std::string(last_batch),
                         mnist)
                     .values,
                 values);
  }
}

TEST(ResolveDefaultsTest, CountsBatchesThatCrossTheEndsOfEpochs) {
  const DataFacts flowers = {.train_images = 2934, .labels = {.classes = 5}};
  const RunParams run = Resolve(
      "train_epochs=15,train_batch_size=1024,last_batch=carry", flowers);
  EXPECT_EQ(run.values.train_steps, 42);
  EXPECT_EQ(run.values.iterations_per_loop, 3);
  EXPECT_EQ(run.values.steps_per_eval, 0);  // at epochs' ends
  EXPECT_THAT(ToYaml(run), HasSubstr("\n# steps_per_eval: one epoch\n"));
  // Where batches fill epochs, all have the same steps.
  EXPECT_EQ(
      Resolve("train_batch_size=100,last_batch=carry").values.steps_per_eval,
      10);
}

TEST(MissedEpochsTextTest, TellsOfEpochsThatDroppedBatchesCost) {
  const DataFacts flowers = {.train_images = 2934, .labels = {.classes = 5}};
  const auto text = [&](const std::string& more) {
    return MissedEpochsText(Resolve("train_batch_size=1024," + more, flowers));
  };
  EXPECT_EQ(text("train_epochs=15"),
            "30 steps of 1024 images are 10.47 of the 15 epochs asked for: 886 "
            "of 2934 images are left out of each epoch; last_batch=carry uses "
            "them");
  EXPECT_EQ(text("train_epochs=15,last_batch=carry"),
            "42 steps of 1024 images are 14.66 of the 15 epochs asked for: the "
            "last images do not fill a batch");
  EXPECT_EQ(text("train_epochs=90,last_batch=carry"), "");
  EXPECT_THAT(text(""), HasSubstr(" of the 90 epochs asked for: "));
  EXPECT_EQ(text("train_epochs=15,last_batch=pad"), "");
  EXPECT_EQ(text("train_steps=30"), "");
  // Less than a hundredth.
  EXPECT_EQ(MissedEpochsText(Resolve("train_batch_size=111")), "");
}

// DistributedSampler's epochs: 1,000 images that 8 ranks share as they are, and
// 1,023 that they fill up to 1,024 or cut to 1,016.
TEST(ResolveDefaultsTest, CountsWhatStridedRanksAddToAnEpoch) {
  const auto steps = [](const std::string& rank_share, std::int64_t images,
                        int ranks) {
    return Resolve(
               "train_batch_size=128,train_epochs=3,rank_share=" + rank_share,
               {.train_images = images,
                .labels = {.classes = 2},
                .ranks = ranks})
        .values.train_steps;
  };
  EXPECT_EQ(steps("contiguous", 1023, 8), 3 * 7);
  EXPECT_EQ(steps("strided", 1023, 8), 3 * 8);
  EXPECT_EQ(steps("strided", 1023, 1), 3 * 7);
  EXPECT_EQ(steps("strided_drop", 1023, 8), 3 * 7);
  EXPECT_EQ(steps("strided", 1000, 8), 3 * 7);
}

TEST(ToYamlTest, SaysWhereValuesCameFrom) {
  const std::string yaml = ToYaml(Resolve("seed=5"));
  EXPECT_THAT(yaml, HasSubstr("\nseed: 5  # --params_override\n"));
  EXPECT_THAT(yaml, HasSubstr("\ntrain_steps: 1350  # the data\n"));
  EXPECT_THAT(yaml, HasSubstr("\nweight_decay: 0.0001  # default\n"));
  EXPECT_THAT(ToYaml(ReadParams({})),
              HasSubstr("\n# train_steps: 90 epochs\n"));
}

TEST_F(ParamFileTest, YamlIsAConfigFileOfTheSameRun) {
  const RunParams run = Resolve("train_epochs=3,weight_decay=3e-5,seed=9");
  const RunParams again = ReadFile(ToYaml(run));
  for (const Param& param : ParamTable()) {
    EXPECT_EQ(ValueText(param, again.values), ValueText(param, run.values));
  }
}

TEST(ToYamlTest, LeavesSignaturesOut) {
  const RunParams run = Resolve("resnet_checkpoint=https://h/w.pth?sig=1");
  EXPECT_EQ(run.values.resnet_checkpoint, "https://h/w.pth?sig=1");
  for (const std::string& text : {ToYaml(run), ChosenText(run)}) {
    EXPECT_THAT(text, HasSubstr("resnet_checkpoint: https://h/w.pth?...  #"));
  }
}

TEST(ChosenTextTest, LeavesDefaultsOut) {
  EXPECT_EQ(ChosenText(ReadRun("keep_last=3")),
            "  keep_last: 3  # --params_override\n");
  EXPECT_EQ(ChosenText(ReadParams({})), "");
}

TEST(ResolveFakeDataTest, HasTheReferencesNumbers) {
  RunParams run;
  ResolveFakeData(/*on_gpu=*/true, /*ranks=*/1, run);
  ExpectValues(run.values,
               "num_label_classes=1000,num_train_images=1281167,"
               "train_batch_size=1024,iterations_per_loop=1251,"
               "num_eval_images=10240");
}

TEST(ResolveFakeDataTest, FollowsWhatIsGiven) {
  RunParams run;
  run.values.input.num_label_classes = 7;
  run.values.num_train_images = 640;
  run.values.eval_batch_size = 16;
  ResolveFakeData(/*on_gpu=*/false, /*ranks=*/1, run);
  ExpectValues(run.values,
               "num_label_classes=7,steps_per_eval=10,num_eval_images=160");
}

}  // namespace infeed::params_test
