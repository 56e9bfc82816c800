// The program input_worker: streams and trainings with workers in processes of
// their own, which are killed, stopped, ended or refused meanwhile, are those
// without workers.

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/running_program.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_identity.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/results/model_dir.h"

namespace infeed::input_worker_test {
namespace {

constexpr const char* kAnyPort = "127.0.0.1:0";
constexpr const char* kToken = "INFEED_WORKER_TOKEN";

// A worker that listens at a free port of this machine.
class StartedWorker {
 public:
  explicit StartedWorker(const std::string& data,
                         const std::vector<std::string>& more = {})
      : program_("input_worker", Arguments(data, more)) {
    const bool serves = program_.ReadUntil(" thread");
    EXPECT_TRUE(serves) << program_.err();
    const std::string& text = program_.err();
    const std::size_t begin = text.find("127.0.0.1:");
    address_ = serves ? text.substr(begin, text.find(',', begin) - begin) : "";
    idle_ticks_ = CpuTicks();
  }

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const std::string& err() const { return program_.err(); }

  // Waits until the worker has computed for some time.
  void AwaitWork() const {
    constexpr std::int64_t kTicks = 3;  // of 10 ms
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (CpuTicks() < idle_ticks_ + kTicks) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "no range came";
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  void Signal(int signal) const { program_.Signal(signal); }

  // Asks for the end, and returns the exit code.
  int End() {
    program_.Signal(SIGTERM);
    return program_.Wait();
  }

 private:
  static std::vector<std::string> Arguments(
      const std::string& data, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--data_dir", data,        "--listen",
                                      kAnyPort,     "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // CPU time of the process so far, utime and stime of /proc/PID/stat.
  [[nodiscard]] std::int64_t CpuTicks() const {
    std::ifstream file("/proc/" + std::to_string(program_.process()) + "/stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    std::istringstream words(stat.substr(stat.rfind(')') + 1));
    std::string skipped;
    for (int i = 0; i < 11; ++i) {
      words >> skipped;
    }
    std::int64_t user = 0;
    std::int64_t system = 0;
    words >> user >> system;
    return user + system;
  }

  RunningProgram program_;
  std::string address_;
  std::int64_t idle_ticks_ = 0;
};

std::string ListOf(const std::vector<const StartedWorker*>& workers) {
  std::string list;
  for (const StartedWorker* worker : workers) {
    list += (list.empty() ? "" : ",") + worker->address();
  }
  return list;
}

class InputWorkerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shards_ = std::make_unique<TestShards>(TestPayloads(40));
    const ProgramResult local = Succeeded(Hash(""));
    local_hash_ = local.out;
  }
  static void TearDownTestSuite() { shards_.reset(); }

  // Prints the hash of a stream that is long enough for workers to be lost in
  // its middle.
  static ProgramResult Hash(const std::string& flags) {
    return RunProgram("pipeline_throughput",
                      "--batch_size 32 --image_size 128 --augment randaugment "
                      "--threads 1 --hash 400 --data_dir " +
                          shards_->folder() + " " + flags);
  }
  static std::future<ProgramResult> StartHash(
      const std::vector<const StartedWorker*>& workers) {
    return std::async(std::launch::async, [list = ListOf(workers)] {
      return Hash("--workers " + list);
    });
  }

  static void ExpectLocalStream(const ProgramResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, local_hash_) << result.err;
  }

  static std::unique_ptr<TestShards> shards_;
  static std::string local_hash_;  // of the stream without workers
};

std::unique_ptr<TestShards> InputWorkerTest::shards_;
std::string InputWorkerTest::local_hash_;

TEST_F(InputWorkerTest, MakesTheSameStream) {
  EXPECT_THAT(local_hash_, MatchesRegex("[0-9a-f]{64}\n"));
  StartedWorker first(shards_->folder());
  ExpectLocalStream(Hash("--workers " + first.address()));
  StartedWorker second(shards_->folder(), {"--use_cache", "--name", "second"});
  StartedWorker third(shards_->folder());
  ExpectLocalStream(Hash("--workers " + ListOf({&first, &second, &third})));
  for (StartedWorker* worker : {&first, &second, &third}) {
    EXPECT_EQ(worker->End(), 0);
    EXPECT_THAT(worker->err(),
                AllOf(HasSubstr("serving train (40 records) at 127.0.0.1:"),
                      ContainsRegex("filled [1-9][0-9]* slot")));
  }
}

TEST_F(InputWorkerTest, ItsLibraryIsLoadedOnlyWithWorkers) {
  const auto is_loaded = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--data_dir",   shards_->folder(),
                                      "--threads",    "1",
                                      "--seconds",    "0.1",
                                      "--rounds",     "1000",
                                      "--batch_size", "8"};
    words.insert(words.end(), more.begin(), more.end());
    RunningProgram stream("pipeline_throughput", words);
    EXPECT_TRUE(stream.ReadUntil("round 1/")) << stream.err();
    std::ifstream file("/proc/" + std::to_string(stream.process()) + "/maps");
    const std::string maps{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(maps, HasSubstr("pipeline_throughput"));
    return maps.find("libinfeed_workers") != std::string::npos;
  };
  const StartedWorker worker(shards_->folder());
  EXPECT_FALSE(is_loaded({}));
  EXPECT_TRUE(is_loaded({"--workers", worker.address()}));
}

TEST_F(InputWorkerTest, OneIsKilledOrStopped) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    const StartedWorker stays(shards_->folder());
    const StartedWorker goes(shards_->folder());
    std::future<ProgramResult> stream = StartHash({&stays, &goes});
    goes.AwaitWork();
    goes.Signal(signal);
    ExpectLocalStream(stream.get());
  }
}

