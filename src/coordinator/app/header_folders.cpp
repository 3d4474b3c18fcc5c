#include "coordinator/app/header_folders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "common/base/checkout.hpp"
#include "common/base/file.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_header = 4U << 20;
constexpr std::uintmax_t largest_library = 48U << 20;  // one line of a worker holds it
constexpr std::size_t most_files = 20'000;
constexpr std::size_t most_left_out = 1000;  // that are remembered
constexpr int deepest_folder = 64;

Error unusable(const HeaderFolder& named, const std::string& what) {
  return make_error(ErrorKind::bad_input, what, "--include " + named.name + "=" + named.folder);
}

// Both canonical.
bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

class Reader {
 public:
  explicit Reader(const HeaderFolder& named) : named_(named) {}

  Result<HeaderLibrary> read() {
    std::error_code failure;
    root_ = fs::canonical(named_.folder, failure);
    if (failure || !fs::is_directory(root_, failure)) {
      return unusable(named_,
                      "there is no such folder; expected the one that a compiler would get with "
                      "-I, such as a checkout's include/");
    }
    out_.name = named_.name;
    KP_TRY(walk(root_, "", 0));
    if (out_.files.empty()) {
      return unusable(named_, "there is no header in this folder");
    }
    out_.commit = checkout_commit(root_);
    return std::move(out_);
  }

 private:
  Status walk(const fs::path& folder, const fs::path& below, int depth) {
    std::error_code failure;
    fs::directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
      const fs::path path = below / entry->path().filename();
      if (!path.filename().string().starts_with(".")) {
        KP_TRY(take(entry->path(), path, depth));
      }
    }
    return failure ? Status(unusable(named_, failure.message() + ": " + folder.string()))
                   : Status();
  }

  Status take(const fs::path& found, const fs::path& path, int depth) {
    std::error_code failure;
    const bool link = fs::is_symlink(found, failure);
    const fs::path real = fs::canonical(found, failure);
    if (failure) {
      leave_out(path, "it is a link that leads in a circle or to nothing");
    } else if (link && !lies_in(real, root_)) {
      leave_out(path, "it is a link that leads out of the library's folder");
    } else if (fs::is_directory(real, failure)) {
      if (depth == deepest_folder || (link && lies_in(found, real))) {
        leave_out(path, "it is a link that leads in a circle, or too deep");
        return {};
      }
      return walk(found, path, depth + 1);
    } else {
      return take_file(real, path);
    }
    return {};
  }

  Status take_file(const fs::path& file, const fs::path& path) {
    std::error_code failure;
    if (!fs::is_regular_file(file, failure)) {
      leave_out(path, "it is no plain file");
      return {};
    }
    if (const std::uintmax_t bytes = fs::file_size(file, failure); bytes > largest_header) {
      leave_out(path,
                fmt::format("it has {} bytes, and a header may have {}", bytes, largest_header));
      return {};
    }
    Result<std::string> text = read_file(file);
    if (!text) {
      leave_out(path, text.error().message);
    } else if (text->find('\0') != std::string::npos || wire::valid_utf8(*text) != *text) {
      leave_out(path, "it is no text in UTF-8");
    } else {
      bytes_ += text->size();
      out_.files.emplace(path.generic_string(), std::move(*text));
    }
    if (bytes_ > largest_library || out_.files.size() > most_files) {
      return unusable(named_, fmt::format("a library may have {} files of {} MiB together, and "
                                          "this folder has more; name the one that its headers "
                                          "are in, such as its include/",
                                          most_files, largest_library >> 20));
    }
    return {};
  }

  void leave_out(const fs::path& path, const std::string& reason) {
    if (out_.left_out.size() < most_left_out) {
      out_.left_out.emplace(wire::valid_utf8(path.generic_string()), reason);
    }
  }

  const HeaderFolder& named_;
  fs::path root_;
  HeaderLibrary out_;
  std::uintmax_t bytes_ = 0;
};

Error changed(const HeaderFolder& named) {
  return unusable(named,
                  fmt::format("the library has changed since the run began{}; put it back, "
                              "or start a new run",
                              named.commit.empty() ? "" : " (at commit " + named.commit + ")"));
}

}  // namespace

Result<HeaderLibrary> read_header_folder(const HeaderFolder& named) {
  KP_TRY(check_library_name(named.name));
  return Reader(named).read();
}

std::vector<HeaderFolder> header_folders(const JudgingSettings& judging, const Task& task) {
  std::vector<HeaderFolder> out = judging.includes;
  for (const auto& [name, folder] : task.includes) {
    if (std::ranges::find(out, name, &HeaderFolder::name) == out.end()) {
      out.push_back({name, folder, {}, {}});
    }
  }
  return out;
}

Result<std::vector<HeaderFolder>> pinned(std::vector<HeaderFolder> folders) {
  for (HeaderFolder& one : folders) {
    KP_LET(const HeaderLibrary library, read_header_folder(one));
    one.hash = whole_of(library).hash;
    one.commit = library.commit;
  }
  return folders;
}

Result<OpenOrder> with_headers(OpenOrder order) {
  for (const HeaderFolder& one : header_folders(order.judging, order.task)) {
    KP_LET(HeaderLibrary library, read_header_folder(one));
    if (!one.hash.empty() && whole_of(library).hash != one.hash) {
      return changed(one);
    }
    order.headers.push_back(std::move(library));
  }
  return order;
}

}  // namespace kernelpro
