#include "worker/toolchain/build_cache.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json kernel_to_json(const KernelResources& kernel) {
  return {{"kernel", kernel.kernel},
          {"architecture", kernel.architecture},
          {"registers", kernel.registers},
          {"spill_stores", kernel.spill_stores},
          {"spill_loads", kernel.spill_loads},
          {"shared_bytes", kernel.shared_bytes},
          {"constant_bytes", kernel.constant_bytes},
          {"stack_bytes", kernel.stack_bytes},
          {"barriers", kernel.barriers}};
}

// Throws json::exception when something is not there or of another type.
KernelResources kernel_from_json(const json& entry) {
  KernelResources out;
  entry.at("kernel").get_to(out.kernel);
  entry.at("architecture").get_to(out.architecture);
  entry.at("registers").get_to(out.registers);
  entry.at("spill_stores").get_to(out.spill_stores);
  entry.at("spill_loads").get_to(out.spill_loads);
  entry.at("shared_bytes").get_to(out.shared_bytes);
  entry.at("constant_bytes").get_to(out.constant_bytes);
  entry.at("stack_bytes").get_to(out.stack_bytes);
  entry.at("barriers").get_to(out.barriers);
  return out;
}

json to_json(const BuildRecord& record, const std::string& diagnostics) {
  json kernels = json::array();
  for (const KernelResources& kernel : record.kernels) {
    kernels.push_back(kernel_to_json(kernel));
  }
  return {{"version", 2},
          {"compiler", record.compiler},
          {"compiler_identity", record.compiler_identity},
          {"flags", record.flags},
          {"source_hash", record.source_hash},
          {"binary_hash", record.binary_hash},
          {"kernels", std::move(kernels)},
          {"warnings", record.warnings},
          {"diagnostics", diagnostics}};
}

// A record that is damaged in any way is no record: the build is done again.
std::optional<CachedBuild> from_json(const std::string& text) {
  const json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_object() || parsed.value("version", json()) != 2) {
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
    out.record.warnings = parsed.value("warnings", std::vector<std::string>());
    for (const json& kernel : parsed.at("kernels")) {
      out.record.kernels.push_back(kernel_from_json(kernel));
    }
    return out;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

fs::path record_of(fs::path library) {
  return library.replace_extension(".json");
}

constexpr std::size_t recent_entries = 64;

// The files of one key.
struct KeptBuild {
  std::string key;
  std::vector<fs::path> files;
  std::int64_t bytes = 0;
  fs::file_time_type used = fs::file_time_type::min();
};

std::vector<KeptBuild> entries_in(const fs::path& folder) {
  std::map<std::string, KeptBuild> by_key;
  std::error_code failure;
  fs::directory_iterator file(folder, failure);
  for (; !failure && file != fs::directory_iterator(); file.increment(failure)) {
    std::error_code gone;
    const auto bytes = static_cast<std::int64_t>(file->file_size(gone));
    const fs::file_time_type used = gone ? fs::file_time_type() : file->last_write_time(gone);
    if (gone) {
      continue;  // another process was faster
    }
    const std::string key = file->path().stem().string();
    KeptBuild& entry = by_key.try_emplace(key, KeptBuild{key, {}, 0, used}).first->second;
    entry.files.push_back(file->path());
    entry.bytes += bytes;
    entry.used = std::max(entry.used, used);
  }
  std::vector<KeptBuild> out;
  out.reserve(by_key.size());
  for (auto& [key, entry] : by_key) {
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

struct BuildCache::Use {
  std::mutex mutex;
  std::set<std::string> given;  // keys found or stored since the last hold()
  std::set<std::string> held;
  std::deque<std::string> recent;
  std::int64_t unseen_bytes = 0;  // stored since the folder was looked through
  bool looked = false;
};

BuildCache::BuildCache(fs::path folder, std::int64_t limit_bytes)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes), use_(std::make_shared<Use>()) {}

Error cache_error(const Error& error, const fs::path& folder) {
  return make_error(error.kind,
                    error.message + "; the cache " + folder.string() +
                        " must be writable and have free space: free some, or set KERNELPRO_CACHE "
                        "to another folder",
                    error.context);
}

Result<BuildCache> BuildCache::open(const fs::path& folder, std::int64_t limit_bytes) {
  if (const Status made = make_directories(folder); !made) {
    return cache_error(made.error(), folder);
  }
  return BuildCache(folder, limit_bytes);
}

void BuildCache::hold() const {
  const std::lock_guard lock(use_->mutex);
  use_->held.merge(use_->given);
  use_->given.clear();
}

void BuildCache::note_use(const fs::path& name, std::int64_t stored_bytes) const {
  std::error_code ignored;
  fs::last_write_time(folder_ / name, fs::file_time_type::clock::now(), ignored);
  const std::lock_guard lock(use_->mutex);
  const std::string key = name.stem().string();
  use_->given.insert(key);
  use_->recent.push_back(key);
  if (use_->recent.size() > recent_entries) {
    use_->recent.pop_front();
  }
  use_->unseen_bytes += stored_bytes;
  // Looking through the folder takes a millisecond for a hundred entries.
  if (stored_bytes > 0 && (!use_->looked || use_->unseen_bytes > limit_bytes_ / 16)) {
    evict();
    use_->looked = true;
    use_->unseen_bytes = 0;
  }
}

// With the mutex held. Down to three quarters, so that it is not done again at once.
void BuildCache::evict() const {
  std::vector<KeptBuild> entries = entries_in(folder_);
  std::int64_t total = 0;
  for (const KeptBuild& entry : entries) {
    total += entry.bytes;
  }
  if (total <= limit_bytes_) {
    return;
  }
  std::ranges::sort(entries, {}, &KeptBuild::used);
  for (const KeptBuild& entry : entries) {
    const bool needed = use_->held.contains(entry.key) ||
                        std::ranges::find(use_->recent, entry.key) != use_->recent.end();
    if (total <= limit_bytes_ / 4 * 3) {
      return;
    }
    if (needed) {
      continue;
    }
    for (const fs::path& file : entry.files) {
      std::error_code ignored;
      fs::remove(file, ignored);
    }
    total -= entry.bytes;
  }
}

std::optional<CachedBuild> BuildCache::find(const fs::path& name) const {
  fs::path library = folder_ / name;
  const Result<std::string> text = read_file(record_of(library));
  if (!text) {
    return std::nullopt;
  }
  std::optional<CachedBuild> found = from_json(*text);
  if (!found) {
    return std::nullopt;
  }
  found->library = std::move(library);
  const Result<std::string> binary = read_file(found->library);
  if (!binary || sha256(*binary) != found->record.binary_hash) {
    return std::nullopt;
  }
  note_use(name, 0);
  return found;
}

Result<CachedBuild> BuildCache::store(const fs::path& name, const std::string& binary,
                                      const BuildRecord& record,
                                      const std::string& diagnostics) const {
  CachedBuild out{folder_ / name, record, diagnostics};
  // The compiler may quote bytes of the source that are no UTF-8; they are replaced.
  const std::string text =
      to_json(record, diagnostics).dump(2, ' ', false, json::error_handler_t::replace);
  if (const Status written = write_file_unsynced(out.library, binary); !written) {
    return cache_error(written.error(), folder_);
  }
  if (const Status written = write_file_unsynced(record_of(out.library), text); !written) {
    return cache_error(written.error(), folder_);
  }
  note_use(name, static_cast<std::int64_t>(binary.size() + text.size()));
  return out;
}

}  // namespace kernelpro