TEST_F(InputWorkerTest, AllAreKilled) {
  const StartedWorker first(shards_->folder());
  const StartedWorker second(shards_->folder());
  std::future<ProgramResult> stream = StartHash({&first, &second});
  first.AwaitWork();
  second.AwaitWork();
  first.Signal(SIGKILL);
  second.Signal(SIGKILL);
  const ProgramResult result = stream.get();
  ExpectLocalStream(result);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr(first.address()), HasSubstr(second.address())));
}

TEST_F(InputWorkerTest, IsAskedToEnd) {
  StartedWorker worker(shards_->folder());
  std::future<ProgramResult> stream = StartHash({&worker});
  worker.AwaitWork();
  EXPECT_EQ(worker.End(), 0);
  EXPECT_THAT(worker.err(),
              AllOf(HasSubstr("input_worker: stopping after the ranges"),
                    ContainsRegex("filled [1-9][0-9]* slot")));
  ExpectLocalStream(stream.get());
}

TEST_F(InputWorkerTest, RefusesStreamsOfOtherData) {
  const TestShards other(TestPayloads(41));
  const StartedWorker worker(other.folder());
  EXPECT_THAT(Hash("--workers " + worker.address()),
              Ends(2, AllOf(HasSubstr(worker.address()), HasSubstr("data"))));
}

TEST_F(InputWorkerTest, RefusesTrainersWithAnotherToken) {
  const std::string token(43, 'a');
  std::unique_ptr<StartedWorker> worker;
  {
    const EnvironmentVariable set(kToken, token);
    worker = std::make_unique<StartedWorker>(shards_->folder());
    ExpectLocalStream(Hash("--workers " + worker->address()));
  }
  for (const std::string& wrong : {std::string(), std::string(43, 'b')}) {
    const EnvironmentVariable set(kToken, wrong);
    const ProgramResult result = Hash("--workers " + worker->address());
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr(worker->address()), HasSubstr("token")));
    EXPECT_EQ(result.err.find(token), std::string::npos);
  }
}

TEST_F(InputWorkerTest, UsesTls) {
  const TemporaryFolder files;
  const std::string certificate = files / "certificate.pem";
  const std::string key = files / "key.pem";
  WriteTestCertificate(certificate, key);
  StartedWorker worker(
      shards_->folder(),
      {"--tls_cert", certificate, "--tls_key", key, "--tls_ca", certificate});
  ExpectLocalStream(Hash(
      "--workers " + worker.address() + " --worker_tls_cert " + certificate +
      " --worker_tls_key " + key + " --worker_tls_ca " + certificate));
  EXPECT_EQ(worker.End(), 0);
  EXPECT_THAT(worker.err(), ContainsRegex("filled [1-9][0-9]* slot"));
}

TEST_F(InputWorkerTest, IsTriedByADryRun) {
  StartedWorker worker(shards_->folder(), {"--name", "the-first"});
  EXPECT_THAT(Succeeded(Hash("--dry_run --workers " + worker.address())).out,
              AllOf(HasSubstr("worker " + worker.address() +
                              ", the-first: 64 images are the same; CPU s"),
                    HasSubstr("receiving costs ")));
  EXPECT_EQ(worker.End(), 0);
  EXPECT_THAT(Hash("--dry_run --workers " + worker.address()),
              Ends(1, HasSubstr(worker.address() + " cannot be reached")));
}

// LeNet's weights and momentum after a training.
class InputWorkerTrainingTest : public testing::Test {
 protected:
  static constexpr std::int64_t kSteps = 400;

  [[nodiscard]] ProgramResult Run(const std::string& mode,
                                  const std::string& flags) const {
    return RunProgram(
        "train_resnet",
        "--mode " + mode + " --device cpu --data_dir " + shards_.folder() +
            " --params_override model=lenet,image_size=28,precision=float32,"
            "train_batch_size=64,num_parallel_calls=1,iterations_per_loop=50,"
            "train_steps=" +
            std::to_string(kSteps) + " " + flags);
  }
  [[nodiscard]] ProgramResult Train(const std::string& model,
                                    const std::string& flags) const {
    return Run("train", "--model_dir " + (models_ / model) + " " + flags);
  }

