#include "worker/toolchain/build_cache.hpp"

#include <nlohmann/json.hpp>
#include <utility>

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
  return found;
}

Result<CachedBuild> BuildCache::store(const fs::path& name, const std::string& binary,
                                      const BuildRecord& record,
                                      const std::string& diagnostics) const {
  CachedBuild out{folder_ / name, record, diagnostics};
  // The compiler may quote bytes of the source that are no UTF-8; they are replaced.
  const std::string text =
      to_json(record, diagnostics).dump(2, ' ', false, json::error_handler_t::replace);
  if (const Status written = write_file_atomic(out.library, binary); !written) {
    return cache_error(written.error(), folder_);
  }
  if (const Status written = write_file_atomic(record_of(out.library), text); !written) {
    return cache_error(written.error(), folder_);
  }
  return out;
}

}  // namespace kernelpro
