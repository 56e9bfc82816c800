#include "trainer/params/weights_variant.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "tests/support/made_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/checkpoint/save.h"
#include "trainer/model/layers.h"
#include "trainer/params/station_options.h"

namespace infeed::weights_variant {
namespace {

std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) {
    bytes += static_cast<char>(value | 128);
  }
  return bytes + static_cast<char>(value);
}

std::string Little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(value >> (8 * i));
  }
  return text;
}

// A block of LevelDB's tables, with one restart; its place is added to `file`.
std::string AddBlock(const std::map<std::string, std::string>& entries,
                     std::string& file) {
  std::string block;
  for (const auto& [key, value] : entries) {
    block += '\0' + Varint(key.size()) + Varint(value.size()) + key + value;
  }
  block += Little(0, 4) + Little(1, 4);
  const std::string handle = Varint(file.size()) + Varint(block.size());
  block += '\0';  // not compressed
  const std::uint32_t crc = Crc32c(std::as_bytes(std::span(block)));
  file += block + Little(MaskCrc(crc), 4);
  return handle;
}

// The index of a TensorFlow checkpoint with the convolutions of a model.
void WriteIndex(const std::string& prefix, const ModelOptions& model) {
  using namespace std::string_literals;
  std::map<std::string, std::string> entries = {
      {"", "\x08\x01\x1a\x02\x08\x01"s}};
  const std::string entry =
      "\x08\x01\x12\x04\x12\x02\x08\x02\x28\x08\x35"s + Little(0, 4);
  int count = 0;
  for (const LayerPlan& layer : PlanLayers(model)) {
    if (layer.kind == LayerKind::kConvolution) {
      const std::string number = count > 0 ? "_" + std::to_string(count) : "";
      entries["conv2d" + number + "/kernel"] = entry;
      ++count;
    }
  }
  std::string file;
  const std::string data = AddBlock(entries, file);
  const std::string meta = AddBlock({}, file);
  const std::string index = AddBlock({{"zzz", data}}, file);
  std::string footer = meta + index;
  footer.resize(40, '\0');
  WriteFileAtomically(prefix + ".index",
                      file + footer + Little(0xdb4775248b80fb57, 8));
}

class WeightsVariantTest : public testing::Test {
 protected:
  WeightsVariantTest() {
    options_.model_dir = folder_ / "model";
    params_.values.resnet_checkpoint = path_;
    params_.values.input.num_label_classes = 1000;
  }
  void Follow() {
    const std::unique_ptr<Ranks> ranks = JoinRanks({}, std::chrono::seconds(1));
    FollowWeights(options_, *ranks, params_);
  }
  void WriteReference(int depth) {
    WriteIndex(path_, {.variant = ModelVariant::kTpu, .depth = depth});
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "model.ckpt-112603";
  RunOptions options_;
  RunParams params_;
};

TEST_F(WeightsVariantTest, TensorflowCheckpointsAreTpu) {
  for (const int depth : {18, 50}) {
    WriteReference(depth);
    params_.values.model.variant = ModelVariant::kTorchvision;
    params_.values.model.depth = depth;
    params_.origins.clear();
    Follow();
    EXPECT_EQ(params_.values.model.variant, ModelVariant::kTpu);
    EXPECT_EQ(params_.origins["model_variant"], "from the weights");
  }
}

TEST_F(WeightsVariantTest, AContradictingVariantIsRefused) {
  WriteReference(50);
  params_.origins["model_variant"] = "flag";
  EXPECT_THAT(MessageOf<UsageError>([&] { Follow(); }),
              AllOf(HasSubstr("model_variant=torchvision: resnet_checkpoint="),
                    HasSubstr("give model_variant=tpu")));
  options_.force = true;
  Follow();
  EXPECT_EQ(params_.values.model.variant, ModelVariant::kTorchvision);
  params_.values.model.variant = ModelVariant::kTpu;
  options_.force = false;
  Follow();
}

TEST_F(WeightsVariantTest, NamesTheDepthOfATensorflowCheckpoint) {
  WriteReference(18);
  EXPECT_THAT(MessageOf<UsageError>([&] { Follow(); }),
              HasSubstr("a ResNet-18, the model is a ResNet-50: give "
                        "resnet_depth=18"));
}

TEST_F(WeightsVariantTest, CheckpointsAndTheirPartsKeepTheirVariant) {
  Checkpoint checkpoint = MadeCheckpoint(7);
  checkpoint.identity.push_back({"model_variant", "\"tpu\""});
  const std::string other = folder_ / "other";
  const std::string step = SaveCheckpoint(other, checkpoint);
  for (const std::string& path : {other, step}) {
    params_.values.resnet_checkpoint = path;
    params_.values.model.variant = ModelVariant::kTorchvision;
    params_.origins.clear();
    Follow();
    EXPECT_EQ(params_.values.model.variant, ModelVariant::kTpu) << path;
  }
  EXPECT_EQ(VariantOfWeights(step + "/model.safetensors"), ModelVariant::kTpu);
  checkpoint.step = 8;  // A newer one is damaged.
  WriteFileAtomically(SaveCheckpoint(other, checkpoint) + "/state.json", "{");
  EXPECT_EQ(VariantOfWeights(other), ModelVariant::kTpu);
}

TEST_F(WeightsVariantTest, ExportsHaveTheirVariant) {
  const std::string facts = folder_ / "preprocessing.json";
  WriteFileAtomically(path_, "weights");
  for (const char* const text :
       {"", "[]", "{}", R"({"trained": 1})", R"({"trained": {}})",
        R"({"trained": {"model_variant": 1}})",
        R"({"trained": {"model_variant": "other"}})"}) {
    WriteFileAtomically(facts, text);
    EXPECT_EQ(VariantOfWeights(path_), std::nullopt) << text;
  }
  WriteFileAtomically(facts, R"({"trained": {"model_variant": "tpu"}})");
  Follow();
  EXPECT_EQ(params_.values.model.variant, ModelVariant::kTpu);
}

// PyTorch's networks all have torchvision's geometry.
TEST_F(WeightsVariantTest, TorchFilesAreTorchvision) {
  params_.origins["model_variant"] = "preset tpu_reference";
  for (const char* const bytes : {"PK\x03\x04 and more", "\x80\x02 and more"}) {
    WriteFileAtomically(path_, bytes);
    params_.values.model.variant = ModelVariant::kTpu;
    EXPECT_THAT(MessageOf<UsageError>([&] { Follow(); }),
                HasSubstr("give model_variant=torchvision, or --force"));
    params_.values.model.variant = ModelVariant::kTorchvision;
    Follow();
  }
  WriteFileAtomically(path_, "PK\x03\x04....{");  // safetensors
  EXPECT_EQ(VariantOfWeights(path_), std::nullopt);
}

TEST_F(WeightsVariantTest, StaysThatOfTheTrainingThatResumes) {
  Checkpoint checkpoint = MadeCheckpoint(7);
  checkpoint.identity.push_back({"model_variant", "\"tpu\""});
  SaveCheckpoint(options_.model_dir, checkpoint);
  Follow();  // The weights are gone.
  EXPECT_EQ(params_.values.model.variant, ModelVariant::kTpu);
}

TEST_F(WeightsVariantTest, UnknownVariantsChangeNothing) {
  WriteFileAtomically(path_, "weights");
  Follow();
  EXPECT_EQ(params_.values.model.variant, ModelVariant::kTorchvision);
  params_.values.resnet_checkpoint.clear();
  Follow();
  EXPECT_EQ(params_.values.model.variant, ModelVariant::kTorchvision);
}

}  // namespace
}  // namespace infeed::weights_variant
