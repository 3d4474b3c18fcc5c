#include "coordinator/task/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "coordinator/task/adapt.hpp"
#include "coordinator/task/table_reader.hpp"
#include "coordinator/task/task_reader.hpp"
#include "coordinator/task/toml_value.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

// The lines of everything validate_task may name: "work", "work.flops", "input A",
// "input A.shape", "axis n", "held_out.n".
std::map<std::string, int> lines_of(const TomlValue& root) {
  std::map<std::string, int> lines;
  const auto add_members = [&](const TomlValue& table, const std::string& key) {
    lines.emplace(key, table.line);
    if (table.kind == TomlValue::Kind::table) {
      for (const TomlValue& member : table.items) {
        lines.emplace(key + "." + member.key, member.line);
      }
    }
  };
  for (const TomlValue& section : root.items) {
    add_members(section, section.key);
    for (const TomlValue& member : section.items) {
      if (section.key == "axes") {
        lines.emplace("axis " + member.key, member.line);
      } else if (section.key == "shapes" && member.key == "held_out") {
        add_members(member, member.key);
      }
    }
    if (section.kind == TomlValue::Kind::array) {
      for (const TomlValue& table : section.items) {
        const TomlValue* name = table.find("name");
        add_members(table, section.key + (name != nullptr ? " " + name->text : ""));
      }
    }
  }
  return lines;
}

// The line of `key`, else of the nearest thing around it.
int line_of(const std::map<std::string, int>& lines, std::string key) {
  while (!key.empty()) {
    if (const auto found = lines.find(key); found != lines.end()) {
      return found->second;
    }
    const std::size_t cut = key.find_last_of(". [");
    key.resize(cut == std::string::npos ? 0 : cut);
  }
  return 0;
}

bool leaves_folder(const fs::path& name) {
  return name.is_absolute() || std::ranges::find(name, "..") != name.end();
}

// Both canonical.
bool lies_in(const fs::path& file, const fs::path& folder) {
  const fs::path relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

class FileLoader {
 public:
  FileLoader(fs::path folder, Task& task, FirstError& errors)
      : folder_(std::move(folder)), task_(&task), errors_(&errors) {}

  void load(const std::string& name, int line, const std::string& key) {
    if (task_->files.contains(name)) {
      return;
    }
    if (leaves_folder(name)) {
      errors_->add(line, key,
                   fmt::format("\"{}\" leaves the task's folder; copy the file into {} and name it "
                               "relative to that",
                               name, folder_.string()));
      return;
    }
    const fs::path path = folder_ / name;
    std::error_code failed;
    if (!fs::is_regular_file(path, failed)) {
      errors_->add(line, key,
                   fmt::format("the file \"{}\" is missing: expected a plain file at {}", name,
                               fs::absolute(path).lexically_normal().string()));
      return;
    }
    // A symbolic link must not carry a foreign file into certificates.
    if (!lies_in(fs::canonical(path, failed), fs::canonical(folder_, failed)) || failed) {
      errors_->add(line, key,
                   fmt::format("\"{}\" is a link that leaves the task's folder; copy the file "
                               "instead",
                               name));
      return;
    }
    auto content = read_file(path);
    if (!content.ok()) {
      errors_->add(line, key, content.error().text());
      return;
    }
    task_->files.emplace(name, *std::move(content));
  }

 private:
  fs::path folder_;
  Task* task_;
  FirstError* errors_;
};

void load_files(const fs::path& folder, const std::map<std::string, int>& lines, Task& task,
                FirstError& errors) {
  FileLoader loader(folder, task, errors);
  if (!task.reference.baseline) {
    loader.load(task.reference.file, line_of(lines, "reference.file"), "reference.file");
  }
  std::error_code failed;
  if (task.entry && fs::is_regular_file(folder / bridge_file, failed)) {
    loader.load(bridge_file, line_of(lines, "entry"), "entry");
  }
  for (const ImplementationSpec& spec : task.baselines) {
    loader.load(spec.file, line_of(lines, "baseline " + spec.name + ".file"), "baseline.file");
  }
  for (const ImplementationSpec& spec : task.comparators) {
    loader.load(spec.file, line_of(lines, "comparator " + spec.name + ".file"), "comparator.file");
  }
}

// Puts the adapter around those implementations that are the entry itself.
void adapt_implementations(const std::map<std::string, int>& lines, Task& task,
                           FirstError& errors) {
  if (!task.entry) {
    return;
  }
  for (const auto* list : {&task.baselines, &task.comparators}) {
    for (const ImplementationSpec& spec : *list) {
      std::string& source = task.files.at(spec.file);
      auto text = adapted(task, source, spec.backend);
      if (!text.ok()) {
        const std::string& key = text.error().context;
        errors.add(line_of(lines, key), key, text.error().message);
        return;
      }
      source = *std::move(text);
    }
  }
}

}  // namespace

Result<Task> load_task(const fs::path& path) {
  std::error_code failed;
  const fs::path file = fs::is_directory(path, failed) ? path / "task.toml" : path;
  if (!fs::is_regular_file(file, failed)) {
    return make_error(ErrorKind::bad_input,
                      "there is no such file; expected a task folder or its task.toml "
                      "(`kernelpro task new` makes one)",
                      file.string());
  }
  KP_LET(auto content, read_file(file));
  KP_LET(auto root, parse_toml(content, file.string()));
  FirstError errors(file.string());
  Task task = TaskReader(errors).read(root);
  KP_TRY(errors.status());
  const auto lines = lines_of(root);
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  for (auto& [name, place] : task.includes) {
    place = fs::absolute(folder / place).lexically_normal().string();
  }
  load_files(folder, lines, task, errors);
  KP_TRY(errors.status());
  adapt_implementations(lines, task, errors);
  KP_TRY(errors.status());
  if (const Status valid = validate_task(task); !valid.ok()) {
    errors.add(line_of(lines, valid.error().context), valid.error().context, valid.error().message);
  }
  KP_TRY(errors.status());
  return task;
}

}  // namespace kernelpro
