#include <fmt/format.h>

#include <cctype>
#include <string>
#include <vector>

#include "coordinator/report/export_parts.hpp"
#include "coordinator/report/speed_text.hpp"
#include "coordinator/report/table.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro::report {

std::string cell(const std::string& text) {
  std::string out;
  for (const char c : comment_text(text)) {
    out += c == '|' ? std::string("\\|") : std::string(1, c);
  }
  return out;
}

std::string values_text(const TensorSpec& input) {
  const ValueSpec& values = input.values;
  const std::string bound = cell(values.bound.text());
  switch (values.kind) {
    case ValueKind::normal:
      return "any";
    case ValueKind::uniform:
      return fmt::format("in [{}, {})", values.low, values.high);
    case ValueKind::index:
      return "in [0, " + bound + ")";
    case ValueKind::offsets:
      return "rising from 0 to " + bound;
    case ValueKind::drawn:
      return "as the reference draws them";
    case ValueKind::csr_columns:
      return fmt::format("sorted and distinct within each row of `{}`, in [0, {})",
                         cell(values.rows_of), bound);
  }
  return "any";
}

namespace {

std::string shape_formula(const TensorSpec& tensor) {
  std::string out;
  for (const Formula& extent : tensor.shape) {
    out += (out.empty() ? "" : " × ") + cell(extent.text());
  }
  return out;
}

std::string tensor_rows(const Task& task) {
  std::string out = "| # | tensor | type | shape | |\n|---|---|---|---|---|\n";
  std::size_t place = 0;
  for (const TensorSpec& input : task.inputs) {
    out += fmt::format("| {} | `{}` | `{}` | {} | input, {}{} |\n", place++, cell(input.name),
                       cpp_type(input.dtype), shape_formula(input),
                       input.constant ? "constant, " : "", values_text(input));
  }
  for (const TensorSpec& output : task.outputs) {
    out += fmt::format("| {} | `{}` | `{}` | {} | output |\n", place++, cell(output.name),
                       cpp_type(output.dtype), shape_formula(output));
  }
  return out;
}

std::string argument_lists(const Task& task) {
  std::string out = "`context->axes`:";
  std::size_t place = 0;
  for (const AxisSpec& axis : task.axes) {
    out += fmt::format("{} [{}] `{}`{}", place == 0 ? "" : ",", place, cell(axis.name),
                       axis.derived ? " = " + cell(axis.derived->text()) : "");
    ++place;
  }
  out += ".\n";
  if (task.scalars.empty()) {
    return out + "There are no scalars.\n";
  }
  out += "`context->scalars`, as `double`:";
  place = 0;
  for (const ScalarSpec& scalar : task.scalars) {
    out += fmt::format("{} [{}] `{}` ({}, judged in [{}, {}])", place == 0 ? "" : ",", place,
                       cell(scalar.name), name_of(scalar.dtype), scalar.low, scalar.high);
    ++place;
  }
  return out + ".\n";
}

}  // namespace

std::string measured(const Certificate& certificate, const std::string& rival) {
  const Timing& timing = certificate.verdict.timing;
  std::string out = fmt::format(
      "| shape | kernel | {} | speed-up | 95 % interval | of the machine's bound |\n"
      "|---|---|---|---|---|---|\n",
      rival);
  for (const ShapeTiming& shape : timing.shapes) {
    const bool alone = shape.at_least && shape.incumbent_alone_ns > 0;
    out += fmt::format(
        "| {} | {} | {}{} | {}{:.3f} | [{:.3f}, {:.3f}] | {} ({}) |\n",
        cell(shape_text(certificate.task, shape.shape)), duration_text(shape.candidate_ns),
        duration_text(alone ? shape.incumbent_alone_ns : shape.incumbent_ns), alone ? " alone" : "",
        shape.at_least ? "at least " : "", shape.speedup, shape.speedup_interval.low,
        shape.speedup_interval.high, share_words(shape.share_of_bound), cell(shape.bound_by));
  }
  out += fmt::format("\nTogether (geometric mean): {}{:.3f} [{:.3f}, {:.3f}].\n",
                     timing.at_least ? "at least " : "", timing.speedup,
                     timing.speedup_interval.low, timing.speedup_interval.high);
  if (timing.at_least) {
    out += fmt::format(
        "\"At least\": the {0} ran slower beside other work than alone, so the speed-up is against "
        "the\n{0} at its best.\n",
        rival);
  }
  if (timing.shapes.front().prepare_ns > 0) {
    out += fmt::format("`kp_prepare` takes {} more, once for each set of constant inputs.\n",
                       duration_text(timing.shapes.front().prepare_ns));
  }
  return out;
}

std::string warnings(const Verdict& verdict) {
  std::string out;
  if (verdict.suspect) {
    out += "\n**Suspect**: the clocks or the machine's bound leave doubt about the speed.\n";
    for (const std::string& suspicion : verdict.suspicions) {
      out += "- " + cell(suspicion) + "\n";
    }
  }
  for (const std::string& remark : verdict.remarks) {
    out += "\nRemark: " + cell(remark) + "\n";
  }
  if (!verdict.verified) {
    out += "\n**Unverified**: it was judged without a sandbox.\n";
  }
  if (verdict.precision != "contract") {
    out += fmt::format("\n**Lower precision**: accepted as {}.\n", cell(verdict.precision));
  }
  return out;
}

