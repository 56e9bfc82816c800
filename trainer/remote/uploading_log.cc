#include "trainer/remote/uploading_log.h"

#include <utility>

namespace infeed {

UploadingLog::UploadingLog(std::unique_ptr<RunLog> log, Hearers hearers)
    : log_(std::move(log)), hearers_(std::move(hearers)) {}

void UploadingLog::BeginLoop(double waited) { log_->BeginLoop(waited); }

void UploadingLog::FirstBatch(const Batch& batch) { log_->FirstBatch(batch); }

void UploadingLog::Step(const StepResult& result, double waited) {
  log_->Step(result, waited);
}

void UploadingLog::EndLoop(const LoopEnd& end, const PipelineStats& input,
                           const PipelineStats& of_all_loops) {
  log_->EndLoop(end, input, of_all_loops);
}

void UploadingLog::Evaluation(std::int64_t step, const EvalResult& result) {
  log_->Evaluation(step, result);
}

void UploadingLog::CheckpointWritten(std::int64_t step,
                                     const std::string& folder) {
  log_->CheckpointWritten(step, folder);
  hearers_.checkpoint(step, folder);
}

void UploadingLog::End(std::int64_t step, RunEnd end) {
  log_->End(step, end);
  hearers_.end();
}

void UploadingLog::Say(const std::string& line) { log_->Say(line); }

double UploadingLog::images_per_second() const {
  return log_->images_per_second();
}

std::string UploadingLog::device_text() const { return log_->device_text(); }

RunTimes UploadingLog::times() const { return log_->times(); }

}  // namespace infeed
