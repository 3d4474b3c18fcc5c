#include "coordinator/store/place.hpp"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "coordinator/store/database_error.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

namespace fs = std::filesystem;

fs::path store_directory(const fs::path& given) {
  if (!given.empty()) {
    return given;
  }
  if (const char* wanted = std::getenv("KERNELPRO_STORE"); wanted != nullptr && *wanted != '\0') {
    return wanted;
  }
  constexpr const char* name = ".kernelpro";
  std::error_code error;
  fs::path folder = fs::current_path(error);
  while (!folder.empty()) {
    if (fs::is_directory(folder / name, error)) {
      return folder / name;
    }
    if (folder == folder.parent_path()) {
      break;
    }
    folder = folder.parent_path();
  }
  return fs::path(".") / name;
}

namespace store {

namespace {

// From the manual page statfs(2) and the headers of those systems. FUSE stands for whatever is
// behind it: often another machine, and never sure to share memory.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 17> network_magics = {{
    {0x00006969, "nfs"},
    {0x0000517B, "smb"},
    {0xFE534D42, "smb"},
    {0xFF534D42, "cifs"},
    {0x01021997, "9p"},
    {0x65735546, "fuse"},
    {0x00C36400, "ceph"},
    {0x0BD00BD0, "lustre"},
    {0x19830326, "beegfs"},
    {0x47504653, "gpfs"},
    {0x20030528, "orangefs"},
    {0x5346414F, "afs"},
    {0x6B414653, "afs"},
    {0x73757245, "coda"},
    {0x7461636F, "ocfs2"},
    {0x01161970, "gfs2"},
    {0x786F4256, "vboxsf"},
}};

bool is_hash(const std::string& text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

fs::path source_file(const fs::path& directory, const std::string& hash) {
  return directory / source_place(hash);
}

}  // namespace

fs::path database_file(const fs::path& directory) {
  return directory / "store.sqlite";
}

fs::path lock_file(const fs::path& directory, const std::string& run) {
  return directory / "locks" / (run + ".lock");
}

fs::path source_place(const std::string& hash) {
  return fs::path("sources") / hash.substr(0, 2) / (hash.substr(2) + ".cpp");
}

std::optional<std::string_view> network_file_system(std::uint32_t magic) {
  for (const auto& [known, name] : network_magics) {
    if (known == magic) {
      return name;
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> network_file_system_of(const fs::path& directory) {
  struct statfs facts{};
  if (::statfs(directory.c_str(), &facts) != 0) {
    return std::nullopt;
  }
  return network_file_system(static_cast<std::uint32_t>(facts.f_type));
}

Status make_place(const fs::path& directory) {
  for (const fs::path& folder : {directory, directory / "sources", directory / "locks"}) {
    if (const Status made = make_directories(folder); !made) {
      return make_error(made.error().kind,
                        fmt::format("{}; {}", made.error().message, other_folder));
    }
  }
  return {};
}

Status write_source(const fs::path& directory, const std::string& hash, const std::string& source) {
  if (hash != sha256(source)) {
    return make_error(ErrorKind::internal,
                      fmt::format("the source of a node has the hash {}, the node says '{}'",
                                  sha256(source), hash));
  }
  const fs::path file = source_file(directory, hash);
  std::error_code error;
  if (fs::file_size(file, error) == source.size() && !error) {
    return {};
  }
  KP_TRY(make_directories(file.parent_path()));
  return write_file_atomic(file, source);
}

Result<std::string> read_source(const fs::path& directory, const std::string& hash) {
  if (!is_hash(hash)) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("'{}' is no hash of a source; expected 64 hexadecimal digits in "
                                  "lower case",
                                  hash));
  }
  const fs::path file = source_file(directory, hash);
  Result<std::string> source = read_file(file);
  if (source && sha256(*source) != hash) {
    return make_error(ErrorKind::io,
                      "damaged: its content does not have the hash in its name; put a copy of it "
                      "back",
                      file.string());
  }
  return source;
}

void remove_source(const fs::path& directory, const std::string& hash) {
  std::error_code error;
  if (is_hash(hash)) {
    const fs::path file = source_file(directory, hash);
    fs::remove(file, error);
    fs::remove(file.parent_path(), error);  // only where it is empty
  }
}

}  // namespace store

}  // namespace kernelpro
