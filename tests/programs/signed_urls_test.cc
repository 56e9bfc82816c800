// Signed URLs: whoever has one can read the object, so that the signature is
// neither printed nor kept, whatever a program does with the URL.

#include <filesystem>
#include <fstream>
#include <string>

#include "base/atomic_file.h"
#include "records/example/imagenet_example.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/object_server.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/train_resnet.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// With a slash, as signatures have: it begins no file name.
constexpr const char* kSignature = "?X-Amz-Signature=SECRETSIG/SECRETSIG";

class SignedUrlsTest : public CloudFixture {
 protected:
  SignedUrlsTest() {
    Set("HOME", folder_ / "home");
    Set("XDG_CACHE_HOME", "");
    const std::string jpeg = TestJpeg({.width = 31, .height = 17});
    for (int i = 0; i < 6; ++i) {
      shard_.Add(BuildImagenetExample({.height = 17,
                                       .width = 31,
                                       .label = i,
                                       .synset = "roses",
                                       .text = "",
                                       .filename = i == 0 ? "" : "a.jpg",
                                       .encoded = jpeg}));
    }
    server_.Put("plain/a.jpg", jpeg);
    server_.Put("plain/good.tfrecord", shard_.bytes());
    shard_.FlipByte(40);
    server_.Put("plain/x.tfrecord", shard_.bytes());
  }

  [[nodiscard]] std::string Url(const std::string& name) const {
    return server_.url() + "/plain/" + name + kSignature;
  }
  [[nodiscard]] std::string Quoted(const std::string& name) const {
    return "'" + Url(name) + "' ";
  }

  // Runs a program, and looks for the signature in all that it leaves.
  ProgramResult Run(const std::string& program, const std::string& arguments) {
    ProgramResult result = RunHere(program, arguments);
    EXPECT_THAT(result.out, Not(HasSubstr("SECRETSIG"))) << arguments;
    EXPECT_THAT(result.err, Not(HasSubstr("SECRETSIG"))) << arguments;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      const std::string path = entry.path().string();
      EXPECT_THAT(path, Not(HasSubstr("SECRETSIG"))) << arguments;
      if (entry.is_regular_file()) {
        EXPECT_EQ(ReadWholeFile(path, 1 << 24).find("SECRETSIG"),
                  std::string::npos)
            << path << " of " << arguments;
      }
    }
    return result;
  }
  ProgramResult Records(const std::string& arguments) {
    return Run("records", arguments);
  }

  RecordFile shard_;
  TemporaryFolder folder_;
};

TEST_F(SignedUrlsTest, VerbsThatReadShowNone) {
  for (const std::string verb :
       {"count ", "ls ", "cat ", "head ", "verify ", "stats ", "index "}) {
    EXPECT_NE(Records(verb + Quoted("x.tfrecord")).out, "") << verb;
    if (verb != "cat ") {
      (void)Records(verb + "--json " + Quoted("x.tfrecord"));
    }
  }
  EXPECT_EQ(Records("stats --json=" + (folder_ / "stats.json") + " --html " +
                    (folder_ / "stats.html") + " " + Quoted("x.tfrecord"))
                .exit_code,
            3);
  EXPECT_EQ(
      Records("diff --json " + Quoted("good.tfrecord") + Quoted("x.tfrecord"))
          .exit_code,
      3);
}

TEST_F(SignedUrlsTest, FilesAreCalledByTheLastPartOfThePath) {
  const std::string out = folder_ / "out";
  const std::string flags = " --output " + out + " " + Quoted("x.tfrecord");
  EXPECT_THAT(Records("repair --dry_run" + flags).out,
              HasSubstr("/plain/x.tfrecord -> " + out + "/x.tfrecord\n"));
  EXPECT_EQ(Records("repair" + flags).exit_code, 0);
  EXPECT_TRUE(fs::exists(out + "/x.tfrecord"));
  EXPECT_TRUE(fs::exists(out + "/.infeed/x.tfrecord.bad.json"));
  EXPECT_EQ(Records("repair --overwrite --json" + flags).exit_code, 0);
  EXPECT_THAT(Records("repair --output " + out + " " + Quoted("..")).err,
              HasSubstr("/plain/..: "));
  EXPECT_EQ(Records("cat --bytes_to " + (folder_ / "bytes") + " " +
                    Quoted("good.tfrecord"))
                .exit_code,
            0);
  EXPECT_TRUE(
      fs::exists(folder_ / "bytes/good.tfrecord-000000-image_encoded.jpg"));
  EXPECT_EQ(Records("extract --output " + (folder_ / "images") + " " +
                    Quoted("good.tfrecord"))
                .exit_code,
            0);
  EXPECT_TRUE(fs::exists(folder_ / "images/roses/good.tfrecord-000000.jpg"));
  EXPECT_EQ(Records("index --dali=" + (folder_ / "dali") + " " +
                    Quoted("good.tfrecord"))
                .exit_code,
            0);
  EXPECT_TRUE(fs::exists(folder_ / "dali/good.tfrecord.idx"));
}

