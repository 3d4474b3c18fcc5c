// Reads task.toml.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/task.hpp"

namespace kernelpro {

// Parses DIR/task.toml (or the file itself) with the files it names. Every error is bad_input with
// "file:line: key" as context, and says what was expected: unknown keys (with the nearest known
// one), wrong types, shape mismatches, missing files, formulas that do not parse or evaluate.
[[nodiscard]] Result<Task> load_task(const std::filesystem::path& path);

// A name, a folder or a task.toml: the task a user means. Names are looked up in the task folders:
// ./tasks or the nearest tasks/ upwards, then KERNELPRO_TASKS (colon-separated), then the installed
// ones. An unknown name lists the known ones.
[[nodiscard]] Result<std::filesystem::path> find_task(const std::string& name_or_path);

// By its name alone, in the task folders: nothing else is read for a client from elsewhere.
[[nodiscard]] Result<std::filesystem::path> find_registered_task(const std::string& name);

struct TaskListing {
  std::string name;
  std::string family;
  std::string summary;
  std::filesystem::path directory;
  std::string error;  // not empty: the task does not load, and why
};

[[nodiscard]] std::vector<TaskListing> list_tasks();

}  // namespace kernelpro
