# infeed_room_sources(TARGET [SOURCES ...] [ALONE ...]): adds a room's sources
# to a target. With CMAKE_UNITY_BUILD the SOURCES are compiled as one, so that
# headers are parsed once; those ALONE cannot be.
function(infeed_room_sources target)
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE" ${ARGN})
  if(INFEED_CORE_TESTS AND NOT TARGET ${target})
    return()  # A test that infeed_test() leaves out.
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  target_sources(${target} PRIVATE ${ARG_SOURCES} ${ARG_ALONE})
  if(ARG_SOURCES)
    cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME room)
    set_source_files_properties(${ARG_SOURCES}
      TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${room})
  endif()
endfunction()

# infeed_library(NAME [COLD] [PUBLIC ...] [PRIVATE ...]): a static library, with
# an alias infeed::NAME, whose rooms add their sources. COLD: nothing in it is
# worth more than -O1, which compiles a fifth faster.
function(infeed_library name)
  cmake_parse_arguments(ARG "COLD" "" "PUBLIC;PRIVATE" ${ARGN})
  add_library(infeed_${name} STATIC)
  add_library(infeed::${name} ALIAS infeed_${name})
  set_target_properties(infeed_${name} PROPERTIES
    EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(infeed_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_features(infeed_${name} PUBLIC cxx_std_20)
  if(ARG_COLD)
    target_compile_options(infeed_${name} PRIVATE
      $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  endif()
  target_link_libraries(infeed_${name}
    PUBLIC ${ARG_PUBLIC}
    PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:infeed_options>)
endfunction()

# infeed_room(LIBRARY SOURCES ... [ALONE ...]): adds a room to a library. Sources
# that Highway compiles for each SIMD target are ALONE.
function(infeed_room library)
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE" ${ARGN})
  infeed_room_sources(infeed_${library}
    SOURCES ${ARG_SOURCES} ALONE ${ARG_ALONE})
endfunction()

# infeed_vector_code(LIBRARY): links Highway. Vector code is compiled for every
# instruction set that Highway can choose from at run time, the portable one
# included. Left out: SSE2 and SSSE3, because CPUs with them have SSE4 too;
# targets after AVX3_DL, which the code does not use; and SVE, whose vectors have
# no size known when the code is compiled (Arm CPUs with SVE have NEON too).
# Targets without a name in Highway 1.0.3 are given by number (bits 0 to 6 and
# 14).
function(infeed_vector_code library)
  target_link_libraries(infeed_${library} PRIVATE hwy::hwy)
  # Vector code reads numbers as they lie in memory: little-endian.
  if(CMAKE_CXX_BYTE_ORDER STREQUAL "BIG_ENDIAN")
    target_compile_definitions(infeed_${library} PRIVATE
      HWY_COMPILE_ONLY_SCALAR)
  endif()
  target_compile_definitions(infeed_${library} PRIVATE
    HWY_COMPILE_ALL_ATTAINABLE HWY_WANT_AVX3_DL
    "HWY_DISABLED_TARGETS=(0x407F|HWY_SSSE3|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
endfunction()

# infeed_inner_library(NAME SOURCES ... [PUBLIC ...] [PRIVATE ...]): a library
# that benchmarks or tests share, not installed.
function(infeed_inner_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC)
  infeed_room_sources(${name} SOURCES ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name}
    PUBLIC infeed::base ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} infeed_options)
endfunction()

# infeed_rooms(ROOM ...): the folder's rooms, each with a list of its own.
function(infeed_rooms)
  foreach(room IN LISTS ARGN)
    add_subdirectory(${room})
  endforeach()
endfunction()

# Everything that `cmake --install` needs: the programs, their completions and,
# through linking, the libraries.
add_custom_target(infeed_programs)

# infeed_program(NAME SOURCES ... LIBRARIES ...): an installed program. All of
# them land in the build folder's bin/.
function(infeed_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} infeed_options)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  add_dependencies(infeed_programs ${name})
  infeed_program_completion(${name})
endfunction()

# The program's completion in bash and zsh. The program writes it itself, so it
# is left out when cross-compiling.
function(infeed_program_completion name)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(script ${PROJECT_BINARY_DIR}/completions/${name})
  add_custom_command(OUTPUT ${script}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/completions
    COMMAND ${name} --bash_completion > ${script}
    DEPENDS ${name} VERBATIM)
  add_custom_target(${name}_completion ALL DEPENDS ${script})
  add_dependencies(infeed_programs ${name}_completion)
  install(FILES ${script}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endfunction()
