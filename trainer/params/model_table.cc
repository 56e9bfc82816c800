#include <string>
#include <string_view>
#include <tuple>

#include "records/files/class_list.h"
#include "trainer/model/named_networks.h"
#include "trainer/params/table_rows.h"

namespace infeed {
namespace {

using P = TrainParams;
using M = ModelOptions;

// The parts of a shape that no parameter sets but a network's name.
template <typename Options>  // ModelOptions, perhaps const
auto PartsOfName(Options& options) {
  return std::tie(options.groups, options.width_per_group, options.resnett_stem,
                  options.blur_pool, options.eca);
}

const M& Plain() {
  static const M plain;
  return plain;
}

// Sets the kind of a model, or all of a published network's shape.
bool SetModel(void* field, std::string_view name) {
  M& model = *static_cast<M*>(field);
  if (const ModelKind* const kind = FindChoice(name, kModelKinds)) {
    model.kind = *kind;
    PartsOfName(model) = PartsOfName(Plain());
    return true;
  }
  const NamedNetwork* const network = FindNetwork(name);
  if (network != nullptr) {
    ShapeOf(model) = ShapeOf(network->shape);
  }
  return network != nullptr;
}

// The kind, or the name of a network with the parts that only names set: the
// model's own, else the first; other parameters have the rest of the shape.
std::string_view ModelText(const void* field) {
  const M& model = *static_cast<const M*>(field);
  if (PartsOfName(model) != PartsOfName(Plain())) {
    if (const NamedNetwork* const network = NetworkOf(model)) {
      return network->name;
    }
    for (const NamedNetwork& network : NamedNetworks()) {
      if (PartsOfName(network.shape) == PartsOfName(model)) {
        return network.name;
      }
    }
  }
  return ChoiceName(model.kind, kModelKinds);
}

// "resnet|lenet|resnet18|...".
std::string_view ModelNames() {
  static const std::string kNames = [] {
    std::string names(ChoiceField<kModelKinds, &P::model, &M::kind>().choices);
    return names.append("|").append(NetworkNames());
  }();
  return kNames;
}

OptionField<P> ModelField() {
  return {.at = [](P& params) -> OptionRef {
            return ChoiceRef{
                .field = &params.model, .name = ModelText, .set = SetModel};
          },
          .choices = ModelNames()};
}

const Param kModelParams[] = {
    Row("model", ModelField(), Any(), "",
        "Network: a ResNet, LeNet-5 for images of 28 pixels, or a published "
        "network, whose name sets the parameters of its layers.")
        .OfNetwork(),
    Common(Row("resnet_depth",
               ChoiceField<kResNetDepths, &P::model, &M::depth>(), Any(),
               "layers", "Number of layers of the ResNet."))
        .OfNetwork(),
    Row("model_variant", ChoiceField<kModelVariants, &P::model, &M::variant>(),
        Any(), "",
        "Geometry and tensor names of the ResNet: torchvision's, the reference "
        "driver's, or the XLA.jl article's.")
        .OfNetwork()
        .NotFor("model", "lenet"),
    Row("pre_activation", Field<&P::model, &M::pre_activation>(), Any(), "",
        "Put batch norm and ReLU before each convolution (ResNet v2).")
        .OfNetwork()
        .NotFor("model", "lenet"),
    Row("small_stem", Field<&P::model, &M::small_stem>(), Any(), "",
        "Begin with a 3x3 convolution and no pool, for images of 32 to 64 "
        "pixels.")
        .OfNetwork()
        .NotFor("model", "lenet"),
    Row("use_resnetd_stem", Field<&P::model, &M::resnetd_stem>(), Any(), "",
        "Begin with three 3x3 convolutions instead of one of 7x7 (ResNet-D).")
        .OfNetwork()
        .NotFor("model", "lenet"),
    Row("resnetd_shortcut", Field<&P::model, &M::resnetd_shortcut>(), Any(), "",
        "Average before the 1x1 convolution of a shortcut with stride 2 "
        "(ResNet-D).")
        .OfNetwork()
        .NotFor("model", "lenet"),
    Row("replace_stem_max_pool", Field<&P::model, &M::replace_stem_max_pool>(),
        Any(), "",
        "Use a 3x3 convolution with stride 2 instead of the first pool.")
        .OfNetwork()
        .NotFor("model", "lenet"),
    Row("channels", Field<&P::model, &M::channels>(),
        Between(1, kMaxInputChannels), "channels",
        "Input channels of a ResNet: red, green and blue; 1 for gray images, "
        "the luminance of each pixel; others take the colors in turn.")
        .OfNetwork()
        .OnDevice()
        .NotFor("model", "lenet"),
    Row("zero_gamma", Field<&P::model, &M::zero_gamma>(), Any(), "",
        "Start each block as its shortcut alone: the scale of its last batch "
        "norm is 0.")
        .NotFor("model", "lenet"),
    Row("se_ratio", Field<&P::model, &M::se_ratio>(), Between(0, 1), "",
        "Squeeze-and-excitation ratio in bottleneck blocks; 0: none.")
        .OfNetwork()
        .NotFor("model", "lenet"),
    Row("drop_connect_rate", Field<&P::model, &M::drop_connect_rate>(),
        BelowOne(), "",
        "Probability that a sample skips the last bottleneck block's branch "
        "(stochastic depth); earlier blocks have less.")
        .NotFor("model", "lenet"),
    Row("drop_connect_growth",
        ChoiceField<kDropGrowths, &P::model, &M::drop_connect_growth>(), Any(),
        "",
        "Growth of drop_connect_rate towards the last block: by group of "
        "blocks, as the reference, or by block from 0, as timm.")
        .NotFor("model", "lenet")
        .Needs("drop_connect_rate"),
    Row("dropout_rate", Field<&P::model, &M::dropout_rate>(), BelowOne(), "",
        "Dropout probability of the features before the classifier.")
        .NotFor("model", "lenet"),
    Row("dropblock_groups", Field<&P::dropblock_groups>(), Any(), "",
        "Groups of blocks with DropBlock, as '3,4'.", "none")
        .NotFor("model", "lenet")
        .Needs("dropblock_keep_prob"),
    Row("dropblock_keep_prob",
        Field<&P::model, &M::drop_block, &DropBlockOptions::keep_prob>(),
        Between(0, 1), "",
        "Fraction of the features that DropBlock keeps at the end of the "
        "training.",
        "needed with groups")
        .Needs("dropblock_groups"),
    Row("dropblock_size",
        Field<&P::model, &M::drop_block, &DropBlockOptions::size>(),
        Between(1, 4096), "pixels", "Side of the squares that DropBlock drops.")
        .Needs("dropblock_groups"),
    Row("bn_momentum", Field<&P::model, &M::bn_momentum>(), BelowOne(), "",
        "Batch-norm momentum: fraction of the running mean and variance kept "
        "per step (PyTorch's is 1 minus this).")
        .NotFor("model", "lenet"),
    Row("fused_batch_norm",
        ChoiceField<kFusedNorms, &P::model, &M::fused_batch_norm>(), Any(), "",
        "Train with batch norm, sum and ReLU as one operation; on a GPU, "
        "kernels that access memory less often, also for the max pool; "
        "auto: on a GPU with batch_norm_group=1."),
    Row("stem_layout", ChoiceField<kStemLayouts, &P::model, &M::stem_layout>(),
        Any(), "",
        "Images for a first convolution of 7x7: pixel by pixel, or squares of "
        "2x2 pixels as 16 channels, where their sides are even; results differ "
        "by rounding.")
        .NotFor("model", "lenet")
        .NotFor("small_stem", "true")
        .NotFor("use_resnetd_stem", "true"),
    Row("conv_statistics",
        ChoiceField<kConvStatistics, &P::model, &M::conv_statistics>(), Any(),
        "",
        "Statistics of a batch norm after a convolution, on a GPU in bfloat16 "
        "or float16: by a pass over the images, or by the convolution, where "
        "cuDNN has a kernel for both; fused: and a convolution computes norm "
        "and ReLU before it, in float16 only; results differ by rounding.")
        .NotFor("model", "lenet")
        .NotFor("pre_activation", "true")
        .NotFor("fused_batch_norm", "false")
        .NotFor("precision", "float32"),
    Row("batch_norm_group", Field<&P::batch_norm_group>(), Between(0, 100'000),
        "ranks",
        "Consecutive ranks that share batch-norm statistics; 1: none, 0: all "
        "ranks.")
        .NotFor("model", "lenet"),
    Input("num_label_classes",
          {.range = Between(0, kMostClasses),
           .help = "Number of classes: outputs of the model.",
           .when_not_given = "as many as the data has"})
        .OfNetwork()
        .OfBatches(),
    Input("label_offset"),
    Common(Row(
        "precision", ChoiceField<kPrecisions, &P::precision>(), Any(), "",
        "Arithmetic of the model; auto: bfloat16 on a GPU, on a CPU the faster "
        "of bfloat16 and float32 by a trial; float16 trains on a GPU only.")),
    Row("loss_scale", Field<&P::loss_scale>(), Any(), "",
        "Factor of the loss in the backward pass, from 1 to 4294967296; auto: "
        "65536, halved after each step whose gradients are not finite and "
        "doubled after 2000 steps without one.")
        .OnlyWith("precision", "float16"),
    Row("cuda_graph", ChoiceField<kGraphReplays, &P::cuda_graph>(), Any(), "",
        "Replay steps as CUDA graphs on a GPU; without, the same work is "
        "launched kernel by kernel, also with true where the GPU rejects "
        "graphs; required makes that an error."),
    Row("deterministic", Field<&P::deterministic>(), Any(), "",
        "On a GPU, use algorithms of cuDNN and cuBLAS that give the same bits "
        "in every run, and do not search for the fastest ones; on a CPU runs "
        "with as many threads have the same bits."),
    Common(Row("resnet_checkpoint", Field<&P::resnet_checkpoint>(), Any(),
               "path",
               "Start from these weights: a model_dir or checkpoint of "
               "train_resnet, safetensors or .pth of torchvision or timm, a "
               "TensorFlow checkpoint, or a name such as resnet18.",
               "from random weights")),
    Row("frozen_stages", Field<&P::model, &M::frozen_stages>(), Between(0, 5),
        "stages",
        "Number of the model's first stages whose weights do not change; 1 "
        "is the stem."),
    Row("freeze_batch_norm", Field<&P::model, &M::freeze_batch_norm>(), Any(),
        "", "Train with the unchanged running statistics of batch norm.")
        .NotFor("model", "lenet"),
};

}  // namespace

std::span<const Param> ModelParams() { return kModelParams; }

}  // namespace infeed
