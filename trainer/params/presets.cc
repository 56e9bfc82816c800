#include "trainer/params/presets.h"

#include <algorithm>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "base/choices.h"
#include "base/error.h"
#include "pipeline/options/option_text.h"

namespace infeed {
namespace {

// Parameters not listed have their defaults: momentum 0.9, weight_decay 1e-4...
// docs/recipes.md describes the presets.
constexpr Preset kPresets[] = {
    // tensorflow/tpu, models/official/resnet/configs/cloud/v3-8.yaml, with the
    // reference's steps_per_eval. num_train_images comes from the data.
    {"tpu_reference",
     "model_variant=tpu,train_steps=113854,train_batch_size=1024,"
     "eval_batch_size=1024,iterations_per_loop=113854,skip_host_call=true,"
     "steps_per_eval=1251,precision=bfloat16,use_cache=true"},
    // MLPerf training v4.0's reference convergence points, resnet_ref_4096: a
    // polynomial of 42 epochs (13,137 steps) after 5 of warm-up; it converged
    // after 39 to 42 epochs.
    {"mlperf",
     "model_variant=tpu,train_batch_size=4096,train_steps=14700,optimizer=lars,"
     "poly_rate=10,warmup_epochs=5,weight_decay=2e-4,label_smoothing=0.1,"
     "iterations_per_loop=1251,steps_per_eval=1251,eval_batch_size=1024,"
     "precision=bfloat16,stop_at_top_1=0.759"},
    // pytorch/vision, references/classification: 8 x 32 images.
    {"torchvision_v1",
     "recipe=torchvision,train_batch_size=256,train_epochs=90,"
     "base_learning_rate=0.1,learning_rate_schedule=steps,warmup_epochs=0,"
     "use_nesterov=false,weight_decay=1e-4,weight_decay_scope=all,"
     "zero_gamma=false,precision=float32"},
    // pytorch/vision, references/classification: 8 x 128 images, rate 0.5. Its
    // --model-ema keeps 1 - 2e-5 * 1024 * 32 / 600 every 32 steps.
    {"torchvision_v2",
     "recipe=torchvision,train_batch_size=1024,train_epochs=600,"
     "base_learning_rate=0.125,learning_rate_schedule=cosine,warmup_epochs=5,"
     "warmup_factor=0.01,use_nesterov=false,weight_decay=2e-5,"
     "weight_decay_scope=all,norm_weight_decay=0,label_smoothing=0.1,"
     "mixup_alpha=0.2,cutmix_alpha=1,augment_name=trivialaugment,"
     "augment_interpolation=bilinear,"
     "random_erasing=0.1,erasing_mode=mean,repeat_augment=4,"
     "image_size_schedule='0:176',eval_resize=232,"
     "moving_average_decay=0.998907733,moving_average_every=32,"
     "moving_average_warmup=follow,"
     "zero_gamma=false,precision=float32"},
    // ResNet strikes back (arXiv 2110.00476), table 2; timm's train.py for the
    // rest.
    {"timm_a1",
     "recipe=torchvision,interpolation=antialias_random,train_batch_size=2048,"
     "train_epochs=600,optimizer=lamb,"
     "base_learning_rate=0.005,learning_rate_scaling=none,"
     "clip_gradient_norm=1,"
     "learning_rate_schedule=cosine,schedule_after_warmup=false,"
     "warmup_epochs=5,warmup_factor=0.0002,min_learning_rate=1e-6,"
     "weight_decay=0.01,weight_decay_scope=weights,loss=bce,"
     "bce_target_threshold=0.2,label_smoothing=0.1,mixup_alpha=0.2,"
     "cutmix_alpha=1,augment_name=timm_randaugment,randaug_magnitude=7,"
     "randaug_magnitude_std=0.5,repeat_augment=3,drop_connect_rate=0.05,"
     "drop_connect_growth=block,eval_crop=0.95"},
    {"timm_a2",
     "train_epochs=300,weight_decay=0.02,label_smoothing=0,mixup_alpha=0.1",
     "timm_a1"},
    {"timm_a3",
     "train_epochs=100,image_size_schedule='0:160',base_learning_rate=0.008,"
     "warmup_factor=0.000125,randaug_magnitude=6,repeat_augment=1,"
     "drop_connect_rate=0,drop_connect_growth=group",
     "timm_a2"},
    // keyu-tian/SparK, downstream_imagenet, in float32; LAMB as in
    // open-mmlab/mmpretrain's configuration of it (configs/spark).
    {"rsb_finetune",
     "recipe=torchvision,interpolation=antialias_bicubic,train_batch_size=4096,"
     "train_epochs=300,optimizer=lamb,base_learning_rate=0.002,"
     "learning_rate_schedule=cosine,warmup_epochs=5,warmup_factor=0.005,"
     "min_learning_rate=3.2e-5,layer_decay=0.7,layer_decay_blocks=3,"
     "weight_decay=0.02,weight_decay_scope=weights,loss=bce,"
     "label_smoothing=0.1,mixup_alpha=0.1,cutmix_alpha=1,"
     "augment_name=trivialaugment,augment_interpolation=bicubic,"
     "random_erasing=0.25,erasing_mode=pixel,drop_connect_rate=0.05,"
     "drop_connect_growth=block,eval_crop=0.95,moving_average_decay=0.9999,"
     "moving_average_warmup=none,eval_live_weights=true,batch_norm_group=0,"
     "precision=float32"},
    // libffcv/ffcv-imagenet, rn50_configs/rn50_16_epochs.yaml: 8 x 512 images
    // with the rate 1.7.
    {"ffcv_16",
     "recipe=torchvision,train_batch_size=1024,train_epochs=16,"
     "base_learning_rate=0.10625,learning_rate_schedule=linear,"
     "warmup_epochs=2,use_nesterov=false,weight_decay=1e-4,"
     "weight_decay_scope=reference,label_smoothing=0.1,zero_gamma=false,"
     "image_size=256,image_size_schedule='0:160,12:192',eval_crops=2"},
    // The X10 tutorial: pixels divided by 255.
    {"x10_lenet",
     "model=lenet,image_size=28,recipe=plain,normalization=unit,"
     "train_batch_size=128,eval_batch_size=128,last_batch=pad,train_epochs=5,"
     "base_learning_rate=0.1,learning_rate_scaling=none,"
     "learning_rate_schedule=constant,momentum=0,use_nesterov=false,"
     "weight_decay=0,precision=float32,epoch_lines=true"},
    // The XLA.jl ResNet article. Its notebook's later run had the rate 0.01 and
    // 10,000 steps.
    {"xla_jl",
     "model_variant=xla_jl,resnet_depth=50,num_label_classes=1000,"
     "recipe=plain,train_batch_size=128,"
     "train_steps=1000,iterations_per_loop=1000,steps_per_eval=1000,"
     "base_learning_rate=0.001,learning_rate_scaling=none,"
     "learning_rate_schedule=constant,momentum=0,use_nesterov=false,"
     "weight_decay=0,zero_gamma=false"},
    {"lenet_best",
     "model=lenet,image_size=28,recipe=cifar,random_flip=false,"
     "normalization=unit,"
     "train_batch_size=128,eval_batch_size=128,last_batch=pad,"
     "train_epochs=20,base_learning_rate=0.02,learning_rate_scaling=none,"
     "learning_rate_schedule=cosine,warmup_epochs=1,momentum=0.9,"
     "weight_decay=5e-4,"
     "precision=float32,epoch_lines=true"},
    // Ours, after the usual recipe for CIFAR-10.
    {"cifar",
     "resnet_depth=18,small_stem=true,image_size=32,recipe=cifar,"
     "train_batch_size=128,train_epochs=30,base_learning_rate=0.1,"
     "learning_rate_scaling=none,learning_rate_schedule=cosine,"
     "warmup_epochs=1,weight_decay=5e-4,zero_gamma=false"},
    {"finetune",
     "train_epochs=15,learning_rate_schedule=cosine,warmup_epochs=1,"
     "body_learning_rate_factor=0.1"},
};

}  // namespace

std::span<const Preset> Presets() { return kPresets; }

const Preset& FindPreset(std::string_view name) {
  const Preset* const found = std::ranges::find(kPresets, name, &Preset::name);
  if (found == std::end(kPresets)) {
    throw UsageError(
        fmt::format("preset={}: must be {}", name, ChoicesText(PresetNames())));
  }
  return *found;
}

std::string_view PresetNames() {
  static const std::string names = JoinNames(kPresets, &Preset::name);
  return names;
}

}  // namespace infeed