namespace {

std::string build_section(const Certificate& certificate, const std::string& rival) {
  std::string out = fmt::format(
      "\n## Build and measure\n\n```\nsh build.sh\n./bench\n```\n\n"
      "`build.sh` uses the certificate's compilers and flags, so the result fits the processor it\n"
      "is built for; build anew on another. `bench` times `libkernel.so` against `lib{}.so` and\n"
      "prints the certificate's figures beside; it exits with 1 when a call fails or the outputs\n"
      "disagree.",
      rival);
  if (certificate.candidate.backend == Backend::cuda) {
    return out + " It takes the time by events on a stream, on the first GPU.\n";
  }
  return out +
         fmt::format(
             " It uses {} thread(s), as the certificate did, unless told `--threads N`; OpenMP's\n"
             "threads are bound to processors as they were then, unless `OMP_PROC_BIND` and "
             "`OMP_PLACES`\nsay otherwise.\n",
             certified_threads(certificate));
}

std::string gpu_text(const Certificate& certificate) {
  const auto& gpus = certificate.machine.gpus;
  return certificate.candidate.backend == Backend::cuda && !gpus.empty()
             ? fmt::format("GPU: {}, driver {}.\n", cell(gpus.front().name),
                           cell(gpus.front().driver))
             : "";
}

}  // namespace

std::string include_variable(const IncludedLibrary& library) {
  std::string out = "KP_INCLUDE_";
  for (const char c : plain_name(library.name)) {
    out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string includes_section(const Certificate& certificate) {
  if (certificate.build.includes.empty()) {
    return "";
  }
  std::string out =
      "\n## Headers\n\nThe kernel includes headers that are not in this folder. A build needs the "
      "folder of each,\nas a compiler gets it with `-I`; the certificate has the hash of every "
      "header.\n\n| library | commit | headers | hash | folder |\n|---|---|---|---|---|\n";
  for (const IncludedLibrary& library : certificate.build.includes) {
    out += fmt::format("| {} | {} | {} | `{}` | `{}` |\n", cell(library.name),
                       library.commit.empty() ? "not known" : "`" + cell(library.commit) + "`",
                       library.files.size(), cell(library.hash), include_variable(library));
  }
  return out;
}

std::string verify_section(const Certificate& certificate) {
  std::string includes;
  for (const IncludedLibrary& library : certificate.build.includes) {
    includes += fmt::format(" --include {}=DIR", cell(library.name));
  }
  return fmt::format(
      "\n## Verify\n\n`kernelpro verify certificate.json{}` repeats the whole judgment: "
      "correctness on new inputs,\nhonesty and speed.\n",
      includes);
}

std::string readme_head(const Certificate& certificate) {
  const Task& task = certificate.task;
  const MachineRecord& machine = certificate.machine;
  const std::string rival = rival_name(certificate);
  return fmt::format(
             "# {}: {}\n\n{}\n"
             "\nA kernel made and judged by KernelPro {} on {}; verdict: {}. {}\n{}"
             "\n## Measured\n\n{}\n{}Machine: {}, {} cores, {} MiB last-level cache, Linux {} "
             "({}).\n"
             "Compiler: {}. Compared with the {} `{}`.\n",
             cell(task.name), cell(certificate.candidate.name), cell(task.summary),
             cell(certificate.program_version), cell(certificate.date),
             outcome_text(certificate.verdict), cell(certificate.verdict.summary),
             warnings(certificate.verdict),
             certificate.verdict.timing.shapes.empty() ? "It was not timed.\n"
                                                       : measured(certificate, rival),
             gpu_text(certificate), cell(machine.processor), machine.cores,
             machine.cache_bytes >> 20, cell(machine.kernel), cell(machine.architecture),
             cell(certificate.build.compiler_identity), rival, cell(certificate.incumbent.name)) +
         includes_section(certificate);
}

Result<std::string> export_readme(const Certificate& certificate) {
  const Task& task = certificate.task;
  const std::string rival = rival_name(certificate);
  KP_LET(const std::string call, c_definition(certificate));
  std::string out = readme_head(certificate);
  out += build_section(certificate, rival);
  const bool has_entry = entry_kernel(certificate).has_value();
  if (has_entry) {
    out += entry_section(certificate);
  } else if (task.entry) {
    out += fmt::format(
        "\nIt does not call `{}` any more, so it is given in KernelPro's own interface.\n",
        cell(task.entry->function));
  }
  out += has_entry ? ""
                   : fmt::format(
                         "\n## Call\n\n`int kp_launch(const kp_context*, const kp_tensor*, int32_t "
                         "count)` from\n"
                         "`kernelpro/candidate.h`; tensors in this order:\n\n{}\n{}\n```cpp\n"
                         "#include <stdlib.h>\n\n#include <algorithm>\n#include <cmath>\n#include "
                         "<cstdint>\n\n"
                         "#include \"kernelpro/candidate.h\"\n\nextern \"C\" {{\n{}}}\n\n{}```\n",
                         tensor_rows(task), argument_lists(task), c_declaration(certificate), call);
  return out + verify_section(certificate);
}

}  // namespace kernelpro::report
