// A signal ends every wait for a store: one that never answers, one that asks
// to come again later, one whose lists have no end.

#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/cloud_training.h"
#include "tests/support/loopback_server.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/running_program.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using Reply = LoopbackServer::Reply;
using Words = std::vector<std::string>;

constexpr int kStopped = 75;

constexpr const char* kAbsent = "HTTP/1.1 404";

// A store within the test, which can wait for a request.
class OddStore {
 public:
  explicit OddStore(const LoopbackServer::Handler& answer)
      : server_([this, answer](const std::string& request) {
          Reply reply = answer(request);
          if (!reply.bytes.starts_with(kAbsent)) {
            asked_.release();
          }
          return reply;
        }) {}

  [[nodiscard]] std::string url() const { return server_.url(); }
  // Waits for a request other than those answered with "not found".
  void AwaitRequest() { asked_.acquire(); }

 private:
  std::counting_semaphore<> asked_{0};
  LoopbackServer server_;
};

Reply Nothing(const std::string& /*request*/) {
  return {.bytes = "", .then = Reply::Then::kHang};
}

Reply Later(const std::string& /*request*/) {
  return {.bytes = HttpAnswer(503, "", "Retry-After: 30\r\n")};
}

class SignalWaitsTest : public CloudTraining {
 protected:
  SignalWaitsTest() { Set("HOME", machine_ / "home"); }

  // Starts a program on a store, and stops it once it waits there.
  void Stop(const LoopbackServer::Handler& answer, const std::string& program,
            const Words& words, int code = kStopped) {
    OddStore store(answer);
    Set("AWS_ENDPOINT_URL", store.url());
    RunningProgram running(program, words);
    store.AwaitRequest();
    running.Signal(SIGTERM);
    EXPECT_EQ(running.Wait(), code) << running.err();
    if (code == kStopped) {
      EXPECT_THAT(running.err(), HasSubstr("stopped by a signal"));
    }
  }

  // The command of a training with this data and model_dir.
  [[nodiscard]] Words Training(const std::string& data,
                               const std::string& model,
                               const Words& more = {}) const {
    Words words = Flags(local_ / "", more);
    words[1] = data;
    words[3] = model;
    return words;
  }
};

TEST_F(SignalWaitsTest, TheTrainersForEveryThingInAStore) {
  const std::string& here = local_.path();
  // A training waits alike between two tries, whatever it asks for; an
  // evaluation that follows one has a wait of its own.
  for (const auto& answer : {Nothing, Later}) {
    Stop(answer, "train_resnet", Training("s3://b/data", here + "/model"));
    Stop(answer, "train_resnet",
         {"--mode", "eval", "--model_dir", "s3://b/model", "--data_dir", here,
          "--eval_timeout", "1000000", "--device", "cpu"});
  }
  Stop(Nothing, "train_resnet", Training(here, "s3://b/model"));
  Stop(Nothing, "train_resnet",
       Training(here, here + "/model", {"--config_file", "s3://b/p.yaml"}));
  Stop(Nothing, "train_resnet",
       Training(here, here + "/model", {"--resnet_checkpoint", "s3://b/w"}));
  Stop(Nothing, "train_resnet",
       {"--mode", "predict", "--model_dir", "s3://b/model", "--input", "x",
        "--device", "cpu", "--local_scratch_dir", scratch_});
  Stop(Nothing, "train_resnet",
       Training(here, here + "/model",
                {"--local_ranks", "2", "--config_file", "s3://b/p.yaml"}));
}

TEST_F(SignalWaitsTest, TheConverters) {
  const std::string out = local_ / "out";
  for (const auto& answer : {Nothing, Later}) {
    Stop(answer, "imagenet_to_records",
         {"--raw_data_dir", "s3://b/raw", "--local_scratch_dir", out});
  }
  fs::create_directories(local_ / "raw/cats");
  std::ofstream(local_ / "raw/cats/a.jpg")
      << TestJpeg({.width = 31, .height = 17});
  Stop(Nothing, "imagenet_to_records",
       {"--raw_data_dir", local_ / "raw", "--local_scratch_dir", out,
        "--gcs_output_path", "s3://b/out"});
}

