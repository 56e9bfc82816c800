// The loop on a GPU: skipped where there is none.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include <c10/cuda/CUDAFunctions.h>

#include "pipeline/memory/batch.h"
#include "pipeline/memory/batch_pool.h"
#include "tests/support/gpu_test.h"
#include "tests/support/made_batches.h"
#include "tests/support/train_steps.h"
#include "trainer/loop/device_loop.h"

#include "gtest/gtest.h"

namespace infeed::loop_test {

constexpr int kBatch = 8;
constexpr int kSide = 32;
constexpr int kClasses = 4;

// The tolerance for losses after a few steps with sums in another order.
constexpr double kTolerance = 1e-3;

// Losses of the two are compared bit for bit.
const DeviceOptions kGraphs = {.device = "cuda:0", .deterministic = true};
const DeviceOptions kNoGraphs = {
    .device = "cuda:0", .graphs = GraphReplay::kFalse, .deterministic = true};
const DeviceOptions kCpu = {.device = "cpu", .threads = 2};

const OptimizerOptions kOptimizer = {
    .learning_rate = {.base_learning_rate = 3.2,
                      .batch_size = 8,
                      .train_images = 8,
                      .train_steps = 90}};

const ModelOptions kModel = {.depth = 18, .num_classes = kClasses};

ModelOptions WithNorms(ModelOptions model, bool fused) {
  model.fused_batch_norm = fused;
  return model;
}

// While it lives, a hidden wait for the device throws.
class NoHiddenSyncs {
 public:
  NoHiddenSyncs() { Set(c10::cuda::SyncDebugMode::L_ERROR); }
  ~NoHiddenSyncs() { Set(c10::cuda::SyncDebugMode::L_DISABLED); }
  NoHiddenSyncs(const NoHiddenSyncs&) = delete;
  NoHiddenSyncs& operator=(const NoHiddenSyncs&) = delete;

 private:
  static void Set(c10::cuda::SyncDebugMode mode) {
    c10::cuda::warning_state().set_sync_debug_mode(mode);
  }
};

class CudaLoopTest : public GpuTest {
 protected:
  static std::shared_ptr<MadeStream> Colours(std::int64_t count,
                                             std::int64_t first = 0,
                                             int side = kSide) {
    return MadeBatches(count, kBatch, side,
                       [first](Batch& batch, std::int64_t number) {
                         FillWithColours(batch, first + number, kClasses);
                         batch.BlankSlot(3);
                       });
  }

  // Steps [first, first + steps) on their batches.
  static std::vector<StepResult> Train(DeviceLoop& loop, std::int64_t first,
                                       std::int64_t steps, int side = kSide) {
    Infeed infeed(Colours(steps, first, side), kBatch, side);
    return TrainSteps(loop, first, steps, infeed);
  }

  static void ExpectNear(const std::vector<StepResult>& a,
                         const std::vector<StepResult>& b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].step, b[i].step);
      EXPECT_NEAR(a[i].loss, b[i].loss, tolerance) << "step " << a[i].step;
      EXPECT_NEAR(a[i].learning_rate, b[i].learning_rate, 1e-7);
      EXPECT_EQ(a[i].images, b[i].images);
    }
  }

  // 4 steps, in which graphs are captured, and 8 that are replayed; with norms
  // of both kinds.
  static void ExpectGraphsToChangeNothing(const ModelOptions& model,
                                          const OptimizerOptions& optimizer,
                                          Precision precision) {
    for (const bool fused : {true, false}) {
      Pair pair(WithNorms(model, fused), optimizer,
                {.precision = precision, .deterministic = true});
      pair.ExpectNear(0, 4, 0);
      pair.ExpectNear(4, 8, 0);
    }
  }

  // A loop with graphs and one without, of the same weights.
  class Pair {
   public:
    Pair(const ModelOptions& model, const OptimizerOptions& optimizer,
         DeviceOptions options)
        : graphs_(MakeDeviceLoop(model, optimizer,
                                 On(options, GraphReplay::kTrue))),
          eager_(MakeDeviceLoop(model, optimizer,
                                On(options, GraphReplay::kFalse))) {
      Join();
    }

    void Join() { eager_->Load(graphs_->Save()); }

    void ExpectNear(std::int64_t first, std::int64_t steps, double tolerance) {
      CudaLoopTest::ExpectNear(Train(*graphs_, first, steps),
                               Train(*eager_, first, steps), tolerance);
    }

   private:
    static DeviceOptions On(DeviceOptions options, GraphReplay graphs) {
      options.device = "cuda:0";
      options.graphs = graphs;
      return options;
    }

    std::unique_ptr<DeviceLoop> graphs_;
    std::unique_ptr<DeviceLoop> eager_;
  };
};

