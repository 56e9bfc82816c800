// Pipelines with workers that are not there, or of no use, on the network.

#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/rpc_plugin.h"
#include "tests/support/closed_port.h"
#include "tests/support/matchers.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

namespace infeed::input_pipeline_workers_test {

InputOptions WithWorker(InputOptions options, int port) {
  options.workers = "127.0.0.1:" + std::to_string(port);
  return options;
}

TEST(InputPipelineWorkersTest, AWorkerThatIsNotThereChangesNoBatch) {
  const ClosedPort nobody;
  for (const InputOptions& options : {SmallTraining(), SmallEvaluation()}) {
    EXPECT_EQ(Stream(SharedIndex(), WithWorker(options, nobody.port()), 12),
              Stream(SharedIndex(), options, 12));
  }
}

TEST(InputPipelineWorkersTest, AWorkerThatIsNotThereIsInTheStatistics) {
  const ClosedPort nobody;
  InputPipeline pipeline(SharedIndex(),
                         WithWorker(SmallTraining(), nobody.port()));
  while (pipeline.stats().workers.empty()) {
    ASSERT_TRUE(pipeline.Next());
  }
  const WorkerStats worker = pipeline.stats().workers[0];
  EXPECT_EQ(worker.address, "127.0.0.1:" + std::to_string(nobody.port()));
  EXPECT_NE(worker.state, "open");
  EXPECT_EQ(worker.images, 0);
  EXPECT_EQ(pipeline.stats().stage("receive"), nullptr);
}

TEST(InputPipelineWorkersTest, AStreamThatAllRefuseEndsWithTheReason) {
  const std::unique_ptr<RpcServer> worker = LoadedRpcLibrary().Listen(
      "127.0.0.1:0", {}, kMaxRequestBytes,
      [](const std::shared_ptr<RpcServerCall>& call) {
        const auto reply = std::make_shared<const std::string>(
            Serialize(OpenReply{.worker = "w", .differences = {"other data"}}));
        call->Finish({}, {{std::as_bytes(std::span(*reply)), reply}});
      });
  InputPipeline pipeline(SharedIndex(),
                         WithWorker(SmallTraining(), worker->port()));
  EXPECT_THAT(MessageOf<UsageError>([&] {
                while (pipeline.Next()) {
                }
              }),
              HasSubstr("other data"));
  // The stream is over.
  EXPECT_THROW((void)pipeline.Next(), UsageError);
}

TEST(InputPipelineWorkersTest, StopsWhileItLooksForWorkers) {
  const ClosedPort nobody;
  InputPipeline pipeline(SharedIndex(),
                         WithWorker(SmallTraining(), nobody.port()));
  pipeline.Stop();
  EXPECT_FALSE(pipeline.Next());
}

}  // namespace infeed::input_pipeline_workers_test
