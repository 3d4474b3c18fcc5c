#include "worker/oracle/torch.hpp"

#include <cstdlib>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/python.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t import_timeout_ms = 120'000;
constexpr std::int64_t open_files = 4096;

}  // namespace

Result<RunnerSettings> torch_runner(const TorchSettings& settings, TorchRole role) {
  const Result<Python> python = python_with_torch();
  if (!python) {
    return python.error();
  }
  RunnerSettings out;
  out.jail = settings.jail;
  out.program = python->path;
  out.arguments = {settings.script, role == TorchRole::reference ? "reference" : "eager"};
  out.threads = settings.threads;
  out.stop = settings.stop;
  out.greeting_timeout_ms = import_timeout_ms;
  // It runs the user's own module and nothing of a candidate's.
  out.policy.landlock = false;
  out.policy.drop_user = false;
  out.policy.open_files = open_files;
  // Outputs are allocated in every call. Memory that went back to the system in between would come
  // again page by page, in some processes and not in others.
  out.environment = {"MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=68719476736"};
  for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      out.environment.push_back(std::string(name) + "=" + value);
    }
  }
  return out;
}

Result<BuildOutcome> torch_build(const std::string& source, const fs::path& folder) {
  const Result<Python> python = python_with_torch();
  if (!python) {
    return python.error();
  }
  BuildOutcome out;
  out.ok = true;
  out.cached = true;
  out.torch = true;
  out.record.compiler = python->path;
  out.record.compiler_identity = "PyTorch " + python->torch;
  out.record.source_hash = sha256(source);
  out.record.binary_hash = out.record.source_hash;
  out.library = folder / (out.record.source_hash + ".py");
  KP_TRY(write_file_atomic(out.library, source));
  return out;
}

}  // namespace kernelpro
