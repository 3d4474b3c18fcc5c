// Turns a source into a shared object (or a cubin): jailed, cached, timed out, with options from an
// allow-list.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/certificate.hpp"

namespace kernelpro {

struct Compiler {
  std::string name;  // "g++", "clang++-19", "nvcc": what options and tasks say
  std::string path;
  std::string identity;  // its line of --version that has the version
  // Probed: they build *and run* here; empty: generic. Of nvcc: the architecture, which only
  // builds.
  std::vector<std::string> target_flags;
  std::vector<std::string> openmp_flags;  // probed likewise; empty: no OpenMP
  std::string host_compiler;  // of nvcc: the g++ that it runs; empty: makes code for this processor
};

struct BuildRequest {
  std::string source;
  std::string compiler;                      // empty: the first compiler
  std::vector<std::string> options;          // checked against the allow-list
  std::vector<std::string> libraries;        // "openblas" becomes -lopenblas; [a-zA-Z0-9_]+
  std::map<std::string, std::string> files;  // headers laid beside the source, by plain name
  // Not nvcc: with line information, and what the compiler says of loops that it does not vectorize
  // in the diagnostics. The machine code is the same without.
  bool remarks = false;
  bool cubin = false;  // nvcc only: device code alone, for cuModuleLoad
};

struct BuildOutcome {
  bool ok = false;
  bool cached = false;
  bool timed_out = false;
  std::string rule;         // "build_option" or "private_file" when the build tried what it may not
  std::string diagnostics;  // what the compiler said, capped
  std::filesystem::path library;  // or the cubin, or PyTorch's module
  std::string torch_mode;         // not empty: nothing was built, PyTorch runs the source so
  BuildRecord record;
  std::int64_t wall_ns = 0;  // 0 when cached
};

struct ToolchainSettings {
  std::filesystem::path cache;        // cache_directory()
  std::filesystem::path abi_include;  // the folder that holds kernelpro/candidate.h
  std::filesystem::path jail;         // kernelpro-jail
  bool landlock = true;
  std::string cuda_architecture;           // of the device, as "90a"; empty: 90a
  std::int64_t cache_bytes = 2LL << 30;    // of builds; those used longest ago go first
  std::int64_t build_timeout_ms = 60'000;  // of the processors, for each step of a build
  std::int64_t lock_timeout_ms = 120'000;  // how long a timing of somebody else is waited for
};

// Thread-safe: several builds may run at once.
class Toolchain {
 public:
  // Finds the compilers (g++-12 or g++, clang++-19) and probes their targets by building and
  // running a vectorized program in the jail; probes are cached by compiler identity and processor.
  // An environment error when there is no compiler at all, saying which package to install.
  // nvcc is optional and comes last; it is probed by building a small kernel.
  [[nodiscard]] static Result<Toolchain> open(const ToolchainSettings& settings);
  Toolchain(Toolchain&&) noexcept;
  Toolchain& operator=(Toolchain&&) noexcept;
  ~Toolchain();

  [[nodiscard]] const std::vector<Compiler>& compilers() const;
  // The compiler of that name ("" is the first; "g++-12" is "g++" where that has version 12); an
  // environment error lists the known ones, and for nvcc says what is missing.
  [[nodiscard]] Result<Compiler> find(const std::string& name) const;

  // What was built or found so far stays in the cache while this object lives.
  void hold_builds() const;

  // What sources may include from now on, beside the system's; not while something is built. The
  // build of a source sees exactly what it includes, and that is in the record and in the key.
  [[nodiscard]] Status use_headers(std::vector<HeaderLibrary> libraries);

  // A failed build is a value (`ok` is false), also one by a compiler that nobody knows; an error
  // means that no build could be tried: the compiler is not installed, disk full, no landlock, or
  // `busy` when a timing held the CPU for the whole of lock_timeout_ms (a caller that holds that
  // lock itself would wait in vain). The key of the cache is the source as written and as
  // preprocessed, the flags, the compiler and the processor; nvcc's is explained in build.cpp.
  [[nodiscard]] Result<BuildOutcome> build(const BuildRequest& request,
                                           std::stop_token stop = {}) const;

 private:
  struct State;
  explicit Toolchain(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelpro
