// Shared objects and cubins by the hash of all that went into them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/model/certificate.hpp"

namespace kernelpro {

struct CachedBuild {
  std::filesystem::path library;
  BuildRecord record;
  std::string diagnostics;  // warnings of the build
};

// <folder>/<key>.so (or .cubin) with its record in <key>.json. Several processes may use one
// folder: entries appear whole, and a mix of two builders' files is found by its hash. When there
// is more than the limit, entries go that were used longest ago, but none of the last 64 that this
// process was given, and none that it holds. Thread-safe.
class BuildCache {
 public:
  // Makes the folder; an io error names it and says what to do when that fails.
  [[nodiscard]] static Result<BuildCache> open(const std::filesystem::path& folder,
                                               std::int64_t limit_bytes);

  // Nothing when there is no such entry, or when the object is not the one that was recorded.
  // `name` is the key with the extension of what is built.
  [[nodiscard]] std::optional<CachedBuild> find(const std::filesystem::path& name) const;
  [[nodiscard]] Result<CachedBuild> store(const std::filesystem::path& name,
                                          const std::string& binary, const BuildRecord& record,
                                          const std::string& diagnostics) const;

  // Keeps what was found or stored so far for as long as this cache is open.
  void hold() const;

 private:
  struct Use;
  BuildCache(std::filesystem::path folder, std::int64_t limit_bytes);
  void note_use(const std::filesystem::path& name, std::int64_t stored_bytes) const;
  void evict() const;

  std::filesystem::path folder_;
  std::int64_t limit_bytes_;
  std::shared_ptr<Use> use_;
};

// `error` of a write below `folder`, with what the user can do about it.
[[nodiscard]] Error cache_error(const Error& error, const std::filesystem::path& folder);

}  // namespace kernelpro
