#include "trainer/param_ranges.h"

namespace infeed {
namespace {

using P = TrainParams;

const Param kTable[] = {
    {"model", &P::model, OneOf("resnet|lenet"), "",
     "Which network: a ResNet, or LeNet-5 for images of 28 pixels.", ""},
    {"resnet_depth", &P::resnet_depth,
     OneOf("18|34|50|101|152|200|270|350|420"), "layers", "Which ResNet.", ""},
    {"model_variant", &P::model_variant, OneOf("torchvision|tpu|xla_jl"), "",
     "Whose geometry and names it has: torchvision's, the reference driver's, "
     "or the XLA.jl article's.",
     ""},
    {"pre_activation", &P::pre_activation, Any(), "",
     "Batch norm and ReLU before each convolution (ResNet v2).", ""},
    {"small_stem", &P::small_stem, Any(), "",
     "Begin with a 3x3 convolution and no pool, for images of 32 to 64 pixels.",
     ""},
    {"use_resnetd_stem", &P::use_resnetd_stem, Any(), "",
     "Begin with three 3x3 convolutions instead of one of 7x7.", ""},
    {"resnetd_shortcut", &P::resnetd_shortcut, Any(), "",
     "Average before the 1x1 convolution of a shortcut with stride 2.", ""},
    {"replace_stem_max_pool", &P::replace_stem_max_pool, Any(), "",
     "A 3x3 convolution with stride 2 instead of the first pool.", ""},
    {"zero_gamma", &P::zero_gamma, Any(), "",
     "Each block starts as its shortcut: its last scale is 0.", ""},
    {"se_ratio", &P::se_ratio, Between(0, 1), "",
     "Of squeeze-and-excitation in bottleneck blocks; 0: none.", ""},
    {"drop_connect_rate", &P::drop_connect_rate, BelowOne(), "",
     "How often the last bottleneck block's branch is left out of a sample; "
     "earlier ones in proportion.",
     ""},
    {"dropout_rate", &P::dropout_rate, BelowOne(), "",
     "Of the features before the classifier.", ""},
    {"dropblock_groups", &P::dropblock_groups, Any(), "",
     "Groups of blocks with DropBlock, as '3,4'.", "none"},
    {"dropblock_keep_prob", &P::dropblock_keep_prob, Between(0, 1), "",
     "What DropBlock keeps at the end of the training.", "needed with groups"},
    {"dropblock_size", &P::dropblock_size, Between(1, 4096), "pixels",
     "Side of the squares that it drops.", ""},
    {"bn_momentum", &P::bn_momentum, BelowOne(), "",
     "How much of its moving statistics a batch norm keeps in a step.", ""},
    {"bn_epsilon", &P::bn_epsilon, Positive(), "",
     "What it adds to the variance.", ""},
    {"fused_batch_norm", &P::fused_batch_norm, Any(), "",
     "Train with batch norm, sum and ReLU as one operation: on a GPU, kernels "
     "that go over the memory less often.",
     ""},
    {"batch_norm_group", &P::batch_norm_group, Between(0, 100'000), "ranks",
     "How many ranks in a row share the statistics of their batch norms: 1 is "
     "each its own, 0 all of them.",
     ""},
    {"num_label_classes", &P::num_label_classes, Between(0, 100'000), "classes",
     "Outputs of the model.", "as many as the data has"},
    {"precision", &P::precision, OneOf("auto|bfloat16|float32"), "",
     "Of the model's arithmetic; auto is bfloat16 where the processor is "
     "faster with it.",
     ""},
    {"cuda_graph", &P::cuda_graph, Any(), "",
     "On a GPU: replay steps as CUDA graphs. Without, the same work is "
     "launched "
     "kernel by kernel.",
     ""},
    {"resnet_checkpoint", &P::resnet_checkpoint, Any(), "",
     "Start from these weights: a model_dir or a checkpoint of ours, "
     "safetensors or .pth of torchvision or timm, or a TensorFlow checkpoint.",
     "from random weights"},
    {"frozen_stages", &P::frozen_stages, Between(0, 5), "stages",
     "How many of the model's first stages keep their weights: 1 is the stem.",
     ""},
    {"freeze_batch_norm", &P::freeze_batch_norm, Any(), "",
     "Train with the moving statistics, and keep them.", ""},
};

}  // namespace

std::span<const Param> ModelParams() { return kTable; }

}  // namespace infeed