// A URL is signed anew each time.
TEST_F(SignedUrlsTest, AnIndexIsFoundUnderAnotherSignature) {
  const std::string url = server_.url() + "/plain/good.tfrecord?Signature=";
  EXPECT_THAT(Records("index '" + url + "1'").out, HasSubstr("wrote "));
  EXPECT_THAT(Records("index '" + url + "2'").out, HasSubstr("up to date"));
}

// As in stores, nothing beside the shard can be read.
TEST_F(SignedUrlsTest, ARepairNeedsNothingButWhatIsSigned) {
  server_.SetFaults(
      R"({"fault": "status", "status": 403, "query": "^$|^[^X]"})");
  EXPECT_EQ(Records("repair --output " + (folder_ / "out") + " " +
                    Quoted("x.tfrecord"))
                .exit_code,
            0);
  EXPECT_EQ(Records("verify " + Quoted("good.tfrecord")).exit_code, 0);
}

TEST_F(SignedUrlsTest, RewrittenShardsShowNone) {
  const std::string two = Quoted("good.tfrecord") + Quoted("x.tfrecord");
  EXPECT_EQ(Records("merge --on_bad_record skip --output " +
                    (folder_ / "all.tfrecord") + " " + two)
                .exit_code,
            0);
  EXPECT_EQ(Records("merge --output " + (folder_ / "no") + " " + two).exit_code,
            3);
  EXPECT_EQ(Records("reshard --shuffle global --prefix train --shards 2 "
                    "--on_bad_record skip --output " +
                    (folder_ / "new") + " " + two)
                .exit_code,
            0);
  EXPECT_EQ(
      Records("reshard --output " + (folder_ / "none") + " " + two).exit_code,
      2);
  EXPECT_EQ(Records("verify " + Quoted("missing.tfrecord")).exit_code, 1);
}

TEST_F(SignedUrlsTest, TheConverterShowsNone) {
  const TemporaryFolder given;
  const std::string manifest = given / "list.csv";
  std::ofstream(manifest) << "path,label\n"
                          << Url("a.jpg") << ",roses\n"
                          << Url("x.tfrecord") << ",roses\n";
  const std::string flags = "--manifest " + manifest +
                            " --shards 1 --local_scratch_dir " +
                            (folder_ / "out") + " ";
  EXPECT_EQ(Run("imagenet_to_records", flags + "--dry_run").exit_code, 0);
  const ProgramResult result =
      Succeeded(Run("imagenet_to_records", flags + "--on_bad_image skip"));
  EXPECT_THAT(result.out + result.err, HasSubstr("x.tfrecord"));
}

TEST_F(SignedUrlsTest, TheTrainerShowsNone) {
  server_.Put("plain/good.yaml", "train_steps: 7\n");
  server_.Put("plain/bad.yaml", "train_steps: many\n");
  const auto flags_into = [this](const std::string& model) {
    return "--device cpu --data_dir null --model_dir " + (folder_ / model) +
           " --params_override=model=lenet,image_size=28,train_batch_size=4,"
           "num_train_images=8,num_eval_images=4,num_label_classes=4,"
           "precision=float32,train_steps=1 --config_file ";
  };
  const std::string flags = flags_into("model");
  for (const std::string name : {"bad.yaml", "missing.yaml", "a.jpg"}) {
    const ProgramResult wrong = Run("train_resnet", flags + Quoted(name));
    EXPECT_THAT(wrong.err, HasSubstr("/plain/" + name));
    EXPECT_NE(wrong.exit_code, 0);
  }
  EXPECT_THAT(Run("train_resnet", flags + Quoted("good.yaml") + "--trace " +
                                      (folder_ / "trace.json"))
                  .err,
              HasSubstr("step 1/1"));
  for (const std::string flag :
       {"--resnet_checkpoint=", "--resume=", "--export_dir=",
        "--params_override=resnet_checkpoint:", "--params_override="}) {
    EXPECT_NE(Run("train_resnet", flags_into("other") + Quoted("good.yaml") +
                                      flag + Quoted("w"))
                  .exit_code,
              0)
        << flag;
  }
  const std::string predict = "--device cpu --mode predict --model_dir " +
                              (folder_ / "model") + " --predictions_page " +
                              (folder_ / "page.html") + " --input ";
  for (const std::string name : {"a.jpg", "good.tfrecord"}) {
    EXPECT_THAT(Succeeded(Run("train_resnet", predict + Quoted(name))).out,
                HasSubstr("/plain/" + name));
  }
  (void)Run("train_resnet", predict + Quoted("x.tfrecord"));
  (void)Run("train_resnet", predict + Quoted("missing.jpg"));
}

}  // namespace
}  // namespace infeed
