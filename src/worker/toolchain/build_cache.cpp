#include "worker/toolchain/build_cache.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json to_json(const BuildRecord& record, const std::string& diagnostics) {
  return {{"version", 1},
          {"compiler", record.compiler},
          {"compiler_identity", record.compiler_identity},
          {"flags", record.flags},
          {"source_hash", record.source_hash},
          {"binary_hash", record.binary_hash},
          {"diagnostics", diagnostics}};
}

// A record that is damaged in any way is no record: the build is done again.
std::optional<CachedBuild> from_json(const std::string& text) {
  const json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_object() || parsed.value("version", json()) != 1) {
    return std::nullopt;
  }
  try {
    CachedBuild out;
    parsed.at("compiler").get_to(out.record.compiler);
    parsed.at("compiler_identity").get_to(out.record.compiler_identity);
    parsed.at("flags").get_to(out.record.flags);
    parsed.at("source_hash").get_to(out.record.source_hash);
    parsed.at("binary_hash").get_to(out.record.binary_hash);
    parsed.at("diagnostics").get_to(out.diagnostics);
    return out;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

Error cache_error(const Error& error, const fs::path& folder) {
  return make_error(error.kind,
                    error.message + "; the cache " + folder.string() +
                        " must be writable and have free space: free some, or set KERNELPRO_CACHE "
                        "to another folder",
                    error.context);
}

Result<BuildCache> BuildCache::open(const fs::path& folder) {
  if (const Status made = make_directories(folder); !made) {
    return cache_error(made.error(), folder);
  }
  return BuildCache(folder);
}

std::optional<CachedBuild> BuildCache::find(const std::string& key) const {
  const Result<std::string> text = read_file(folder_ / (key + ".json"));
  if (!text) {
    return std::nullopt;
  }
  std::optional<CachedBuild> found = from_json(*text);
  if (!found) {
    return std::nullopt;
  }
  found->library = folder_ / (key + ".so");
  const Result<std::string> binary = read_file(found->library);
  if (!binary || sha256(*binary) != found->record.binary_hash) {
    return std::nullopt;
  }
  return found;
}

Result<CachedBuild> BuildCache::store(const std::string& key, const std::string& binary,
                                      const BuildRecord& record,
                                      const std::string& diagnostics) const {
  CachedBuild out{folder_ / (key + ".so"), record, diagnostics};
  // The compiler may quote bytes of the source that are no UTF-8; they are replaced.
  const std::string text =
      to_json(record, diagnostics).dump(2, ' ', false, json::error_handler_t::replace);
  if (const Status written = write_file_atomic(out.library, binary); !written) {
    return cache_error(written.error(), folder_);
  }
  if (const Status written = write_file_atomic(folder_ / (key + ".json"), text); !written) {
    return cache_error(written.error(), folder_);
  }
  return out;
}

}  // namespace kernelpro
