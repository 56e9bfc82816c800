#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/engine/input_pipeline.h"

namespace infeed {

// Twenty-two good records, made once for a program: five batches of four, and
// two over. Record r has the label r + 1.
[[nodiscard]] const RecordIndex& SharedIndex();

// Batches of four images of 16x16 by two threads, in which a bad record is an
// error: in an order of seed 7, or the records' own order in an evaluation.
[[nodiscard]] InputOptions SmallTraining();
[[nodiscard]] InputOptions SmallEvaluation();

// A copy of a batch's data, so that its handle can be returned.
struct BatchCopy {
  std::vector<std::uint32_t> pixels;  // empty for RGB bytes
  std::vector<std::uint8_t> rgb;      // empty for words
  std::vector<std::int32_t> labels;
  std::vector<float> weights;
  std::vector<std::int64_t> records;
  std::vector<std::int64_t> positions;
  std::uint32_t epoch = 0;
  std::int64_t number = 0;
  std::vector<FieldColumn> fields;
  std::vector<std::vector<std::byte>> fixed;       // of the fixed fields: rows
  std::vector<std::vector<std::int64_t>> lengths;  // and their values
  std::vector<std::vector<std::byte>> views;
  StreamPosition next;

  friend bool operator==(const BatchCopy&, const BatchCopy&) = default;
};

[[nodiscard]] BatchCopy CopyOf(const Batch& batch);

// A copy of all that one slot of a batch has.
struct SlotCopy {
  std::vector<std::byte> image;
  std::int32_t label = 0;
  float weight = 0;
  std::int64_t record = 0;
  std::vector<std::vector<std::byte>> views = {};
  std::vector<std::vector<std::byte>> rows = {};  // of the fixed fields
  std::vector<std::int64_t> lengths = {};         // and their values
  std::vector<FieldColumn> lists = {};
  std::vector<float> boxes = {};
  std::vector<Geometry> geometry = {};  // of the image and each view

  friend bool operator==(const SlotCopy&, const SlotCopy&) = default;
};

[[nodiscard]] SlotCopy SlotOf(const Batch& batch, std::size_t slot);

// Takes up to `count` batches.
[[nodiscard]] std::vector<BatchCopy> TakeBatches(InputPipeline& pipeline,
                                                 int count);

// Makes a pipeline and takes up to `count` of its batches.
[[nodiscard]] std::vector<BatchCopy> Stream(const RecordIndex& index,
                                            const InputOptions& options,
                                            int count,
                                            const StreamPosition& start = {});

// Stream() by the simplest program: no graph, no threads, no pool; one place
// after the other, for data without bad records.
[[nodiscard]] std::vector<BatchCopy> PlainStream(const RecordIndex& index,
                                                 const InputOptions& options,
                                                 int count);

// The labels of some batches, one after the other.
[[nodiscard]] std::vector<std::int32_t> LabelsOf(
    const std::vector<BatchCopy>& batches);

}  // namespace infeed
