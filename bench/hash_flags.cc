#include "bench/hash_flags.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/atomic_file.h"
#include "bench/stream_hash.h"
#include "pipeline/input_pipeline.h"
#include "pipeline/stream_state.h"
#include "tools/number_checks.h"

namespace infeed {
namespace {

// Where --restore says that the stream goes on; else its beginning.
StreamPosition StartOf(const RecordIndex& index, const InputOptions& options,
                       const std::string& restore) {
  constexpr std::int64_t kMostBytes = 1 << 20;
  return restore.empty() ? StreamPosition{}
                         : ResumePosition(ReadWholeFile(restore, kMostBytes),
                                          index, options);
}

// Of so many batches, or of all that there are.
std::string HashOf(InputPipeline& pipeline, std::int64_t batches) {
  StreamHash hash;
  for (std::int64_t i = 0; i < batches; ++i) {
    const BatchHandle batch = pipeline.Next();
    if (batch == nullptr) {
      break;
    }
    hash.Add(*batch);
  }
  return hash.Finish();
}

}  // namespace

void AddHashFlags(CLI::App& app, HashFlags& flags) {
  CLI::Option* const hash =
      app.add_option(
             "--hash", flags.batches,
             "does not measure, but prints the SHA-256 of the pixels and "
             "labels of the first N batches, for each of --threads")
          ->check(PositiveNumber())
          ->type_name("N");
  app.add_option("--save_state", flags.save_state,
                 "writes the stream's state behind those N batches")
      ->needs(hash)
      ->type_name("FILE");
  app.add_option("--restore", flags.restore,
                 "goes on with the stream of that state, which must be of the "
                 "same data and options")
      ->needs(hash)
      ->type_name("FILE");
}

void PrintHashes(const RecordIndex& index, const InputOptions& options,
                 std::span<const int> threads, const HashFlags& flags) {
  const StreamPosition start = StartOf(index, options, flags.restore);
  for (const int count : threads) {
    InputOptions input = options;
    input.threads = count;
    InputPipeline pipeline(index, input, start);
    fmt::print("{}\n", HashOf(pipeline, flags.batches));
    if (!flags.save_state.empty()) {  // The same for any number of threads.
      WriteFileAtomically(flags.save_state, pipeline.State());
    }
  }
}

}  // namespace infeed
