// Runs the real programs of this build as a user would.
#pragma once

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/deadline.hpp"
#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "support/leftovers.hpp"
#include "support/schema.hpp"

namespace kernelpro::testing {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

inline constexpr std::int64_t command_timeout_ms = 600'000;

// tests/cli/data/NAME.
inline std::string data(const std::string& name) {
  return std::string(KERNELPRO_SOURCE_DIR "/tests/cli/data/") + name;
}

// What a worker answered once in a run of the test task, for cases about what is done with answers:
// nothing is judged, and the run ends at once. It was recorded by `kernelpro-worker run` on the
// bundles of `optimize wave --timing 0.02 --accept-suspect --tier build -n 3`.
inline Words recorded_workers() {
  return {"--workers", "replay:" + data("wave_results.jsonl")};
}

inline std::string content_of(const fs::path& file) {
  const Result<std::string> text = read_file(file);
  EXPECT_TRUE(text.ok()) << text.error().text();
  return text.ok() ? *text : std::string();
}

inline void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  const Status written = write_file_unsynced(file, text);
  ASSERT_TRUE(written.ok()) << written.error().text();
}

inline std::string replaced(std::string text, const std::string& old, const std::string& fresh) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << "there is no \"" << old << "\" in\n" << text;
  return at == std::string::npos ? text : text.replace(at, old.size(), fresh);
}

// Asks until it is so; false after as long as a command may take: the machine may be busy.
inline bool becomes_true(const std::function<bool()>& so) {
  const Deadline deadline(command_timeout_ms);
  while (!so()) {
    if (deadline.passed()) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// The exit code of a run with such a report: whether a candidate is faster, where that is not what
// is tested.
inline int exit_code_of_run(const Json& report) {
  return report["confirmed"] == true ? 0 : 3;
}

// A current folder, a temporary folder and the build's own cache for the commands of one test.
class Cli : public ::testing::Test {
 protected:
  Cli() {
    EXPECT_TRUE(folder_.ok()) << folder_.error().text();
    fs::create_directories(work());
    environment_ = {{"KERNELPRO_CACHE", KERNELPRO_BUILD_DIR "/test-cache"},
                    {"TMPDIR", temporary().string()},
                    {"HOME", work().string()}};
    if (const char* folder = std::getenv("KERNELPRO_LOCK_DIR"); folder != nullptr) {
      environment_["KERNELPRO_LOCK_DIR"] = folder;
    }
  }

  [[nodiscard]] const fs::path& temporary() const { return folder_->path(); }
  [[nodiscard]] fs::path work() const { return temporary() / "work"; }
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }

  [[nodiscard]] Command command(Words arguments) const {
    Command command;
    command.arguments = std::move(arguments);
    command.directory = work().string();
    command.environment = environment_;
    command.timeout_ms = command_timeout_ms;
    command.output_limit = std::size_t{1} << 25U;
    return command;
  }

  [[nodiscard]] static Words with_program(const Words& arguments) {
    Words all = {KERNELPRO_BIN_DIR "/kernelpro"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }

  [[nodiscard]] static Finished run_to_end(const Command& command) {
    const Result<Finished> finished = run_command(command);
    EXPECT_TRUE(finished.ok()) << finished.error().text();
    if (!finished.ok()) {
      return {};
    }
    EXPECT_FALSE(finished->timed_out);
    return *finished;
  }

  // `kernelpro ARGUMENTS`.
  [[nodiscard]] Finished kernelpro(const Words& arguments) const {
    return run_to_end(command(with_program(arguments)));
  }

  // The JSON of `kernelpro ARGUMENTS --json`, which must be one document that `schema` allows.
  [[nodiscard]] Json json(Words arguments, const std::string& schema, int exit_code) const {
    arguments.emplace_back("--json");
    return checked_json(kernelpro(arguments), schema, exit_code);
  }

  [[nodiscard]] static Json checked_json(const Finished& finished, const std::string& schema,
                                         int exit_code) {
    EXPECT_EQ(finished.exit_code, exit_code) << finished.errors;
    return checked_json(finished, schema);
  }

  [[nodiscard]] static Json checked_json(const Finished& finished, const std::string& schema) {
    Json parsed = Json::parse(finished.output, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << finished.output;
    EXPECT_EQ(SchemaFile(schema).complaints(parsed), "");
    return parsed;
  }

  // The report of a run that `kernelpro ARGUMENTS` ends, whether it found something faster or not.
  [[nodiscard]] Json ended_run(Words arguments) const {
    arguments.emplace_back("--json");
    const Finished finished = kernelpro(arguments);
    Json report = checked_json(finished, "cli_report.json");
    EXPECT_EQ(report["state"], "finished");
    EXPECT_EQ(finished.exit_code, exit_code_of_run(report)) << finished.errors;
    return report;
  }

  // A copy of the test task in ./tasks/NAME, changed by `edit`.
  void copy_task(const std::string& name,
                 const std::function<std::string(std::string)>& edit = {}) const {
    const fs::path folder = work() / "tasks" / name;
    fs::create_directories(folder.parent_path());
    fs::copy(data("wave"), folder);
    std::string toml = replaced(content_of(folder / "task.toml"), "\"wave\"", "\"" + name + "\"");
    write(folder / "task.toml", edit ? edit(toml) : toml);
  }

 private:
  Result<ScratchDir> folder_ = ScratchDir::create("cli-test");
  OwnLock lock_;
  std::map<std::string, std::string> environment_;
};

inline void expect_exit(const Finished& finished, int exit_code) {
  EXPECT_EQ(finished.exit_code, exit_code) << "signal " << finished.signal << "\n"
                                           << finished.output << finished.errors;
}

}  // namespace kernelpro::testing