  [[nodiscard]] std::string LastBytes(const std::string& model) const {
    constexpr std::int64_t kMostBytes = 1 << 24;
    const std::string folder = CheckpointFolder(models_ / model, kSteps);
    return ReadWholeFile(PathIn(folder, kModelFile), kMostBytes) +
           ReadWholeFile(PathIn(folder, kOptimizerFile), kMostBytes);
  }

  TestShards shards_{TestPayloads(64)};
  TemporaryFolder models_;
};

TEST_F(InputWorkerTrainingTest, EndsWithTheSameWeights) {
  ASSERT_THAT(Train("alone", ""), Ends(0));
  const StartedWorker stays(shards_.folder());
  const StartedWorker goes(shards_.folder());
  std::future<ProgramResult> training = std::async(std::launch::async, [&] {
    return Train("helped", "--workers " + ListOf({&stays, &goes}));
  });
  goes.AwaitWork();
  goes.Signal(SIGKILL);
  ASSERT_THAT(training.get(), Ends(0));
  EXPECT_EQ(LastBytes("helped"), LastBytes("alone"));
}

TEST_F(InputWorkerTrainingTest, IsTriedByADryRunAndByDoctor) {
  const StartedWorker worker(shards_.folder());
  const TestShards others(TestPayloads(3));
  const StartedWorker other(others.folder());
  const std::string both = "--workers " + ListOf({&worker, &other});
  EXPECT_THAT(Train("none", "--dry_run " + both),
              Ends(2, AllOf(HasSubstr("64 images are the same"),
                            HasSubstr("receiving costs "),
                            HasSubstr("problem: worker " + other.address()),
                            HasSubstr(" 1 problem found"))));
  EXPECT_THAT(Succeeded(Run("doctor", both)).out,
              AllOf(HasSubstr("ok   worker " + worker.address()),
                    HasSubstr("ok   workers          receiving "),
                    HasSubstr("WARN worker " + other.address()),
                    HasSubstr("the data are others")));
}

// Wrong flags and data; a worker that starts in spite of them is ended.
class InputWorkerMistakesTest : public testing::Test {
 protected:
  [[nodiscard]] ProgramResult Run(const std::string& flags) const {
    return RunProgram("input_worker", flags, "timeout 60");
  }

  TestShards shards_{TestPayloads(10)};
};

TEST_F(InputWorkerMistakesTest, ChecksADryRun) {
  EXPECT_EQ(
      Succeeded(Run("--dry_run --threads 2 --data_dir " + shards_.folder()))
          .out,
      "would serve train (10 records) at 127.0.0.1:9410, 2 threads\n");
  EXPECT_FALSE(std::filesystem::exists(shards_.folder() + "/.infeed"));
}

TEST_F(InputWorkerMistakesTest, RefusesWrongFlags) {
  const std::string data = "--data_dir " + shards_.folder();
  for (const auto& [flags, why] :
       {std::pair<std::string, const char*>("", "give one of --data_dir"),
        {data + " --shards x", "give one of --data_dir"},
        {"--shards x --split train", "--split chooses from --data_dir"},
        {data + " --split test", "has no images of split='test'"},
        {data + " --listen 9410", "--listen=9410: must be HOST:PORT"},
        {data + " --listen 127.0.0.1:65536", "must be HOST:PORT"},
        {data + " --listen 0.0.0.0:0", kToken},
        {data + " --memory_limit much", "memory_limit"},
        {data + " --split val,validation", "validation is given twice"},
        {data + " --threads -1", "--threads"},
        {data + " --threads 1025", "--threads"},
        {data + " --tls_cert a.pem", "tls"}}) {
    EXPECT_THAT(Run("--dry_run " + flags), Ends(2, HasSubstr(why))) << flags;
  }
}

TEST_F(InputWorkerMistakesTest, RefusesAKeyOfAnotherCertificate) {
  const TemporaryFolder files;
  WriteTestCertificate(files / "a.pem", files / "a.key");
  WriteTestCertificate(files / "b.pem", files / "b.key");
  EXPECT_THAT(Run("--data_dir " + shards_.folder() + " --tls_cert " +
                  (files / "a.pem") + " --tls_key " + (files / "b.key") +
                  " --tls_ca " + (files / "a.pem")),
              Ends(2, HasSubstr("b.key: is not the private key of ")));
}

TEST_F(InputWorkerMistakesTest, RefusesAPortInUseAndDamagedShards) {
  const std::string data = " --data_dir " + shards_.folder();
  {
    const StartedWorker worker(shards_.folder());
    EXPECT_THAT(Run("--listen " + worker.address() + data),
                Ends(1, HasSubstr(worker.address())));
  }
  shards_.DamageHeader(3);
  std::filesystem::remove_all(shards_.folder() + "/.infeed");
  EXPECT_THAT(Run("--listen " + std::string(kAnyPort) + data),
              Ends(3, HasSubstr("train-0000")));
}

}  // namespace
}  // namespace infeed::input_worker_test
