#include "records/files/class_list.h"
#include "trainer/params/ranges.h"

namespace infeed {
namespace {

using P = TrainParams;

const Param kTable[] = {
    {"model", &P::model, OneOf("resnet|lenet"), "",
     "Network: a ResNet, or LeNet-5 for images of 28 pixels.", ""},
    {"resnet_depth", &P::resnet_depth,
     OneOf("18|34|50|101|152|200|270|350|420"), "layers",
     "Number of layers of the ResNet.", ""},
    {"model_variant", &P::model_variant, OneOf("torchvision|tpu|xla_jl"), "",
     "Geometry and tensor names of the ResNet: torchvision's, the reference "
     "driver's, or the XLA.jl article's.",
     ""},
    {"pre_activation", &P::pre_activation, Any(), "",
     "Put batch norm and ReLU before each convolution (ResNet v2).", ""},
    {"small_stem", &P::small_stem, Any(), "",
     "Begin with a 3x3 convolution and no pool, for images of 32 to 64 pixels.",
     ""},
    {"use_resnetd_stem", &P::use_resnetd_stem, Any(), "",
     "Begin with three 3x3 convolutions instead of one of 7x7 (ResNet-D).", ""},
    {"resnetd_shortcut", &P::resnetd_shortcut, Any(), "",
     "Average before the 1x1 convolution of a shortcut with stride 2 "
     "(ResNet-D).",
     ""},
    {"replace_stem_max_pool", &P::replace_stem_max_pool, Any(), "",
     "Use a 3x3 convolution with stride 2 instead of the first pool.", ""},
    {"zero_gamma", &P::zero_gamma, Any(), "",
     "Start each block as its shortcut alone: the scale of its last batch norm "
     "is 0.",
     ""},
    {"se_ratio", &P::se_ratio, Between(0, 1), "",
     "Squeeze-and-excitation ratio in bottleneck blocks; 0: none.", ""},
    {"drop_connect_rate", &P::drop_connect_rate, BelowOne(), "",
     "Probability that a sample skips the last bottleneck block's branch "
     "(stochastic depth); earlier blocks have proportionally less.",
     ""},
    {"dropout_rate", &P::dropout_rate, BelowOne(), "",
     "Dropout probability of the features before the classifier.", ""},
    {"dropblock_groups", &P::dropblock_groups, Any(), "",
     "Groups of blocks with DropBlock, as '3,4'.", "none"},
    {"dropblock_keep_prob", &P::dropblock_keep_prob, Between(0, 1), "",
     "Share that DropBlock keeps at the end of the training.",
     "needed with groups"},
    {"dropblock_size", &P::dropblock_size, Between(1, 4096), "pixels",
     "Side of the squares that DropBlock drops.", ""},
    {"bn_momentum", &P::bn_momentum, BelowOne(), "",
     "Batch-norm momentum: fraction of the running mean and variance kept per "
     "step (PyTorch's is 1 minus this).",
     ""},
    {"bn_epsilon", &P::bn_epsilon, Positive(), "",
     "Number that batch norm adds to the variance.", ""},
    {"fused_batch_norm", &P::fused_batch_norm, Any(), "",
     "Train with batch norm, sum and ReLU as one operation; on a GPU, kernels "
     "that go over the memory less often.",
     ""},
    {"batch_norm_group", &P::batch_norm_group, Between(0, 100'000), "ranks",
     "Consecutive ranks that share the statistics of their batch norms; 1: "
     "each its own, 0: all together.",
     ""},
    {"num_label_classes", &P::num_label_classes, Between(0, kMostClasses),
     "classes", "Number of classes: outputs of the model.",
     "as many as the data has"},
    {"label_offset", &P::label_offset, OneOf("auto|0|1"), "",
     "Label of the first class in the records; auto: what dataset.json says, "
     "else 0 where a label 0 occurs, else 1.",
     ""},
    {"precision", &P::precision, OneOf("auto|bfloat16|float32"), "",
     "Arithmetic of the model; auto: bfloat16 on a GPU, on a CPU the faster of "
     "both by a trial.",
     ""},
    {"cuda_graph", &P::cuda_graph, Any(), "",
     "Replay steps as CUDA graphs on a GPU; without, the same work is launched "
     "kernel by kernel.",
     ""},
    {"resnet_checkpoint", &P::resnet_checkpoint, Any(), "",
     "Start from these weights: a model_dir or a checkpoint of ours, "
     "safetensors or .pth of torchvision or timm, or a TensorFlow checkpoint.",
     "from random weights"},
    {"frozen_stages", &P::frozen_stages, Between(0, 5), "stages",
     "Number of the model's first stages whose weights stay as they are; 1 is "
     "the stem.",
     ""},
    {"freeze_batch_norm", &P::freeze_batch_norm, Any(), "",
     "Train with the running statistics of batch norm, and keep them.", ""},
};

}  // namespace

std::span<const Param> ModelParams() { return kTable; }

}  // namespace infeed
