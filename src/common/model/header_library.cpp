#include "common/model/header_library.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "common/base/hash.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t longest_name = 64;
constexpr std::size_t shown_files = 5;

std::string hash_of(const std::map<std::string, std::string>& files) {
  std::string lines;
  for (const auto& [path, hash] : files) {
    lines += hash + " " + path + "\n";
  }
  return sha256(lines);
}

bool stays_inside(const std::string& path) {
  const std::filesystem::path parts(path);
  return !path.empty() && path.find('\0') == std::string::npos && parts.is_relative() &&
         parts.has_filename() && std::ranges::none_of(parts, [](const std::filesystem::path& part) {
           return part == ".." || part == ".";
         });
}

using Hashes = std::map<std::string, std::string>;

// "NAME/path" of everything included.
Hashes all_files(const std::vector<IncludedLibrary>& libraries) {
  Hashes out;
  for (const IncludedLibrary& library : libraries) {
    for (const auto& [path, hash] : library.files) {
      out.emplace(library.name + "/" + path, hash);
    }
  }
  return out;
}

std::vector<std::string> paths_of(const std::map<std::string, std::string>& files) {
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (const auto& [path, content] : files) {
    paths.push_back(path);
  }
  return paths;
}

}  // namespace

Status check_library_name(const std::string& name) {
  const bool plain =
      std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (name.empty() || name.size() > longest_name || !plain) {
    return make_error(ErrorKind::bad_input,
                      "a library of headers is called by up to 64 letters, digits and _, as in "
                      "--include cutlass=DIR; found \"" +
                          name + "\"");
  }
  return {};
}

Status check_library(const HeaderLibrary& library) {
  KP_TRY(check_library_name(library.name));
  const auto bad = std::ranges::find_if(library.files,
                                        [](const auto& file) { return !stays_inside(file.first); });
  if (bad != library.files.end()) {
    return make_error(ErrorKind::bad_input, "a header's path leaves its library: " + bad->first,
                      library.name);
  }
  return {};
}

IncludedLibrary included_part(const HeaderLibrary& library, const std::vector<std::string>& paths) {
  IncludedLibrary out{library.name, library.commit, {}, {}};
  for (const std::string& path : paths) {
    if (const auto file = library.files.find(path); file != library.files.end()) {
      out.files.emplace(path, sha256(file->second));
    }
  }
  out.hash = hash_of(out.files);
  return out;
}

IncludedLibrary same_part(const HeaderLibrary& library, const IncludedLibrary& before) {
  return included_part(library, paths_of(before.files));
}

IncludedLibrary whole_of(const HeaderLibrary& library) {
  return included_part(library, paths_of(library.files));
}

std::string difference_of(const std::vector<IncludedLibrary>& before,
                          const std::vector<IncludedLibrary>& now) {
  const Hashes old_files = all_files(before);
  const Hashes new_files = all_files(now);
  std::vector<std::string> lines;
  for (const auto& [path, hash] : old_files) {
    const auto found = new_files.find(path);
    if (found == new_files.end()) {
      lines.push_back(path + " is no longer included");
    } else if (found->second != hash) {
      lines.push_back(path + " has changed");
    }
  }
  for (const auto& [path, hash] : new_files) {
    if (!old_files.contains(path)) {
      lines.push_back(path + " is included now");
    }
  }
  std::string out;
  for (std::size_t i = 0; i < std::min(lines.size(), shown_files); ++i) {
    out += (i == 0 ? "" : "; ") + lines[i];
  }
  const std::size_t more = lines.size() - std::min(lines.size(), shown_files);
  return more == 0 ? out : out + "; and " + std::to_string(more) + " more";
}

std::string text_of(const IncludedLibrary& library) {
  constexpr std::size_t shown = 12;
  return library.name + (library.commit.empty() ? "" : " at commit " + library.commit) + " (" +
         std::to_string(library.files.size()) + " headers, hash " + library.hash.substr(0, shown) +
         ")";
}

}  // namespace kernelpro
