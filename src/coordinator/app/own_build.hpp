// How a user builds a file, as far as a task needs to know.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/task/create.hpp"

namespace kernelpro {

// Adds what compile_commands.json says of `file` to `wishes`: flags to read it with and options to
// build it with. `database` empty: looked for beside and above the file, there in build folders
// too; none is no error then. What the user named himself stays.
[[nodiscard]] Status add_own_build(const std::filesystem::path& file,
                                   const std::filesystem::path& database, NewTask& wishes);

// What a user builds with: of "-O3 -march=native -I include" the options are "-O3" and "target",
// the flags "-Iinclude".
void take_build_line(const std::string& line, NewTask& wishes);

}  // namespace kernelpro
