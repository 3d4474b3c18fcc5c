// A folder with a user's files in it, and what comes of their functions.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "coordinator/app/own_task.hpp"
#include "coordinator/task/callers.hpp"
#include "coordinator/task/inline_includes.hpp"
#include "support/leftovers.hpp"

namespace kernelpro::own_tests {

namespace fs = std::filesystem;

inline Finished run_in(const std::vector<std::string>& words, const fs::path& directory) {
  Command command;
  command.arguments = words;
  command.directory = directory.string();
  command.inherit_environment = true;
  command.timeout_ms = 300'000;
  const auto finished = run_command(command);
  EXPECT_TRUE(finished.ok()) << finished.error().text();
  return finished.ok() ? *finished : Finished{};
}

// A project with the functions in it.
class OwnProject {
 public:
  OwnProject() : scratch_(ScratchDir::create("own-test")) {
    EXPECT_TRUE(scratch_.ok()) << scratch_.error().text();
    fs::create_directories(store());
  }

  [[nodiscard]] const fs::path& root() const { return scratch_->path(); }
  [[nodiscard]] fs::path store() const { return root() / ".kernelpro"; }

  void copy_functions() const {
    fs::copy(KERNELPRO_SOURCE_DIR "/tests/own/functions", root(), fs::copy_options::recursive);
  }
  void write(const std::string& name, const std::string& text) const {
    const Status written = write_file_unsynced(root() / name, text);
    ASSERT_TRUE(written.ok()) << written.error().text();
  }

  [[nodiscard]] Result<OwnTaskMade> make(const std::string& target, NewTask wishes = {}) const {
    OwnRequest request;
    request.target = *parse_own_target((root() / target).string());
    request.wishes = std::move(wishes);
    request.store = store();
    return make_own_task(request, {}, {});
  }

  // Why it does not become a task.
  [[nodiscard]] std::string refusal(const std::string& text, const std::string& function) const {
    write("f.cpp", text);
    const auto made = make("f.cpp:" + function);
    return made.ok() ? "it became a task" : made.error().text();
  }

 private:
  testing::OwnLock lock_;  // no speed decides here
  Result<ScratchDir> scratch_;
};

// A file with its headers within, as C++.
inline std::string source_of(const fs::path& file) {
  const auto text = inline_marked(file, {}, {});
  EXPECT_TRUE(text.ok()) << text.error().text();
  const std::string c_only = file.extension() == ".c" ? "#define restrict __restrict__\n" : "";
  return text.ok() ? c_only + *text : "";
}

inline OwnBuild own_build(const Task& task) {
  return {task.baselines[0].compiler, task.baselines[0].options};
}

}  // namespace kernelpro::own_tests
