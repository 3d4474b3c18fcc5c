#include "worker/toolchain/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "worker/toolchain/cuda.hpp"
#include "worker/toolchain/option_words.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
bool any_starts_with(const Words& words, std::string_view prefix) {
  return std::ranges::any_of(
      words, [prefix](const std::string& word) { return word.starts_with(prefix); });
}

// `standard` and -O2, where the request does not choose. The -O after -Xptxas is not the host's.
Words defaults(const Words& options, const char* standard) {
  Words words;
  if (!any_starts_with(options, "-std=")) {
    words.emplace_back(standard);
  }
  bool chosen = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    chosen = chosen || (options[i].starts_with("-O") && (i == 0 || options[i - 1] != "-Xptxas"));
  }
  if (!chosen) {
    words.emplace_back("-O2");
  }
  return words;
}

Result<BuildFlags> processor_flags(const BuildRequest& request, const Compiler& compiler) {
  BuildFlags flags;
  flags.compile = defaults(request.options, "-std=c++20");
  for (const std::string& option : request.options) {
    if (option == "target") {
      append(flags.compile, compiler.target_flags);
    } else if (option == "openmp") {
      if (compiler.openmp_flags.empty()) {
        return make_error(ErrorKind::environment,
                          "no OpenMP program could be built and run with this compiler; install "
                          "its OpenMP library (libgomp1 for g++, libomp-19-dev for clang++-19)",
                          compiler.name);
      }
      append(flags.compile, compiler.openmp_flags);
    } else {
      flags.compile.push_back(option);
    }
  }
  // g++ ignores pragmas it does not know, such as `omp tile`, without a word.
  append(flags.compile, {"-shared", "-fPIC", "-fvisibility=hidden", "-Werror=unknown-pragmas",
                         "-frandom-seed=kernelpro"});
  if (request.remarks) {
    const bool clang = compiler.name.find("clang") != std::string::npos;
    append(flags.compile,
           clang ? Words{"-g1", "-Rpass-missed=loop-vectorize", "-Rpass-analysis=loop-vectorize"}
                 : Words{"-g1", "-fopt-info-vec-missed"});
  }
  // Undefined symbols fail here, with the compiler's text, and not when the candidate is loaded.
  flags.link = {"-Wl,-z,now", "-Wl,-z,defs"};
  for (const std::string& library : request.libraries) {
    flags.link.push_back("-l" + library);
  }
  return flags;
}

// cuBLAS and its kind are found beside nvcc, when linking and when the candidate is loaded.
Words cuda_libraries(const Words& libraries, const Compiler& nvcc) {
  Words words;
  const fs::path folder = toolkit_libraries(nvcc);
  if (!libraries.empty() && !folder.empty()) {
    words = {"-L" + folder.string(), "-Xlinker", "-rpath," + folder.string()};
  }
  for (const std::string& library : libraries) {
    words.push_back("-l" + library);
  }
  return words;
}

BuildFlags cuda_flags(const BuildRequest& request, const Compiler& nvcc) {
  BuildFlags flags;
  flags.read = {toolkit_folder(nvcc).string()};
  flags.compile = defaults(request.options, "-std=c++17");
  append(flags.compile, nvcc.target_flags);
  append(flags.compile, {"-ccbin", nvcc.host_compiler, "-lineinfo", "-Xptxas", "-v"});
  append(flags.compile, request.options);
  if (request.cubin) {
    flags.compile.emplace_back("-cubin");
    return flags;
  }
  // Whole programs only (-rdc is not allowed), so there is nothing to link on the device.
  append(flags.compile, {"-shared", "-nodlink", "-Xcompiler",
                         "-fPIC,-fvisibility=hidden,-ffunction-sections,-frandom-seed=kernelpro"});
  // Stripped: the names of nvcc's temporary files, which no two builds share, are in the symbols.
  // Without what nothing reaches: a main() beside the function may call libraries that are not
  // here.
  flags.link = {"-Xlinker", "-z,now,-z,defs,-s,--gc-sections,--build-id=none"};
  append(flags.link, cuda_libraries(request.libraries, nvcc));
  return flags;
}

bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name[0] != '-' && name != cpp_source_name &&
         name != cuda_source_name && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

}  // namespace

Result<BuildFlags> build_flags(const BuildRequest& request, const Compiler& compiler) {
  if (is_cuda(compiler)) {
    return cuda_flags(request, compiler);
  }
  if (request.cubin) {
    return make_error(ErrorKind::bad_input, "only nvcc builds a cubin; ask for that compiler",
                      compiler.name);
  }
  return processor_flags(request, compiler);
}

Status check_names(const BuildRequest& request) {
  for (const auto& [name, text] : request.files) {
    if (!is_plain_file_name(name)) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("file name \"{}\" is refused: expected a plain name without a "
                                    "folder, a leading dot or dash, and not {} or {}",
                                    name, cpp_source_name, cuda_source_name));
    }
  }
  for (const std::string& library : request.libraries) {
    if (library.empty() || !is_made_of(library, "_")) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("library name \"{}\" is refused: expected a name of letters, "
                                    "digits and _ such as openblas",
                                    library));
    }
  }
  return {};
}

}  // namespace kernelpro
