#include "tools/inspect/bad_records.h"

#include "base/error.h"
#include "base/shown_text.h"
#include "records/files/open_source.h"

namespace infeed {

ReportRow BadRecordsRow(const std::string& key, const std::string& path,
                        const std::vector<DamagedRecord>& bad) {
  const std::string shown = PathForMessages(path);
  std::vector<ReportTable> rows;
  for (const DamagedRecord& record : bad) {
    const DataError error({shown, record.record, record.offset}, record.reason);
    rows.push_back({{"record", record.record},
                    {"offset", record.offset},
                    {"reason", record.reason, ShownText(error.what()) + "\n"}});
  }
  return ListRow(key, rows);
}

}  // namespace infeed
