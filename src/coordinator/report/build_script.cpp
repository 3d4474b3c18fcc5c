#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "coordinator/report/export_parts.hpp"

namespace kernelpro::report {

namespace {

std::string compiler_name(const BuildRecord& build) {
  return std::filesystem::path(build.compiler).filename().string();
}

bool is_for_linker(const std::string& flag) {
  return flag.starts_with("-Wl,") || flag.starts_with("-l");
}

// Folders that whoever builds it has to name, asked for before the first compiler runs.
std::string include_checks(const Certificate& certificate) {
  std::string out;
  for (const BuildRecord* build : {&certificate.build, &certificate.incumbent_build}) {
    for (const IncludedLibrary& library : build->includes) {
      const std::string line =
          fmt::format(": \"${{{}:?set it to the folder of the headers of {}}}\"\n",
                      include_variable(library), plain_name(library.name));
      out += out.find(line) == std::string::npos ? line : "";
    }
  }
  return out;
}

std::string include_flags(const BuildRecord& build) {
  std::string out;
  for (const IncludedLibrary& library : build.includes) {
    out += fmt::format(" -isystem \"${}\"", include_variable(library));
  }
  return out;
}

// The build line of the certificate; what the linker is told stands behind the source, as it did.
std::string build_line(const BuildRecord& build, const std::string& name, const std::string& file,
                       const std::string& folders) {
  std::string before;
  std::string after;
  for (const std::string& flag : build.flags) {
    (is_for_linker(flag) ? after : before) += " " + shell_word(flag);
  }
  before += include_flags(build);
  return fmt::format("\"${}_cxx\"{} {} {} -o lib{}.so{}\n", name, before, folders, file, name,
                     after);
}

// nvcc's, as it was.
std::string host_compiler(const BuildRecord& build) {
  const auto flag = std::ranges::find(build.flags, "-ccbin");
  return flag == build.flags.end() || flag + 1 == build.flags.end()
             ? ""
             : " -ccbin " + shell_word(*(flag + 1));
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string compiler_line(const BuildRecord& build, const std::string& name) {
  return fmt::format("# {}\n{}_cxx=${{{}_CXX:-{}}}\n", comment_text(build.compiler_identity), name,
                     upper(name), shell_word(compiler_name(build)));
}

}  // namespace

std::string build_script(const Certificate& certificate) {
  const bool device = certificate.candidate.backend == Backend::cuda;
  const std::string extension = source_extension(certificate);
  const char* kernel = entry_kernel(certificate) ? "adapter" : "kernel";
  const std::string rival = rival_name(certificate);
  const std::string rival_folders = rival_headers(certificate).empty() ? "-I." : "-I. -I" + rival;
  return fmt::format(
             "#!/bin/sh\n"
             "# Builds libkernel.so, lib{}.so and bench, with the compilers and flags of the\n"
             "# certificate. Other compilers: KERNEL_CXX=... {}_CXX=... sh build.sh\n"
             "set -eu\n"
             "cd \"$(dirname \"$0\")\"\n\n",
             rival, upper(rival)) +
         include_checks(certificate) + (device ? "PATH=\"$PATH:/usr/local/cuda/bin\"\n" : "") +
         compiler_line(certificate.build, "kernel") +
         compiler_line(certificate.incumbent_build, rival) + "\n" +
         build_line(certificate.build, "kernel", kernel + extension, "-I.") +
         build_line(certificate.incumbent_build, rival, rival + extension, rival_folders) +
         (device ? fmt::format("\"$kernel_cxx\" -std=c++20 -O2{} -I. bench.cu -o bench -ldl\n",
                               host_compiler(certificate.build))
                 : "\"$kernel_cxx\" -std=c++20 -O2 -pthread -I. bench.cpp -o bench -ldl\n");
}

std::string library_script(const Certificate& certificate) {
  const bool device = certificate.candidate.backend == Backend::cuda;
  const std::string name = c_name(certificate);
  std::string flags;
  std::string link;  // not -ffast-math, which would change how its users compute
  for (const std::string& flag : own_flags(certificate.build)) {
    flags += is_for_linker(flag) ? "" : " " + shell_word(flag);
    link += is_for_linker(flag) || flag.starts_with("-L") || flag.starts_with("-fopenmp")
                ? " " + shell_word(flag)
                : "";
  }
  return fmt::format(
      "#!/bin/sh\n"
      "# Builds lib{0}.so and lib{0}.a with the compiler and flags of the certificate.\n"
      "# Another compiler: KERNEL_CXX=... sh build.sh\n"
      "set -eu\n"
      "cd \"$(dirname \"$0\")\"\n\n"
      "{1}{2}\n"
      "\"$kernel_cxx\"{3} {4} -c {0}{5} -o {0}.o\n"
      "\"$kernel_cxx\" -shared {0}.o -o lib{0}.so{6}\n"
      "ar rcs lib{0}.a {0}.o\n",
      name, include_checks(certificate) + (device ? "PATH=\"$PATH:/usr/local/cuda/bin\"\n" : ""),
      compiler_line(certificate.build, "kernel"), flags + include_flags(certificate.build),
      device ? "-Xcompiler -fPIC,-fvisibility=hidden" : "-fPIC -fvisibility=hidden",
      source_extension(certificate), link);
}

}  // namespace kernelpro::report
