#include "worker/toolchain/toolchain.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/base/machine_lock.hpp"
#include "common/base/process.hpp"
#include "worker/toolchain/build.hpp"
#include "worker/toolchain/build_cache.hpp"
#include "worker/toolchain/cuda.hpp"
#include "worker/toolchain/flags.hpp"
#include "worker/toolchain/options.hpp"
#include "worker/toolchain/probe.hpp"
#include "worker/toolchain/processor.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

struct KnownCompiler {
  std::string_view name;
  std::array<std::string_view, 2> programs;  // the first that exists is taken
};

constexpr auto known_compilers = std::to_array<KnownCompiler>({
    {"g++", {"g++-12", "g++"}},
    {"clang++-19", {"clang++-19", ""}},
});

// Not by PATH: a wrapper that shadows the compiler there (ccache, distcc) could not run in the
// jail, and the jail shows these folders only.
std::optional<std::string> find_compiler(const KnownCompiler& known) {
  for (const std::string_view program : known.programs) {
    for (const std::string_view folder : {"/usr/bin/", "/bin/"}) {
      std::string path = std::string(folder) + std::string(program);
      if (!program.empty() && access(path.c_str(), X_OK) == 0) {
        return path;
      }
    }
  }
  return std::nullopt;
}

// The first line; nvcc has its version in a later one.
std::string version_line(const std::string& text) {
  const std::size_t tools = text.find("Cuda compilation tools");
  const std::size_t start = tools == std::string::npos ? 0 : tools;
  return text.substr(start, text.find('\n', start) - start);
}

Result<Compiler> look_at_compiler(std::string_view name, const std::string& path) {
  Command command;
  command.arguments = {path, "--version"};
  command.environment = {{"LC_ALL", "C"}};
  KP_LET(const Finished finished, run_command(command));
  if (!finished.succeeded()) {
    return make_error(ErrorKind::environment, "--version failed: " + finished.errors, path);
  }
  Compiler compiler;
  compiler.name = name;
  compiler.path = path;
  compiler.identity = version_line(finished.output);
  return compiler;
}

// "12" of "g++-12 (Debian 12.2.0-14) 12.2.0".
std::string major_version(const std::string& identity) {
  const std::size_t space = identity.rfind(' ');
  const std::string version = space == std::string::npos ? "" : identity.substr(space + 1);
  return version.substr(0, version.find('.'));
}

// "g++" may also be asked for with its version, as in "g++-12".
bool answers_to(const Compiler& compiler, const std::string& name) {
  return compiler.name == name ||
         (compiler.name == "g++" && name == "g++-" + major_version(compiler.identity));
}

// Whether a compiler of that name may be installed: then it is not the candidate's fault that it is
// not here.
bool may_be_asked_for(const std::string& name) {
  return name.empty() || name == nvcc_name ||
         std::ranges::find(known_compilers, name, &KnownCompiler::name) != known_compilers.end();
}

Error no_compiler(const std::string& problems) {
  return make_error(ErrorKind::environment,
                    "no C++ compiler can be used: install the package g++-12 (or g++), and "
                    "clang-19 with libomp-19-dev if you want clang++-19 too" +
                        problems);
}

Status check_settings(const ToolchainSettings& settings) {
  if (access(settings.jail.c_str(), X_OK) != 0) {
    return make_error(ErrorKind::environment,
                      "kernelpro-jail is not there, and compilers run only under it; reinstall "
                      "KernelPro or build the target kernelpro-jail",
                      settings.jail.string());
  }
  std::error_code failure;
  if (!fs::exists(settings.abi_include / "kernelpro" / "candidate.h", failure)) {
    return make_error(ErrorKind::environment,
                      "kernelpro/candidate.h is not in this folder; reinstall KernelPro or set "
                      "KERNELPRO_SHARE",
                      settings.abi_include.string());
  }
  return {};
}

Result<Compiler> open_nvcc(const ToolchainSettings& settings,
                           const std::vector<Compiler>& compilers) {
  const std::optional<std::string> path = find_nvcc();
  if (!path) {
    return make_error(
        ErrorKind::environment,
        "there is no nvcc in $CUDA_HOME/bin, /usr/local/cuda/bin or /usr/bin; install "
        "the CUDA toolkit, or set CUDA_HOME to its folder");
  }
  const auto host = std::ranges::find(compilers, "g++", &Compiler::name);
  if (host == compilers.end()) {
    return make_error(ErrorKind::environment,
                      "nvcc needs g++ for the code of the processor, and it is not here; install "
                      "the package g++",
                      *path);
  }
  KP_LET(Compiler nvcc, look_at_compiler(nvcc_name, *path));
  nvcc.host_compiler = host->path;
  KP_TRY(probe_nvcc(settings, nvcc));
  return nvcc;
}

}  // namespace

