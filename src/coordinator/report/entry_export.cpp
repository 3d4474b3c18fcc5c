#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "common/model/adapter.hpp"
#include "coordinator/report/export_parts.hpp"

namespace kernelpro::report {

namespace {

// The adapter that the task put around its own baseline.
std::optional<std::string> task_adapter(const Task& task) {
  for (const ImplementationSpec& baseline : task.baselines) {
    const auto source = task.files.find(baseline.file);
    if (baseline.backend != task.entry->backend || source == task.files.end()) {
      continue;
    }
    if (const auto parts = take_adapter_off(source->second)) {
      return parts->block;
    }
  }
  return std::nullopt;
}

std::string copies_text(const EntrySpec& entry) {
  std::string names;
  for (const auto& [output, input] : entry.copies) {
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", cell(output));
  }
  return names.empty() ? ""
                       : fmt::format(
                             "\nThe times of both sides include a copy of {}, which is read "
                             "and written; calls of yours have none.\n",
                             names);
}

}  // namespace

std::vector<std::string> own_flags(const BuildRecord& build) {
  static const std::vector<std::string> ours = {"-shared", "-fPIC", "-nodlink", "-lineinfo",
                                                "-fvisibility=hidden"};
  static const std::vector<std::string> ours_with_value = {"-ccbin", "-Xcompiler", "-Xlinker"};
  const auto contains = [](const std::vector<std::string>& list, const std::string& flag) {
    return std::ranges::find(list, flag) != list.end();
  };
  std::vector<std::string> out;
  for (std::size_t i = 0; i < build.flags.size(); ++i) {
    const std::string& flag = build.flags[i];
    const std::string next = i + 1 < build.flags.size() ? build.flags[i + 1] : "";
    if (contains(ours_with_value, flag) || (flag == "-Xptxas" && next == "-v")) {
      ++i;
    } else if (!contains(ours, flag) && !flag.starts_with("-Wl,") &&
               !flag.starts_with("-frandom-seed") && !flag.starts_with("-Werror")) {
      out.push_back(flag);
    }
  }
  return out;
}

std::optional<EntryKernel> entry_kernel(const Certificate& certificate) {
  const Task& task = certificate.task;
  if (!task.entry || task.entry->backend != certificate.candidate.backend) {
    return std::nullopt;
  }
  const auto parts = take_adapter_off(certificate.candidate.source);
  const auto adapter = task_adapter(task);
  // Another block may call something else than the author's function.
  if (!parts || !adapter || parts->block != *adapter) {
    return std::nullopt;
  }
  const std::string extension = source_extension(certificate);
  return EntryKernel{parts->own, "#include \"kernelpro/candidate.h\"\n\n#include \"kernel" +
                                     extension + "\"\n\n" + parts->block};
}

std::string source_extension(const Certificate& certificate) {
  return std::string(traits_of(certificate.candidate.backend).extension);
}

std::string entry_section(const Certificate& certificate) {
  const EntrySpec& entry = *certificate.task.entry;
  const std::string extension = source_extension(certificate);
  const std::size_t scope = entry.function.rfind("::");
  std::string out = fmt::format(
      "\n## Use\n\n`kernel{0}` takes the place of your file. It has your function, with the "
      "signature it had{1}:\n\n```cpp\n{2};\n```\n\nIt was judged as built with `{3}`"
      " and called with `({4})`.\n`adapter{0}` and `kernelpro/candidate.h` are for `bench` only.\n",
      extension,
      scope == std::string::npos ? ""
                                 : fmt::format(", in `{}`", cell(entry.function.substr(0, scope))),
      comment_text(entry.signature),
      cell(fmt::format("{}", fmt::join(own_flags(certificate.build), " "))),
      cell(fmt::format("{}", fmt::join(entry.arguments, ", "))));
  if (certificate.task.reference.baseline) {
    out +=
        "\nExpected values were those of the original: it is right where the original was, within "
        "rounding.\n";
  }
  return out + copies_text(entry);
}

}  // namespace kernelpro::report
