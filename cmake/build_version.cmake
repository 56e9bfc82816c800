# cmake -D SOURCE=DIR -D VERSION=V -D OUT=FILE -P build_version.cmake: writes a
# C++ source with the version and the commit that is checked out in DIR, only
# where that changes it. "unknown" without git, and where DIR is not the top of
# a repository.
cmake_minimum_required(VERSION 3.25)

function(git_answer answer)
  execute_process(COMMAND git -C "${SOURCE}" ${ARGN}
    OUTPUT_VARIABLE text RESULT_VARIABLE failed ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(text "")
  endif()
  set(${answer} "${text}" PARENT_SCOPE)
endfunction()

set(commit "")
git_answer(top rev-parse --show-toplevel)
file(REAL_PATH "${SOURCE}" here)
if(top STREQUAL here)
  git_answer(commit describe --always --dirty --abbrev=12 "--exclude=*")
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT
"#include \"tools/cli/build_version.h\"

namespace infeed {

std::string_view BuildVersion() { return \"@VERSION@\"; }
std::string_view BuildCommit() { return \"@commit@\"; }

}  // namespace infeed
")
