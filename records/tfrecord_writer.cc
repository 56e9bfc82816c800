#include "records/tfrecord_writer.h"

#include "records/tfrecord_format.h"

namespace infeed {

void TfrecordWriter::Append(std::span<const std::byte> payload) {
  file_.Write(EncodeFrameHeader(payload.size()));
  file_.Write(payload);
  file_.Write(EncodeFrameFooter(payload));
  ++records_;
}

void TfrecordWriter::Append(std::string_view payload) {
  Append(std::as_bytes(std::span(payload)));
}

}  // namespace infeed
