// Typical mistakes with every program: the exit code, and the last line on
// stderr, which names the mistake and the remedy.

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/train_resnet.h"

namespace infeed {
namespace {

constexpr const char* kLenet =
    " --device cpu --params_override model=lenet,image_size=28,recipe=plain,"
    "normalization=unit,train_batch_size=4,train_steps=2 ";

// A last line that lacks its newline, or stands before an empty line, is none.
std::string LastLine(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    last = line;
  }
  return last;
}

struct Mistake {
  const char* name;
  const char* program;
  const char* arguments;
  int code;
  const char* says;
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.program << " " << mistake.arguments;
}

// The working folder of this process, as long as it exists.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::string& path) {
    std::filesystem::current_path(path);
  }
  ~WorkingFolder() { std::filesystem::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

class MistakesTest : public testing::TestWithParam<Mistake> {
 protected:
  // In the folder of the suite.
  static ProgramResult RunThere(const std::string& program,
                                const std::string& arguments) {
    const WorkingFolder there(place_->path());
    return RunHere(program, arguments);
  }
  // raw: a tree of two classes; data: its shards; model: a model of them;
  // damaged: a shard with a broken record.
  static void SetUpTestSuite() {
    place_ = std::make_unique<ImageFolder>();
    for (const char* split : {"train", "validation"}) {
      for (const char* kind : {"cat", "dog"}) {
        place_->JpegsIn(std::string("raw/") + split + "/" + kind, 4);
      }
    }
    place_->File("photos/bad.jpg", "not a photograph").Jpeg("photos/good.jpg");
    ASSERT_THAT(
        RunThere("imagenet_to_records",
                 "--raw_data_dir raw --local_scratch_dir data --shards 1"),
        Ends(0));
    std::string shard = ReadWholeFile(*place_ / "data/train-00000-of-00001",
                                      std::int64_t{1} << 20);
    shard[shard.size() / 2] = static_cast<char>(~shard[shard.size() / 2]);
    place_->File("damaged/train-00000-of-00001", shard);
    ASSERT_THAT(
        RunThere("train_resnet",
                 std::string("--data_dir data --model_dir model") + kLenet),
        Ends(0));
  }
  static void TearDownTestSuite() { place_.reset(); }

  static std::unique_ptr<ImageFolder> place_;
};

std::unique_ptr<ImageFolder> MistakesTest::place_;

TEST_P(MistakesTest, MistakesEndWithAReason) {
  const Mistake& mistake = GetParam();
  std::string arguments = mistake.arguments;
  if (const std::size_t at = arguments.find("LENET"); at != arguments.npos) {
    arguments.replace(at, 5, kLenet);
  }
  const ProgramResult run = RunThere(mistake.program, arguments);
  EXPECT_EQ(run.exit_code, mistake.code) << run.err;
  EXPECT_THAT(LastLine(run.err),
              testing::AllOf(StartsWith(std::string(mistake.program) + ": "),
                             HasSubstr(mistake.says)))
      << run.err;
}

INSTANTIATE_TEST_SUITE_P(
    OfPrograms, MistakesTest,
    testing::Values(
        Mistake{"WrongRawFolder", "imagenet_to_records",
                "--raw_data_dir nowhere --local_scratch_dir o", 1,
                "nowhere: cannot find the data"},
        Mistake{"UsedOutputFolder", "imagenet_to_records",
                "--raw_data_dir raw --local_scratch_dir data --shards 2", 2,
                "give an empty folder, or --overwrite"},
        Mistake{"WrongDataFolder", "train_resnet",
                "--data_dir nowhere --model_dir m", 1,
                "nowhere: cannot find the data"},
        Mistake{"WrongConfigFile", "train_resnet",
                "--config_file no.yaml --data_dir data --model_dir m", 1,
                "no.yaml: cannot open"},
        Mistake{"CheckpointThatIsNotThere", "train_resnet",
                "--mode eval --model_dir model --data_dir data --checkpoint "
                "999",
                2, "no checkpoint of step 999; it has"},
        Mistake{"WrongShards", "records", "ls nowhere", 1,
                "nowhere: cannot find the data"},
        Mistake{"UnwritableOutput", "make_demo_images", "--output /proc/x", 1,
                "/proc/x"},
        Mistake{"RequiredFlag", "imagenet_to_records", "--raw_data_dir raw", 2,
                "--local_scratch_dir is required"},
        Mistake{"MisspeltRequiredFlag", "imagenet_to_records",
                "--raw_data_dir raw --local_scratch o", 2,
                "unknown flag '--local_scratch': did you mean "
                "'--local_scratch_dir'?"},
        Mistake{"MisspeltThroughputFlag", "pipeline_throughput",
                "--data_dri data", 2, "did you mean '--data_dir'?"},
        Mistake{"NoOutput", "make_demo_images", "", 2, "--output is required"},
        Mistake{"NegativeCount", "make_demo_images", "--output x --train -1", 2,
                "--train"},
        Mistake{"MisspeltVerb", "records", "verfy data", 2,
                "unknown verb 'verfy': did you mean 'verify'?"},
        Mistake{"MisspeltFlagOfAVerb", "records", "verify --decod data", 2,
                "unknown flag '--decod': did you mean '--decode'?"},
        Mistake{"NoBatch", "pipeline_throughput",
                "--data_dir data --batch_size 0", 2,
                "batch_size=0: must be at least 1"},
        Mistake{"NoData", "pipeline_throughput", "", 2, "give one of"},
        Mistake{"ExportToNowhere", "train_resnet",
                "--model_dir model --mode export", 2, "--export_dir"},
        Mistake{"WrongSplit", "pipeline_throughput",
                "--data_dir data --split test", 2,
                "has no images of split='test'"},
        Mistake{"DryRunOfIt", "train_resnet",
                "--data_dir data --model_dir m LENET --train_batch_size 999 "
                "--dry_run",
                2, "dry run: nothing was written, "},
        Mistake{"NoPhotograph", "train_resnet",
                "--mode predict --model_dir model --input photos", 3,
                "1 of 2 images could not be read"},
        Mistake{"DamagedShard", "records", "verify damaged", 3, "1 bad record"},
        Mistake{"OtherData", "records",
                "diff data/train-00000-of-00001 data/validation-00000-of-00001",
                3, "the data sets differ"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace infeed
