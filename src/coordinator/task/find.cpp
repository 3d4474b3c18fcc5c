// Tasks by name: the folders they are looked up in, and what is there.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <system_error>

#include "common/base/paths.hpp"
#include "coordinator/task/load.hpp"
#include "coordinator/task/nearest.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

bool is_task(const fs::path& folder) {
  std::error_code failed;
  return fs::is_regular_file(folder / "task.toml", failed);
}

bool holds_tasks(const fs::path& folder) {
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (is_task(entry->path())) {
      return true;
    }
  }
  return false;
}

// ./tasks, or where that is not there, the nearest `tasks` upwards that holds one.
fs::path project_tasks() {
  std::error_code failed;
  if (fs::exists("tasks", failed)) {
    return "tasks";
  }
  fs::path folder = fs::current_path(failed);
  while (folder.has_relative_path()) {
    folder = folder.parent_path();
    if (holds_tasks(folder / "tasks")) {
      return folder / "tasks";
    }
  }
  return "tasks";
}

std::vector<fs::path> task_folders() {
  std::vector<fs::path> folders = {project_tasks()};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in this program changes its environment.
  if (const char* listed = std::getenv("KERNELPRO_TASKS"); listed != nullptr) {
    std::istringstream parts(listed);
    for (std::string part; std::getline(parts, part, ':');) {
      if (!part.empty()) {
        folders.emplace_back(part);
      }
    }
  }
  if (const auto share = share_directory(); share.ok()) {
    folders.push_back(*share / "tasks");
  }
  return folders;
}

// By name; a name in an earlier folder hides the same name in a later one.
std::map<std::string, fs::path> known_tasks() {
  std::map<std::string, fs::path> tasks;
  for (const fs::path& folder : task_folders()) {
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      if (is_task(entry->path())) {
        tasks.emplace(entry->path().filename().string(), entry->path());
      }
    }
  }
  return tasks;
}

}  // namespace

Result<fs::path> find_task(const std::string& name_or_path) {
  const fs::path path = name_or_path;
  std::error_code failed;
  if (is_task(path) || fs::is_regular_file(path, failed)) {
    return path;
  }
  if (fs::is_directory(path, failed) && path.has_parent_path()) {
    return make_error(ErrorKind::bad_input, "this folder has no task.toml", name_or_path);
  }
  return find_registered_task(name_or_path);
}

Result<fs::path> find_registered_task(const std::string& name) {
  const auto tasks = known_tasks();
  if (const auto found = tasks.find(name); found != tasks.end()) {
    return found->second;
  }
  std::vector<std::string> names;
  names.reserve(tasks.size());
  for (const auto& [known, folder] : tasks) {
    names.push_back(known);
  }
  std::string hint = "none was found in ./tasks or above, KERNELPRO_TASKS or the installation";
  if (!names.empty()) {
    const auto meant = nearest(name, names);
    hint = fmt::format("{}known are {}", meant ? "did you mean " + *meant + "? " : "",
                       fmt::join(names, ", "));
  }
  return make_error(ErrorKind::bad_input,
                    fmt::format("there is no task, folder or task.toml \"{}\"; {}", name, hint));
}

std::vector<TaskListing> list_tasks() {
  std::vector<TaskListing> listings;
  for (const auto& [name, folder] : known_tasks()) {
    TaskListing listing;
    listing.name = name;
    listing.directory = folder;
    if (const auto task = load_task(folder); task.ok()) {
      listing.family = task->family;
      listing.summary = task->summary;
    } else {
      listing.error = task.error().text();
    }
    listings.push_back(std::move(listing));
  }
  return listings;
}

}  // namespace kernelpro
