# The headers that are installed. The doors are those that programs outside
# include; README.md, docs/ and examples/ show what for. The others are what the
# doors include, no more: walls.doors checks that, that no header of an external
# library is among them, and how many there are.
set(infeed_doors
  base/error.h
  pipeline/engine/input_pipeline.h
  pipeline/order/selection.h
  pipeline/order/selection_choice.h
  pipeline/order/stream_state.h
  pipeline/stats/bottleneck.h
  pipeline/stats/trace_log.h
  preprocess/jpeg/jpeg.h
  records/cloud/cloud_settings.h
  records/example/imagenet_example.h
  records/files/shards.h
  records/store/image_tree.h
  records/store/index_data.h
  records/tfrecord/reader.h
  records/tfrecord/writer.h
  tools/convert/converter.h)
set(infeed_behind_doors
  base/choices.h
  pipeline/engine/batch_stream.h
  pipeline/memory/batch.h
  pipeline/memory/batch_parts.h
  pipeline/options/objects.h
  pipeline/options/option_choices.h
  pipeline/options/options.h
  pipeline/options/views.h
  pipeline/stats/bad_record.h
  pipeline/stats/stats.h
  preprocess/augment/options.h
  preprocess/pixels/image.h
  preprocess/pixels/image_size.h
  preprocess/recipe/geometry.h
  preprocess/recipe/options.h
  records/example/fields.h
  records/files/dataset_info.h
  records/files/shard_set.h
  records/http/options.h
  records/store/record_index.h
  records/tfrecord/compression.h
  tools/convert/converter_options.h
  tools/convert/plan.h
  tools/shards/seek_index_maker.h)
