#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stats/live_stats.h"
#include "pipeline/stats/trace_log.h"
#include "trainer/params/mode.h"
#include "trainer/params/params.h"
#include "trainer/ranks/place.h"

namespace infeed {

class RunStorage;

struct RunOptions {
  std::string data_dir;  // "null": made-up images; "" where none is needed
  std::string model_dir;
  Mode mode = Mode::kTrainAndEval;
  std::string device = "auto";  // auto, cpu, cuda, cuda:N
  // Which checkpoint a run goes on from: "auto" is the newest whole one,
  // "best" the one that best.json names, "never" none; else the step of one, or
  // its path.
  std::string resume = "auto";
  // Resume from a checkpoint that another data set or configuration wrote.
  bool force = false;

  // kEval: seconds to wait for a checkpoint newer than the one evaluated, again
  // and again until the last step's; absent: one evaluation.
  std::optional<double> eval_timeout;

  // kPredict: files, folders or shards; none: the data's images. 0: the
  // evaluation's batch, all images.
  std::vector<std::string> inputs;
  int predict_batch_size = 0;
  std::int64_t num_test_images = 0;
  std::string predictions_page;  // an HTML file, or an object; "": none

  // kExport, and at the end of a training that has a folder: what to write
  // there. No formats: the exporter's choice.
  std::string export_dir;
  std::vector<std::string> formats;  // onnx, safetensors, torchscript
  int export_batch_size = 0;         // of the ONNX file; 0: any

  // kDoctor: print JSON.
  bool json = false;
  // Check data, model, memory, disk and device, say what would run, and end.
  bool dry_run = false;
  // How it was started, and the program: told to whoever reads what it leaves.
  std::vector<std::string> command = {};
  std::string version = {};  // "0.1.0"
  std::string commit = {};   // that it was built from
  // Who trains together, and for how long one waits for another.
  RankPlace place = {};
  std::chrono::seconds rank_timeout{300};
  // Who watches; both may be null, and must outlive the run.
  LiveStats* live_stats = nullptr;  // is shown the training's input
  TraceLog* trace = nullptr;        // gets the spans of every input pipeline
  // Null where all folders are on this disk; must outlive the run.
  RunStorage* storage = nullptr;
  RunParams params;  // layered; what the data decides is still open
};

}  // namespace infeed
