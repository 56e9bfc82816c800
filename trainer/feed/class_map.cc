#include "trainer/feed/class_map.h"

#include <utility>

namespace infeed {
namespace {

class MappedStream final : public BatchStream {
 public:
  MappedStream(std::unique_ptr<BatchStream> stream,
               std::vector<std::int32_t> to_model)
      : stream_(std::move(stream)), to_model_(std::move(to_model)) {}

  BatchHandle Next() override {
    BatchHandle batch = stream_->Next();
    if (batch != nullptr) {
      for (std::int32_t& label : batch->labels()) {
        // A record to predict may have no label.
        const bool is_class =
            label >= 0 && label < static_cast<std::int32_t>(to_model_.size());
        label = is_class ? to_model_[static_cast<std::size_t>(label)] : -1;
      }
    }
    return batch;
  }
  void Stop() override { stream_->Stop(); }
  [[nodiscard]] StreamPosition position() const override {
    return stream_->position();
  }
  [[nodiscard]] PipelineStats stats() const override {
    return stream_->stats();
  }
  [[nodiscard]] std::int64_t memory_bytes() const override {
    return stream_->memory_bytes();
  }

 private:
  std::unique_ptr<BatchStream> stream_;
  std::vector<std::int32_t> to_model_;
};

}  // namespace

void TakeClasses(const ClassMap& classes, InputOptions& input) {
  input.label_offset = classes.label_offset;
  if (!classes.to_model.empty()) {
    input.num_label_classes = static_cast<int>(classes.to_model.size());
  }
}

std::unique_ptr<BatchStream> WithModelClasses(
    std::unique_ptr<BatchStream> stream,
    const std::vector<std::int32_t>& to_model) {
  return to_model.empty()
             ? std::move(stream)
             : std::make_unique<MappedStream>(std::move(stream), to_model);
}

}  // namespace infeed
