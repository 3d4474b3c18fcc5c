// The forms with a function for C: a header alone, a target of CMake, a library.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/report/export_parts.hpp"

namespace kernelpro::report {

namespace {

std::string flags_text(const Certificate& certificate) {
  return comment_text(fmt::format("{}", fmt::join(own_flags(certificate.build), " ")));
}

std::string heading_lines(const Certificate& certificate) {
  return fmt::format("// Made and judged by KernelPro {} on {}, as built with\n//   {} {}\n",
                     comment_text(certificate.program_version), comment_text(certificate.date),
                     comment_text(certificate.build.compiler_identity), flags_text(certificate));
}

// The declaration as C and C++ read it, within its guard.
std::string c_header(const Certificate& certificate) {
  return fmt::format(
      "{1}#ifndef {0}_H\n#define {0}_H\n\n#include <stdint.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{2}\n"
      "#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
      c_macro(certificate), heading_lines(certificate), c_declaration(certificate));
}

// The kernel and its function. Names that every kernel has become this one's own, so that a program
// may have several.
Result<std::string> definition(const Certificate& certificate, const std::string& header) {
  KP_LET(const std::string function, c_definition(certificate));
  std::string names;
  for (const char* one :
       {"kp_launch", "kp_workspace", "kp_state", "kp_prepare", "kp_implementation"}) {
    names += fmt::format("#define {0} {1}_{0}\n", one, c_name(certificate));
  }
  return fmt::format(
      "#include <stdlib.h>\n\n#include <algorithm>\n#include <cmath>\n#include <cstdint>\n\n{}\n"
      "// ---- the interface that the kernel is written against\n\n{}\n"
      "extern \"C\" int kp_launch(const kp_context*, const kp_tensor*, int32_t);\n\n"
      "// ---- the function, in terms of it\n\n{}\n// ---- the kernel\n\n{}",
      names, header, function, whole_source(certificate));
}

std::string use_section(const std::string& text, const Certificate& certificate) {
  std::string out = fmt::format("\n## Use\n\n{}\n```c\n{}```\n", text, c_declaration(certificate));
  if (certificate.task.entry) {
    out += fmt::format(
        "\n`{}` with the signature it had: `--as source`, or `--as patch` where KernelPro knows "
        "its file.\n",
        cell(certificate.task.entry->function));
  }
  return out + verify_section(certificate);
}

ExportFile readme_file(const Certificate& certificate, const std::string& use) {
  return {"README.md", readme_head(certificate) + use_section(use, certificate)};
}

std::string source_name_of(const Certificate& certificate) {
  return c_name(certificate) + source_extension(certificate);
}

// Header and source of the two forms that are built by somebody.
Result<std::vector<ExportFile>> sources(const Certificate& certificate, const std::string& header) {
  const std::string name = c_name(certificate);
  KP_LET(const std::string text, definition(certificate, header));
  return std::vector<ExportFile>{
      certificate_file(certificate),
      {name + ".h", c_header(certificate)},
      {source_name_of(certificate),
       heading_lines(certificate) + "#include \"" + name + ".h\"\n\n" + text}};
}

// As one argument of a command of CMake.
std::string cmake_word(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    out +=
        c == '"' || c == '\\' || c == '$' || c == ';' ? std::string("\\") + c : std::string(1, c);
  }
  return out + "\"";
}

// Folders that whoever builds it has to name.
std::string cmake_includes(const Certificate& certificate) {
  std::string out;
  for (const IncludedLibrary& library : certificate.build.includes) {
    out += fmt::format(
        "set({0} \"$ENV{{{0}}}\" CACHE PATH \"Folder of the headers of {1}\")\n"
        "if(NOT IS_DIRECTORY \"${{{0}}}\")\n"
        "  message(FATAL_ERROR \"-D{0}=DIR names the folder of the headers of {1}\")\n"
        "endif()\ntarget_include_directories({2} SYSTEM PRIVATE \"${{{0}}}\")\n",
        include_variable(library), plain_name(library.name), c_name(certificate));
  }
  return out;
}

// What the flags of the certificate are for CMake.
std::string cmake_flags(const Certificate& certificate) {
  const std::string name = c_name(certificate);
  const std::vector<std::string> flags = own_flags(certificate.build);
  std::string compile;
  std::string link;
  std::string libraries;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& flag = flags[i];
    if (flag.starts_with("-l") || flag.starts_with("-L")) {
      libraries += " " + cmake_word(flag);
    } else if (flag == "-Xptxas" && i + 1 < flags.size()) {
      compile += " " + cmake_word("SHELL:" + flag + " " + shell_word(flags[++i]));
    } else {
      compile += " " + cmake_word(comment_text(flag));
      link += flag.starts_with("-fopenmp") ? " " + cmake_word(flag) : "";
    }
  }
  std::string out = fmt::format("target_compile_options({} PRIVATE{})\n", name, compile);
  out += link.empty() ? "" : fmt::format("target_link_options({} PUBLIC{})\n", name, link);
  return out + (libraries.empty()
                    ? ""
                    : fmt::format("target_link_libraries({} PUBLIC{})\n", name, libraries));
}