// Verbs that write nothing are ended by the signal itself.
TEST_F(SignalWaitsTest, TheVerbsOfRecords) {
  const std::string shard = local_ / ShardName("train", 0, 1);
  for (const auto& answer : {Nothing, Later}) {
    Stop(answer, "records", {"verify", "s3://b/x"}, 128 + SIGTERM);
    Stop(answer, "records", {"reshard", "s3://b/x", "--output", local_ / "o"},
         128 + SIGTERM);
    const auto empty = [&](const std::string& request) {
      return request.starts_with("PUT") ? answer(request)
                                        : Reply{.bytes = HttpAnswer(404)};
    };
    Stop(empty, "records", {"merge", shard, "--output", "s3://b/x"});
  }
}

// A list of a million empty pages would take days.
TEST_F(SignalWaitsTest, ListsWithoutAnEnd) {
  std::atomic<int> page = 0;
  const auto endless = [&page](const std::string& request) -> Reply {
    const std::string number = std::to_string(++page);
    return {.bytes =
                request.starts_with("HEAD")
                    ? HttpAnswer(404)
                    : HttpAnswer(200,
                                 "<ListBucketResult><IsTruncated>true"
                                 "</IsTruncated><NextContinuationToken>" +
                                     number +
                                     "</NextContinuationToken><Contents><Key>"
                                     "data/" +
                                     number +
                                     "</Key><Size>1</Size></Contents>"
                                     "</ListBucketResult>")};
  };
  Stop(endless, "train_resnet", Training("s3://b/data", local_ / "model"));
  page = 0;
  Stop(endless, "imagenet_to_records",
       {"--raw_data_dir", "s3://b/data", "--local_scratch_dir", local_ / "o"});
}

// The step at hand has no images, so that the checkpoint is of the one before.
TEST_F(SignalWaitsTest, ATrainingWhoseDataStoreFallsSilent) {
  Words words = Training(
      "s3://shards/data", local_ / "model",
      {"--train_steps", "1000000", "--steps_per_checkpoint", "1000000"});
  RunningProgram program("train_resnet", words);
  ASSERT_TRUE(program.ReadUntil("step 1/")) << program.err();
  server_.SetFaults(R"({"fault": "silence", "seconds": 1000000})");
  while (server_.log().requests.back().fault.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), kStopped) << program.err();
  EXPECT_THAT(program.err(), HasSubstr("stopped at step "));
  EXPECT_THAT(NamesInFolder(local_ / "model"),
              testing::Contains(HasSubstr("checkpoint-")));
}

TEST_F(SignalWaitsTest, AnEndThatWaitsForUploads) {
  server_.SetFaults(R"({"fault": "status", "method": "PUT"})");
  RunningProgram program(
      "train_resnet", Flags("s3://shards/", {"--upload_timeout", "1000000"}));
  ASSERT_TRUE(program.ReadUntil("more for uploads")) << program.err();
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 1) << program.err();
  EXPECT_THAT(program.err(), HasSubstr("could be uploaded before the signal"));
}

// docs/troubleshooting.md.
TEST_F(SignalWaitsTest, ASecondSignalEndsAtOnce) {
  server_.SetFaults(R"({"fault": "status", "method": "PUT"})");
  RunningProgram program("train_resnet",
                         Flags("s3://shards/", {"--upload_timeout", "1000000",
                                                "--train_steps", "1000000"}));
  ASSERT_TRUE(program.ReadUntil("step 1/")) << program.err();
  program.Signal(SIGTERM);
  ASSERT_TRUE(program.ReadUntil("more for uploads")) << program.err();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 128 + SIGTERM) << program.err();
  EXPECT_THAT(program.err(),
              testing::EndsWith("train_resnet: ended at once by a second "
                                "signal (Terminated)\n"));
}

}  // namespace
}  // namespace infeed