TEST_F(CudaLoopTest, GraphsChangeNoLoss) {
  ExpectGraphsToChangeNothing(kModel, kOptimizer, Precision::kFloat32);
  ExpectGraphsToChangeNothing(kModel, kOptimizer, Precision::kBfloat16);
}

// cuDNN takes the fastest algorithms: the two loops may take others, which add
// up in another order. Their differences grow with every step, so both go on
// from the same weights after two.
TEST_F(CudaLoopTest, GraphsChangeLossesOfTheFastestAlgorithmsByRounding) {
  for (const Precision precision :
       {Precision::kFloat32, Precision::kBfloat16}) {
    for (const bool fused : {true, false}) {
      Pair pair(WithNorms(kModel, fused), kOptimizer, {.precision = precision});
      for (std::int64_t first = 0; first < 12; first += 2) {
        pair.ExpectNear(first, 2, kTolerance);
        pair.Join();
      }
    }
  }
}

// Two runs of one command. Without graphs too, the bits are those with graphs
// (GraphsChangeNoLoss).
TEST_F(CudaLoopTest, DeterministicRunsHaveTheSameBits) {
  DeviceOptions options = kGraphs;
  options.precision = Precision::kBfloat16;
  const auto one = MakeDeviceLoop(kModel, kOptimizer, options);
  const auto other = MakeDeviceLoop(kModel, kOptimizer, options);
  ExpectNear(Train(*one, 0, 12), Train(*other, 0, 12), 0);
  EXPECT_EQ(one->Hash(), other->Hash());
}

// The scale is too large for float16 at first: the device skips steps, without
// and with graphs, and takes it down until steps count.
TEST_F(CudaLoopTest, SkipsStepsOnTheDevice) {
  const auto weight_of = [](const DeviceLoop& loop) {
    return loop.Save().model.at("fc.weight").bytes;
  };
  for (const auto& [name, kind] : kOptimizers) {
    OptimizerOptions optimizer = kOptimizer;
    optimizer.kind = kind;
    optimizer.learning_rate.base_learning_rate = 0.01;
    optimizer.loss_scale = LossScaleOptions{.scale = 0x1p40};
    DeviceOptions graphs = kGraphs;
    graphs.precision = Precision::kFloat16;
    DeviceOptions no_graphs = kNoGraphs;
    no_graphs.precision = Precision::kFloat16;
    const auto loop = MakeDeviceLoop(kModel, optimizer, graphs);
    const auto eager = MakeDeviceLoop(kModel, optimizer, no_graphs);
    eager->Load(loop->Save());
    const std::vector<std::byte> start = weight_of(*loop);
    std::vector<StepResult> results;
    for (std::int64_t first = 0; first < 48; first += 8) {
      results = Train(*loop, first, 8);
      ExpectNear(results, Train(*eager, first, 8), 0);
      if (first == 0) {
        EXPECT_EQ(results.back().skipped_steps, 8) << name;
        EXPECT_EQ(weight_of(*loop), start) << name;
      }
    }
    const StepResult& last = results.back();
    EXPECT_LT(last.skipped_steps, 40) << name;
    EXPECT_EQ(std::log2(last.loss_scale),
              40 - static_cast<double>(last.skipped_steps));
    EXPECT_NE(weight_of(*loop), start) << name;
    EXPECT_EQ(loop->Hash(), eager->Hash()) << name;
  }
}

TEST_F(CudaLoopTest, TrainsInFloat16AsInFloat32ByRounding) {
  OptimizerOptions optimizer = kOptimizer;
  optimizer.loss_scale = LossScaleOptions{.scale = 1024};
  DeviceOptions options = kGraphs;
  options.precision = Precision::kFloat16;
  const auto half = MakeDeviceLoop(kModel, optimizer, options);
  const auto whole = MakeDeviceLoop(kModel, kOptimizer, kGraphs);
  ExpectNear(Train(*half, 0, 2), Train(*whole, 0, 2), 2e-2);
}

// Pixels are unpacked to squares; in an evaluation the network rearranges them.
TEST_F(CudaLoopTest, SpaceToDepthChangesLossesByRounding) {
  ModelOptions squares = kModel;
  squares.stem_layout = StemLayout::kSpaceToDepth;
  ExpectGraphsToChangeNothing(squares, kOptimizer, Precision::kBfloat16);
  for (const auto& [precision, tolerance] :
       {std::pair(Precision::kFloat32, kTolerance),
        {Precision::kBfloat16, 2e-2}}) {
    DeviceOptions options = kGraphs;
    options.precision = precision;
    const auto loop = MakeDeviceLoop(squares, kOptimizer, options);
    const auto plain = MakeDeviceLoop(kModel, kOptimizer, options);
    loop->Load(plain->Save());
    ExpectNear(Train(*loop, 0, 2), Train(*plain, 0, 2), tolerance);
    loop->Load(plain->Save());
    const auto loss = [](DeviceLoop& of) {
      Infeed infeed(Colours(2), kBatch, kSide);
      const EvalSums sums = of.Evaluate(infeed, EvalWeights::kLive);
      return sums.loss_sum / static_cast<double>(sums.images);
    };
    EXPECT_NEAR(loss(*loop), loss(*plain), tolerance);
  }
}

