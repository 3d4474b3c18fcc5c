#include "worker/oracle/torch.hpp"

#include <algorithm>
#include <cstdlib>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/base/python.hpp"
#include "common/model/torch_mode.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t import_timeout_ms = 120'000;
constexpr std::int64_t open_files = 4096;
constexpr std::int64_t file_bytes = 1LL << 34;

}  // namespace

Result<RunnerSettings> torch_runner(const TorchSettings& settings, const std::string& mode) {
  KP_LET(const Python python, python_with_torch());
  RunnerSettings out;
  out.jail = settings.jail;
  out.program = python.path;
  out.arguments = {settings.script, mode};
  if (settings.warm) {
    out.arguments.emplace_back("warm");
  }
  out.threads = settings.threads;
  out.stop = settings.stop;
  out.greeting_timeout_ms = import_timeout_ms;
  out.greet_later = true;
  // It runs the user's own module and nothing of a candidate's.
  out.policy.landlock = false;
  out.policy.drop_user = false;
  out.policy.open_files = open_files;
  // torch.compile writes what it compiles.
  out.policy.file_bytes = file_bytes;
  // Outputs are allocated in every call. Memory that went back to the system in between would come
  // again page by page, in some processes and not in others.
  out.environment = {"MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=68719476736",
                     // What a candidate reads and writes is mapped like this too.
                     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                     "CUDA_VISIBLE_DEVICES=" + settings.device};
  for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_HOME", "TMPDIR"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      out.environment.push_back(std::string(name) + "=" + value);
    }
  }
  return out;
}

Result<BuildOutcome> torch_build(const std::string& source, const std::vector<std::string>& options,
                                 const fs::path& folder) {
  const std::string mode = options.empty() ? fp32_mode : options.front();
  if (options.size() > 1 ||
      std::find(std::begin(torch_modes), std::end(torch_modes), mode) == std::end(torch_modes)) {
    return make_error(ErrorKind::bad_input,
                      "PyTorch runs a module as one of eager, eager-fp32, eager-tf32 and compile, "
                      "not as \"" +
                          mode + "\"");
  }
  KP_LET(const Python python, python_with_torch());
  BuildOutcome out;
  out.ok = true;
  out.cached = true;
  out.torch_mode = mode;
  out.record.compiler = python.path;
  out.record.compiler_identity = "PyTorch " + python.torch;
  out.record.source_hash = sha256(source);
  out.record.binary_hash = out.record.source_hash;
  out.library = folder / (out.record.source_hash + ".py");
  KP_TRY(write_file_unsynced(out.library, source));
  return out;
}

}  // namespace kernelpro
