#pragma once

#include <cstddef>
#include <memory>

#include "records/bytes/byte_source.h"
#include "tools/convert/record_maker.h"

namespace infeed {

struct ImageFile;

// An image on its way into its shard, or the end of a shard.
struct ConversionItem {
  std::size_t shard = 0;             // as the steps number them
  const ImageFile* image = nullptr;  // nullptr: the shard is complete
  // The image's object being fetched; null: the image is a file.
  std::unique_ptr<ByteSource> fetched = nullptr;
  ImageRecord record = {};  // made by Encode()
};

// The steps of a conversion, independent of threads and order.
class ConversionSteps {
 public:
  virtual ~ConversionSteps() = default;
  // Sets shard and image of the next item: the items of a shard come together,
  // its end last. False: there are no more. One call at a time.
  virtual bool Next(ConversionItem& item) = 0;
  // Makes the record of an image. From several threads at once, in any order.
  virtual void Encode(ConversionItem& item) = 0;
  // Appends the record of an image. One call at a time, in the order of Next().
  virtual void Append(ConversionItem& item) = 0;
  // Completes a shard, all of whose images were appended. From several threads
  // at once, in any order.
  virtual void Finish(std::size_t shard) = 0;
};

struct ConversionGraphOptions {
  int threads = 1;           // encoding threads; > 0
  int images_in_flight = 4;  // begun and not yet appended; > 0
};

// Runs the steps as a oneTBB pipeline and returns when all items are done:
//
//   Next ► Encode ► Append ► Finish
//
// Next and Append run one at a time and in order, Encode and Finish in
// parallel. As the items are images, all cores have work with any number of
// shards; memory is bounded by the images in flight. Finish() waits for the
// disk in one thread beside the encoding threads.
//
// An exception of a step ends the run: no further item begins, and this
// function rethrows the exception. One of Next() or Encode() waits until the
// items before it are appended, so the reported bad image does not depend on
// the number of threads.
void RunConversionGraph(ConversionSteps& steps,
                        const ConversionGraphOptions& options);

}  // namespace infeed