// Where cuDNN has no kernel, convolutions and norms are those of before.
TEST_F(CudaLoopTest, SumsByConvolutionsChangeLossesByRounding) {
  ModelOptions summed = kModel;
  summed.conv_statistics = ConvStatistics::kEpilogue;
  for (const Precision precision :
       {Precision::kBfloat16, Precision::kFloat16}) {
    OptimizerOptions optimizer = kOptimizer;
    if (precision == Precision::kFloat16) {
      optimizer.loss_scale = LossScaleOptions{.scale = 1024};
    }
    ExpectGraphsToChangeNothing(summed, optimizer, precision);
    DeviceOptions options = kGraphs;
    options.precision = precision;
    const auto loop = MakeDeviceLoop(summed, optimizer, options);
    const auto plain = MakeDeviceLoop(kModel, optimizer, options);
    loop->Load(plain->Save());
    ExpectNear(Train(*loop, 0, 2), Train(*plain, 0, 2), 2e-2);
  }
}

// The same with norms within convolutions.
TEST_F(CudaLoopTest, NormsWithinConvolutionsChangeLossesByRounding) {
  ModelOptions model = kModel;
  model.conv_statistics = ConvStatistics::kFused;
  OptimizerOptions optimizer = kOptimizer;
  optimizer.loss_scale = LossScaleOptions{.scale = 1024};
  ExpectGraphsToChangeNothing(model, optimizer, Precision::kFloat16);
  DeviceOptions options = kGraphs;
  options.precision = Precision::kFloat16;
  const auto loop = MakeDeviceLoop(model, optimizer, options);
  const auto plain = MakeDeviceLoop(kModel, optimizer, options);
  loop->Load(plain->Save());
  ExpectNear(Train(*loop, 0, 2), Train(*plain, 0, 2), 2e-2);
}

TEST_F(CudaLoopTest, GraphsDrawWhatEagerStepsDraw) {
  ModelOptions model = kModel;
  model.depth = 50;
  model.dropout_rate = 0.5;
  model.drop_connect_rate = 0.2;
  model.drop_block = {.groups = {3, 4}, .keep_prob = 0.9, .train_steps = 20};
  ExpectGraphsToChangeNothing(model, kOptimizer, Precision::kFloat32);
}

TEST_F(CudaLoopTest, GraphsMixClipAverageAndAccumulateAsEagerStepsDo) {
  OptimizerOptions optimizer = kOptimizer;
  optimizer.mixup_alpha = 0.2;
  optimizer.cutmix_alpha = 1;
  optimizer.clip_gradient_norm = 1;
  optimizer.moving_average_decay = 0.9;
  optimizer.accumulation_steps = 2;
  ExpectGraphsToChangeNothing(kModel, optimizer, Precision::kFloat32);
  for (const auto& [name, kind] : kOptimizers) {
    optimizer = kOptimizer;
    optimizer.kind = kind;
    optimizer.learning_rate.base_learning_rate = 0.01;
    ExpectGraphsToChangeNothing(kModel, optimizer, Precision::kFloat32);
  }
}

TEST_F(CudaLoopTest, TrainsAsTheCpuDoesFromOneCheckpoint) {
  for (const bool fused : {true, false}) {
    const ModelOptions model = WithNorms(kModel, fused);
    const auto cpu = MakeDeviceLoop(model, kOptimizer, kCpu);
    const auto gpu = MakeDeviceLoop(model, kOptimizer, kGraphs);
    ExpectNear(Train(*cpu, 0, 2), Train(*gpu, 0, 2), 1e-3);
    gpu->Load(cpu->Save());
    ExpectNear(Train(*cpu, 2, 2), Train(*gpu, 2, 2), 1e-3);
    cpu->Load(gpu->Save());
    ExpectNear(Train(*cpu, 4, 2), Train(*gpu, 4, 2), 1e-3);
  }
}

// On the GPU alone: fused norms round less often.
TEST_F(CudaLoopTest, FusedNormsTrainAsOthersDo) {
  const auto fused =
      MakeDeviceLoop(WithNorms(kModel, true), kOptimizer, kGraphs);
  const auto plain =
      MakeDeviceLoop(WithNorms(kModel, false), kOptimizer, kGraphs);
  plain->Load(fused->Save());
  ExpectNear(Train(*fused, 0, 6), Train(*plain, 0, 6), kTolerance);
}

