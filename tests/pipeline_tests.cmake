# Data sets and streams for tests of the pipeline and of what is above it.
add_library(pipeline_test_support STATIC
  support/shard_builder.cc support/stream_reader.cc)
target_include_directories(pipeline_test_support PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(pipeline_test_support
  PUBLIC infeed::pipeline test_jpeg PRIVATE infeed_options)

infeed_test(pipeline_test
  SOURCES
    bad_record_ledger_test.cc
    bad_record_report_test.cc
    batch_plan_test.cc
    batch_test.cc
    batch_windows_test.cc
    bottleneck_test.cc
    consumer_counts_test.cc
    counted_errors_test.cc
    cpu_load_test.cc
    input_options_test.cc
    keyed_permutation_test.cc
    label_class_test.cc
    live_stats_test.cc
    memory_limit_test.cc
    memory_plan_test.cc
    open_batch_test.cc
    page_memory_test.cc
    prefetcher_test.cc
    preprocessor_pool_test.cc
    rank_share_test.cc
    record_cache_test.cc
    reference_order_test.cc
    sample_order_test.cc
    selection_test.cc
    slot_filler_test.cc
    stage_counters_test.cc
    stats_json_test.cc
    stats_prometheus_test.cc
    stats_scalars_test.cc
    stats_table_test.cc
    stream_state_test.cc
    stats_test.cc
    storage_reads_test.cc
    thousand_ranks_test.cc
    torch_order_test.cc
    trace_log_test.cc
    verdict_test.cc
    window_order_test.cc
  LIBRARIES pipeline_test_support nlohmann_json::nlohmann_json
  LABELS core)
target_compile_definitions(pipeline_test PRIVATE
  INFEED_DOCS="${PROJECT_SOURCE_DIR}/docs")
add_dependencies(core_tests pipeline_test)
add_dependencies(tsan_tests pipeline_test)

infeed_test(input_pipeline_test
  SOURCES
    closed_arena_test.cc
    damaged_shards_test.cc
    input_graph_test.cc
    input_order_test.cc
    input_pipeline_augment_test.cc
    input_pipeline_cache_test.cc
    input_pipeline_errors_test.cc
    input_pipeline_labels_test.cc
    input_pipeline_life_test.cc
    input_pipeline_seek_test.cc
    input_pipeline_state_test.cc
    input_pipeline_test.cc
    input_pipeline_trace_test.cc
    input_pipeline_url_test.cc
    packed_pipeline_test.cc
    support/loopback_server.cc
    support/served_object.cc
  LIBRARIES pipeline_test_support nlohmann_json::nlohmann_json TBB::tbb
  SOURCES autotune_test.cc closed_arena_test.cc input_graph_test.cc
          input_pipeline_errors_test.cc input_pipeline_seek_test.cc
          input_pipeline_test.cc input_pipeline_url_test.cc
          packed_pipeline_test.cc
          support/loopback_server.cc support/served_object.cc
  LIBRARIES pipeline_test_support TBB::tbb
  LABELS tbb)
add_dependencies(core_tests input_pipeline_test)

infeed_test(peak_memory_test
  SOURCES peak_memory_test.cc
  LIBRARIES pipeline_test_support
  LABELS end_to_end)
add_dependencies(peak_memory_test pipeline_throughput)

# A program of its own: it counts what it takes from the heap, by functions that
# sanitizers have too.
if(NOT INFEED_SANITIZE)
  # So does this one, by what the C library's allocator says.
  infeed_test(thousand_ranks_memory_test
    SOURCES thousand_ranks_memory_test.cc
    LIBRARIES pipeline_test_support
    LABELS core)
  # It walks orders for seconds.
  infeed_test(cluster_scale_test
    SOURCES cluster_scale_test.cc
    LIBRARIES cluster_costs infeed::pipeline infeed::trainer_host
    LABELS core)
  target_compile_definitions(cluster_scale_test PRIVATE
    INFEED_DOCS="${PROJECT_SOURCE_DIR}/docs")
  infeed_test(warm_allocations_test
    SOURCES warm_allocations_test.cc
    LIBRARIES pipeline_test_support
    LABELS tbb)
endif()
infeed_test(throughput_test
  SOURCES made_shards_test.cc
          median_test.cc
          paced_device_test.cc
          stage_work_test.cc
          throughput_run_test.cc
  LIBRARIES throughput pipeline_test_support infeed::preprocess infeed::records
            nlohmann_json::nlohmann_json
  LABELS core)
add_dependencies(core_tests throughput_test)

# A program of its own: it has a pread() of its own.
infeed_test(read_faults_test
  SOURCES read_faults_test.cc
  LIBRARIES pipeline_test_support
  LABELS tbb)
add_dependencies(core_tests read_faults_test)
# read_faults_test uses descriptors up, of which UBSan needs one to look at an
# object's type; of oneTBB's tasks see pipeline/CMakeLists.txt.
if(INFEED_SANITIZE)
  set_source_files_properties(closed_arena_test.cc read_faults_test.cc
    PROPERTIES COMPILE_OPTIONS -fno-sanitize=vptr)
endif()

infeed_test(pipeline_throughput_test
  SOURCES pipeline_throughput_test.cc support/running_program.cc
  LIBRARIES pipeline_test_support nlohmann_json::nlohmann_json
  LABELS end_to_end)
add_dependencies(pipeline_throughput_test pipeline_throughput)

infeed_test(cpu_counters_test
  SOURCES cpu_counters_test.cc ../bench/cpu_counters.cc
  LIBRARIES infeed::base
  LABELS core)
add_dependencies(core_tests cpu_counters_test)

infeed_test(soak_test
  SOURCES growth_test.cc soak_test.cc ../bench/growth.cc
  LIBRARIES pipeline_test_support fmt::fmt
  LABELS end_to_end)
add_dependencies(soak_test soak)