// Of a function of the user's own: its name is in their program too, and here it stays inside.
const char* kind_of_library(const Certificate& certificate) {
  return certificate.task.entry ? " SHARED" : "";
}

std::string cmake_lists(const Certificate& certificate) {
  const std::string name = c_name(certificate);
  const char* language = certificate.candidate.backend == Backend::cuda ? "CUDA" : "CXX";
  return fmt::format(
      "# The flags are the certificate's: the result fits the machine it is built for.\n"
      "cmake_minimum_required(VERSION 3.18)\n"
      "project({0} LANGUAGES CXX{2})\n\n"
      "add_library({0}{3} {1})\n"
      "target_include_directories({0} PUBLIC \"${{CMAKE_CURRENT_SOURCE_DIR}}\")\n"
      "set_target_properties({0} PROPERTIES POSITION_INDEPENDENT_CODE ON\n"
      "  {4}_VISIBILITY_PRESET hidden{5})\n{6}",
      name, source_name_of(certificate), language == std::string_view("CUDA") ? " CUDA" : "",
      kind_of_library(certificate), language,
      language == std::string_view("CUDA") ? " CUDA_ARCHITECTURES OFF" : "",
      cmake_flags(certificate) + cmake_includes(certificate));
}

}  // namespace

Result<std::vector<ExportFile>> header_files(const Certificate& certificate,
                                             const std::string& header) {
  const std::string name = c_name(certificate);
  const bool gpu = certificate.candidate.backend == Backend::cuda;
  KP_LET(const std::string text, definition(certificate, header));
  const std::string kernel = fmt::format(
      "\n#if defined({0}_IMPLEMENTATION) && !defined({0}_IMPLEMENTED)\n#define {0}_IMPLEMENTED\n\n"
      "{1}\n#endif\n",
      c_macro(certificate), text);
  const std::string use = fmt::format(
      "Include `{0}.h` wherever the function is called, from C or C++. One {1} file of its own has "
      "the kernel:\n\n```cpp\n#define {2}_IMPLEMENTATION\n#include \"{0}.h\"\n```\n\n"
      "It was judged as built with `{3}`: build that file so.\n",
      name, gpu ? "CUDA (`.cu`)" : "C++", c_macro(certificate), cell(flags_text(certificate)));
  return std::vector<ExportFile>{readme_file(certificate, use),
                                 certificate_file(certificate),
                                 {name + ".h", c_header(certificate) + kernel}};
}

Result<std::vector<ExportFile>> cmake_files(const Certificate& certificate,
                                            const std::string& header) {
  KP_LET(std::vector<ExportFile> files, sources(certificate, header));
  files.push_back({"CMakeLists.txt", cmake_lists(certificate)});
  files.push_back(readme_file(
      certificate,
      fmt::format("```cmake\nadd_subdirectory(THIS_FOLDER)\ntarget_link_libraries(app PRIVATE "
                  "{0})\n```\n\nand `#include \"{0}.h\"`, from C or C++ (the project has the "
                  "language CXX{1}).\n",
                  c_name(certificate),
                  certificate.candidate.backend == Backend::cuda ? ", and gets CUDA" : "")));
  return files;
}

Result<std::vector<ExportFile>> library_files(const Certificate& certificate,
                                              const std::string& header) {
  const std::string name = c_name(certificate);
  KP_LET(std::vector<ExportFile> files, sources(certificate, header));
  files.push_back({"build.sh", library_script(certificate), true});
  files.push_back(readme_file(
      certificate,
      fmt::format(
          "`sh build.sh` makes `lib{0}.so` and `lib{0}.a`; `{0}.h` is for C and C++.\n\n```\n"
          "cc app.c -I. -L. -l{0} -Wl,-rpath,'$ORIGIN' -o app\n```\n\n"
          "From Python: `ctypes.CDLL(\"./lib{0}.so\").{0}`. {1}\n",
          name,
          certificate.task.entry
              ? "The static library has your function's own name in it: link the shared one where\n"
                "your program still has the original."
              : "Who links the static library links as C++ does.")));
  return files;
}

}  // namespace kernelpro::report