// And once before graphs are captured.
TEST_F(CudaLoopTest, TheHostWaitsOnceALoop) {
  const auto loop = MakeDeviceLoop(kModel, kOptimizer, kGraphs);
  Train(*loop, 0, 8);
  {
    const NoHiddenSyncs no_syncs;
    Train(*loop, 8, 16);
  }
  Train(*loop, 24, 4);
  EXPECT_EQ(loop->host_syncs(), 2 + 1 + 1);
}

TEST_F(CudaLoopTest, ResultsComeWhileTheLoopRuns) {
  const auto loop = MakeDeviceLoop(kModel, kOptimizer, kGraphs);
  std::promise<void> first_seen;
  const std::shared_ptr<MadeStream> source = Colours(10);
  // The tenth batch is not there before the first result is seen.
  auto given = std::make_shared<int>(0);
  source->next = [given, next = source->next,
                  seen = first_seen.get_future().share()] {
    if (++*given == 10) {
      seen.wait();
    }
    return next();
  };
  Infeed infeed(source, kBatch, kSide);
  Outfeed outfeed([&](const StepResult& result) {
    if (result.step == 1) {
      first_seen.set_value();
    }
  });
  EXPECT_EQ(loop->Train(0, 10, infeed, outfeed), 10);
}

TEST_F(CudaLoopTest, CapturesAnewForAnotherSize) {
  for (const bool fused : {true, false}) {
    const auto graphs =
        MakeDeviceLoop(WithNorms(kModel, fused), kOptimizer, kGraphs);
    const auto eager =
        MakeDeviceLoop(WithNorms(kModel, fused), kOptimizer, kNoGraphs);
    eager->Load(graphs->Save());
    for (const int side : {32, 48, 32}) {
      ExpectNear(Train(*graphs, 0, 6, side), Train(*eager, 0, 6, side), 0);
      graphs->Load(eager->Save());
    }
  }
}

class CudaEvaluationTest : public CudaLoopTest,
                           public testing::WithParamInterface<EvalViews> {};

INSTANTIATE_TEST_SUITE_P(Views, CudaEvaluationTest,
                         testing::Values(EvalViews{}, EvalViews{.flip = true},
                                         EvalViews{.crops = 4},
                                         EvalViews{.crops = 2, .flip = true}));

TEST_P(CudaEvaluationTest, EvaluatesAsTheCpuDoes) {
  DeviceOptions on_cpu = kCpu;
  on_cpu.eval_views = GetParam();
  const auto cpu = MakeDeviceLoop(kModel, kOptimizer, on_cpu);
  Train(*cpu, 0, 4);
  for (DeviceOptions options : {kGraphs, kNoGraphs}) {
    options.eval_views = GetParam();
    const auto gpu = MakeDeviceLoop(kModel, kOptimizer, options);
    gpu->Load(cpu->Save());
    for (int i = 0; i < 2; ++i) {
      Infeed here(Colours(7), kBatch, kSide);
      Infeed there(Colours(7), kBatch, kSide);
      const EvalSums expected = cpu->Evaluate(here, EvalWeights::kAverage);
      const EvalSums sums = gpu->Evaluate(there, EvalWeights::kAverage);
      EXPECT_EQ(sums.images, expected.images);
      EXPECT_NEAR(static_cast<double>(sums.top_1),
                  static_cast<double>(expected.top_1), 1);
      EXPECT_NEAR(sums.loss_sum, expected.loss_sum, 1e-2);
      EXPECT_EQ(sums.labels, expected.labels);
      ASSERT_EQ(sums.scores.size(), expected.scores.size());
      for (std::size_t k = 0; k < sums.scores.size(); ++k) {
        ASSERT_NEAR(sums.scores[k], expected.scores[k], 1e-3);
      }
    }
  }
}

TEST_F(CudaLoopTest, TakesBatchesFromPinnedMemoryAndGivesThemBack) {
  const auto loop = MakeDeviceLoop(kModel, kOptimizer, kGraphs);
  BatchPool pool(4, {.size = kBatch, .image_size = kSide},
                 loop->batch_memory());
  auto number = std::make_shared<std::int64_t>(0);
  const auto source = std::make_shared<MadeStream>([&pool, number] {
    BatchHandle batch = pool.Take();
    FillWithColours(*batch, (*number)++, kClasses);
    return batch;
  });
  source->stop = [&pool] { pool.Close(); };
  Infeed infeed(source, kBatch, kSide);
  Outfeed outfeed([](const StepResult& result) {
    EXPECT_TRUE(std::isfinite(result.loss));
  });
  EXPECT_EQ(loop->Train(0, 40, infeed, outfeed), 40);
  outfeed.Drain();
}

}  // namespace infeed::loop_test
