# find_package(infeed) gives infeed::base, infeed::records, infeed::preprocess,
# infeed::pipeline, and infeed::convert with the libraries below it. The trainer
# is an application: consumers need no LibTorch, and none needs CLI11.
include(CMakePackageConfigHelpers)
include(cmake/installed_headers.cmake)

foreach(header IN LISTS infeed_doors infeed_behind_doors)
  string(REGEX MATCH "^[^/]+" library ${header})
  string(REGEX REPLACE "^tools$" "convert" library ${library})
  target_sources(infeed_${library} PUBLIC
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
    FILES ${PROJECT_SOURCE_DIR}/${header})
endforeach()

# Where a consumer's program finds the plugins: base/shared_library.h.
set(libraries ${CMAKE_INSTALL_LIBDIR})
if(NOT IS_ABSOLUTE "${libraries}")
  set(libraries $<INSTALL_PREFIX>/${libraries})
endif()
target_link_options(infeed_base INTERFACE
  $<INSTALL_INTERFACE:LINKER:-rpath,${libraries}/infeed>)

set(infeed_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/infeed)
install(TARGETS infeed_base infeed_charts infeed_records infeed_preprocess
                infeed_pipeline infeed_shard_tools infeed_convert
  EXPORT infeedTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/infeed)
install(EXPORT infeedTargets NAMESPACE infeed::
  DESTINATION ${infeed_package_dir})
configure_package_config_file(cmake/infeedConfig.cmake.in infeedConfig.cmake
  INSTALL_DESTINATION ${infeed_package_dir})
write_basic_package_version_file(infeedConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/infeedConfig.cmake
              ${PROJECT_BINARY_DIR}/infeedConfigVersion.cmake
              cmake/plain_libraries.cmake
  DESTINATION ${infeed_package_dir})

# Documentation for users, and example programs.
install(FILES CHANGELOG.md LICENSE NOTICE README.md SECURITY.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN "__pycache__" EXCLUDE)
