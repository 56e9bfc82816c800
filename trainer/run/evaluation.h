#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "pipeline/order/options.h"
#include "records/store/record_index.h"
#include "trainer/loop/device_loop.h"
#include "trainer/ranks/ranks.h"
#include "trainer/scores/eval_result.h"

namespace infeed {

// Evaluates the model on every record of the index, each exactly once, in its
// order; null: on fake data. Bad records are left out and counted. `input` says
// how to read; its training, shuffle and on_bad_record are not used. nullopt
// when it was asked to stop. Throws DataError when no record is good.
//
// With several ranks, each takes the part of the records that `input` says, and
// what they found is added up: the result is the same on all of them. All stop
// where one was asked to.
[[nodiscard]] std::optional<EvalResult> Evaluate(DeviceLoop& device,
                                                 const RecordIndex* index,
                                                 InputOptions input,
                                                 Ranks& ranks,
                                                 const std::stop_token& stop);

// "evaluation at step 120: top-1 91.2 %  top-5 99.8 %  loss 0.312  (500 images,
// 210.3 images/s)", with the metric by which checkpoints are kept (keep_best)
// behind the loss where it is another one.
[[nodiscard]] std::string EvalText(std::int64_t step, const EvalResult& result,
                                   std::string_view keep_best);

}  // namespace infeed
