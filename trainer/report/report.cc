#include "trainer/report/report.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "trainer/model_dir/model_dir.h"
#include "trainer/report/page.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// What lies beside the report and is worth a link: everything but what is
// still being written. A folder that cannot be listed has none.
std::vector<std::string> FilesIn(const std::string& model_dir) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(model_dir, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.') && name != kReportFile) {
      files.push_back(entry.is_directory(error) ? name + "/" : name);
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

Report::Report(const std::string& model_dir, ReportSubject subject)
    : model_dir_(model_dir),
      subject_(std::move(subject)),
      history_(model_dir) {}

void Report::Write(ReportState state) {
  history_.Update();
  state.files = FilesIn(model_dir_);
  WriteFileAtomically(PathIn(model_dir_, kReportFile),
                      ReportPage(subject_, history_, state));
}

}  // namespace infeed
