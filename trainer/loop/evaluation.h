#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "pipeline/options/options.h"
#include "records/store/record_index.h"
#include "trainer/feed/run_input.h"
#include "trainer/loop/device_loop.h"
#include "trainer/ranks/ranks.h"
#include "trainer/results/eval_result.h"

namespace infeed {

// Evaluates the model on every record of the index, each exactly once, in the
// index's order, or on a sample of input.max_records of them
// (SpreadSelection()); index null: fake data. Bad records are left out and
// counted, unless input.on_bad_record is kFail. input: how to read; its
// training, shuffle and eval_crops are not used; with crops, batch_size counts
// each. nullopt after a stop request. Throws DataError when all records are
// bad, or more than input.max_bad_records of all ranks.
//
// with_live_weights: adds a second pass with the weights themselves, beside the
// pass with their moving average.
//
// classes: maps labels to classes of the model.
//
// With several ranks, each evaluates its part of the records, as set in
// `input`, and the results are summed: the result is the same on all ranks. All
// stop if one was asked to.
[[nodiscard]] std::optional<EvalResult> Evaluate(
    DeviceLoop& device, const RecordIndex* index, InputOptions input,
    const ClassMap& classes, Ranks& ranks, const std::stop_token& stop,
    bool with_live_weights);

// "evaluation at step 120: top-1 91.2 % top-5 99.8 % loss 0.312 (500 images,
// 210.3 images/s)", of another subject than the training's evaluations
// "evaluation at step 120, test-1a2b3c4d: ...". The metric of keep_best follows
// the loss if it is not one of these.
[[nodiscard]] std::string EvalText(std::int64_t step,
                                   const EvalSubject& subject,
                                   const EvalResult& result,
                                   std::string_view keep_best);

}  // namespace infeed