struct Toolchain::State {
  ToolchainSettings settings;
  BuildCache cache;
  Processor processor;
  std::vector<Compiler> compilers;
  std::optional<Error> nvcc_problem;  // why nvcc is not among them
  std::optional<HeaderTree> headers = std::nullopt;
};

Toolchain::Toolchain(std::unique_ptr<State> state) : state_(std::move(state)) {}
Toolchain::Toolchain(Toolchain&&) noexcept = default;
Toolchain& Toolchain::operator=(Toolchain&&) noexcept = default;
Toolchain::~Toolchain() = default;

Result<Toolchain> Toolchain::open(const ToolchainSettings& settings) {
  KP_TRY(check_settings(settings));
  KP_LET(BuildCache cache, BuildCache::open(settings.cache / "builds", settings.cache_bytes));
  auto state = std::make_unique<State>(State{settings, std::move(cache), this_processor(), {}, {}});
  std::string problems;
  for (const KnownCompiler& known : known_compilers) {
    const std::optional<std::string> path = find_compiler(known);
    if (!path) {
      continue;
    }
    Result<Compiler> compiler = look_at_compiler(known.name, *path);
    if (!compiler) {
      problems += "\n" + compiler.error().text();
      continue;
    }
    const Status probed = probe_compiler(settings, state->processor, *compiler);
    if (probed) {
      state->compilers.push_back(std::move(*compiler));
    } else if (probed.error().kind == ErrorKind::environment) {
      problems += "\n" + probed.error().text();
    } else {
      return probed.error();
    }
  }
  if (state->compilers.empty()) {
    return no_compiler(problems);
  }
  Result<Compiler> nvcc = open_nvcc(settings, state->compilers);
  if (nvcc) {
    state->compilers.push_back(std::move(*nvcc));
  } else {
    state->nvcc_problem = nvcc.error();
  }
  return Toolchain(std::move(state));
}

const std::vector<Compiler>& Toolchain::compilers() const {
  return state_->compilers;
}

void Toolchain::hold_builds() const {
  state_->cache.hold();
}

Status Toolchain::use_headers(std::vector<HeaderLibrary> libraries) {
  state_->headers.reset();
  if (!libraries.empty()) {
    KP_LET(state_->headers, HeaderTree::lay(std::move(libraries)));
  }
  return {};
}

Result<Compiler> Toolchain::find(const std::string& name) const {
  if (name.empty()) {
    return state_->compilers.front();
  }
  std::string known;
  for (const Compiler& compiler : state_->compilers) {
    if (answers_to(compiler, name)) {
      return compiler;
    }
    known += (known.empty() ? "" : ", ") + compiler.name;
  }
  if (name == nvcc_name && state_->nvcc_problem) {
    return *state_->nvcc_problem;
  }
  return make_error(ErrorKind::environment,
                    fmt::format("there is no compiler \"{}\" here; known are: {}", name, known));
}

Result<BuildOutcome> Toolchain::build(const BuildRequest& request, std::stop_token stop) const {
  KP_TRY(check_names(request));
  const std::optional<RefusedOption> refused = request.compiler == nvcc_name
                                                   ? refused_cuda_option(request.options)
                                                   : refused_option(request.options);
  if (refused) {
    BuildOutcome outcome;
    outcome.rule = refused->reaches_out ? "build_option" : "";
    outcome.diagnostics = refused->message;
    return outcome;
  }
  const Result<Compiler> compiler = find(request.compiler);
  if (!compiler && !may_be_asked_for(request.compiler)) {
    BuildOutcome outcome;
    outcome.diagnostics = compiler.error().message;
    return outcome;
  }
  if (!compiler) {
    return compiler.error();
  }
  KP_LET(const BuildFlags flags, build_flags(request, *compiler));
  const ToolchainSettings& settings = state_->settings;
  KP_LET(const MachineLock lock,
         MachineLock::acquire("cpu", LockMode::build, settings.lock_timeout_ms, stop));
  return build_in_jail({settings, state_->cache, state_->processor, *compiler, flags,
                        state_->headers ? &*state_->headers : nullptr},
                       request, std::move(stop));
}

}  // namespace kernelpro
