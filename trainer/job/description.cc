#include "trainer/job/description.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "records/files/open_source.h"
#include "records/http/secrets_guard.h"
#include "trainer/feed/fake_data.h"
#include "trainer/log/machine_check.h"
#include "trainer/model_dir/model_dir.h"
#include "trainer/params/params.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// An absolute path; a URL without its secrets. If there is no working
// directory, the path is returned unchanged.
std::string PathText(const std::string& path) {
  if (IsUrl(path) || IsFakeData(path)) {
    return WithoutUrlSecrets(path);
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

std::string WorkingFolder() {
  std::error_code error;
  return fs::current_path(error).string();
}

// The text by which a resumed run compares its data.
std::string DataIdentity(const DataSet& data) {
  std::string text = data.is_fake() ? "fake data" : "";
  for (const std::optional<DataSplit>* split : {&data.train(), &data.eval()}) {
    if (*split) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", (*split)->name,
                          (*split)->index.identity());
    }
  }
  return text;
}

}  // namespace

RunOrigin OriginOf(const Job& job) {
  const RunOptions& options = job.options;
  return {{"command", CommandText(options.command)},
          {"folder", WorkingFolder()},
          {"version", options.version},
          {"commit", options.commit},
          {"host", HostName()},
          {"processor", fmt::format("{} ({} threads)", ProcessorName(),
                                    std::thread::hardware_concurrency())},
          {"device", job.device.Describe()},
          {"libtorch", TorchVersion()},
          {"ranks", job.ranks.place().Describe()},
          {"data_dir", PathText(options.data_dir)},
          {"data", job.data.Describe()},
          {"data_identity", DataIdentity(job.data)},
          {"model", fmt::format("{}, {} parameters", ModelName(job.params),
                                job.device.parameter_count())},
          {"environment", EnvironmentText(environ)}};
}

void WriteDescription(const Job& job) {
  const std::string& model_dir = job.options.model_dir;
  if (!job.data.is_fake()) {
    DataLabels(job).Save(model_dir);
  }
  // Written last: an evaluation that waits for this training starts once it
  // exists.
  WriteFileAtomically(
      ParamsPath(model_dir),
      ToYaml(job.resolved) + "# The run:\n" + YamlComments(OriginOf(job)));
}

}  // namespace infeed
