#include "worker/runner/asked_path.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

// As the kernel does before it gives up.
constexpr int most_links = 40;

// The names of a path, the last one first.
void push_names(std::string_view path, std::vector<std::string>& names) {
  std::size_t end = path.size();
  while (end != std::string_view::npos && end > 0) {
    const std::size_t slash = path.rfind('/', end - 1);
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (end > begin) {
      names.emplace_back(path.substr(begin, end - begin));
    }
    end = slash;
  }
}

// Where a link leads; empty for what is none, and for open files that have no name.
std::string target_of(const std::string& path, const std::string& folder) {
  std::error_code failure;
  const std::string target = fs::read_symlink(path, failure).string();
  if (failure || target.empty()) {
    return {};
  }
  const bool in_proc = folder.starts_with("/proc/");
  return in_proc && !fs::exists(target.front() == '/' ? target : folder + "/" + target, failure)
             ? std::string()
             : target;
}

}  // namespace

std::string open_folder(const Asker& asker, int descriptor) {
  std::error_code failure;
  return fs::read_symlink(
             "/proc/" + std::to_string(asker.process) + "/fd/" + std::to_string(descriptor),
             failure)
      .string();
}

std::string resolve_for(const Asker& asker, const std::string& path) {
  const std::string process = std::to_string(asker.process);
  std::vector<std::string> names;
  push_names(path, names);
  std::string done;
  int links = 0;
  while (!names.empty()) {
    const std::string name = std::move(names.back());
    names.pop_back();
    if (name == "..") {
      done.erase(done.empty() ? 0 : done.rfind('/'));
    } else if (done == "/proc" && name == "self") {
      names.push_back(process);
    } else if (done == "/proc" && name == "thread-self") {
      names.insert(names.end(), {std::to_string(asker.thread), "task", process});
    } else if (name != ".") {
      const std::string next = done + "/" + name;
      const std::string target = links < most_links ? target_of(next, done) : std::string();
      if (target.empty()) {
        done = next;
        continue;
      }
      ++links;
      done = target.front() == '/' ? std::string() : done;
      push_names(target, names);
    }
  }
  return done.empty() ? "/" : done;
}

}  // namespace kernelpro
