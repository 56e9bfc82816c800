#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "base/random.h"
#include "pipeline/options/options.h"
#include "pipeline/reading/memory_plan.h"
#include "pipeline/reading/sample_seek_index.h"
#include "pipeline/slots/open_batch.h"
#include "pipeline/slots/view_filler.h"
#include "pipeline/stats/bad_record.h"
#include "pipeline/stats/stage_counters.h"
#include "pipeline/stats/trace_log.h"
#include "preprocess/recipe/recipe.h"
#include "records/example/fields.h"
#include "records/example/imagenet_example.h"
#include "records/example/record_payload.h"
#include "records/store/packed_shard.h"

namespace infeed {

// A sample on its way from a shard to its slot. Owns the record's bytes and its
// decoder; each worker has one and reuses it for its next sample.
struct Sample {
  // Requires: options are checked, and equal to the filler's.
  explicit Sample(const InputOptions& options)
      : specs(ReadFields(options)),
        field_reader(specs, RaggedBytes(options)),
        words(ScratchWords(options)),
        preprocessor(options.preprocess, options.training, UseOfWords(options)),
        views(options) {}

  // The sample's place in the trace. Requires: batch is set.
  [[nodiscard]] TracePlace place() const {
    return {.epoch = key.epoch,
            .position = static_cast<std::int64_t>(key.position),
            .batch = batch->number()};
  }

  // The work on it begins now, and it has not waited.
  void StartNow() { start = since = StageCounter::Clock::now(); }

  OpenBatch* batch = nullptr;
  int slot = 0;
  SampleKey key = {};
  std::int64_t record = 0;
  int draw = 0;  // 0: the position's own record; k: the k-th substitute for it
  Access access = Access::kInOrder;
  std::vector<std::byte> buffer = {};
  RecordPayload payload = {};  // a view into buffer, or a mapped file
  // Of the payload in use, also of one from the cache.
  std::size_t payload_bytes = 0;
  std::optional<std::uint32_t> stored_crc = {};
  ImagenetExampleView example = {};      // views into buffer, or the cache
  std::vector<FieldSpec> specs;          // ReadFields()
  std::vector<FieldColumn> fields = {};  // of the ragged ones, one list each
  std::vector<FieldPlace> field_places = {};
  FieldReader field_reader;
  int cut_lists = 0;                     // of the record
  std::vector<float> boxes = {};         // x1, y1, x2, y2 of each
  std::vector<std::uint32_t> kept = {};  // their indexes in the record
  SampleSeekIndex seek_index = {};
  // The step that is running: the kind of a failure in it.
  BadRecordKind stage = BadRecordKind::kFrame;
  std::exception_ptr failure = {};             // why the record was not loaded
  StageCounter::Clock::time_point start = {};  // of the work on it
  StageCounter::Clock::time_point since = {};  // waiting since; in the end, now
  // The packed pixels before they are unpacked into a batch of RGB bytes; else
  // empty.
  std::vector<std::uint32_t> words;
  Preprocessor preprocessor;
  ViewFiller views;
};

}  // namespace infeed
