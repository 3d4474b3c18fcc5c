#include <fmt/format.h>

#include <string>

#include "coordinator/report/export_parts.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro::report {

namespace {

std::string machine_text(const Certificate& certificate) {
  const MachineRecord& machine = certificate.machine;
  if (certificate.candidate.backend == Backend::cuda && !machine.gpus.empty()) {
    const GpuRecord& gpu = machine.gpus.front();
    return fmt::format("{} (sm_{}, driver for CUDA {})", cell(gpu.name), cell(gpu.architecture),
                       cell(gpu.driver));
  }
  return fmt::format("{}, {} cores", cell(machine.processor), machine.cores);
}

std::string result(const Certificate& certificate) {
  std::string out = fmt::format(
      "# {}: {}\n\n{}\n\nA kernel made and judged by KernelPro {} on {}; verdict: {}. {}\n{}",
      cell(certificate.task.name), cell(certificate.candidate.name), cell(certificate.task.summary),
      cell(certificate.program_version), cell(certificate.date), outcome_text(certificate.verdict),
      cell(certificate.verdict.summary), warnings(certificate.verdict));
  out += "\n## Measured\n\n";
  if (certificate.verdict.timing.shapes.empty()) {
    out += "It was not timed.\n";
  } else {
    out += measured(certificate, cell(certificate.incumbent.name));
  }
  return out + fmt::format("\nMachine: {}. Compiler: {}.\n", machine_text(certificate),
                           cell(certificate.build.compiler_identity));
}

std::string building(const Certificate& certificate, const char* moment) {
  const std::string compiler =
      certificate.candidate.backend == Backend::cuda
          ? "nvcc, from `CUDA_HOME`, the path or `/usr/local/cuda`, for the architecture of\nthe "
            "device"
          : fmt::format("`{}`, or what `KERNELPRO_CXX` names", cell(certificate.build.compiler));
  return fmt::format(
             "\n## Build\n\nThe kernel is built {}, with the certificate's flags; PyTorch's "
             "headers are "
             "not needed.\nThe compiler is {}.\nThe result is kept below `kernelpro_exports` in "
             "`$TORCH_EXTENSIONS_DIR`, `$XDG_CACHE_HOME` or\n`~/.cache`.\n",
             moment, compiler) +
         includes_section(certificate);
}

}  // namespace

std::string benchmark_readme(const Certificate& certificate) {
  return result(certificate) +
         "\n## Run\n\n`model_new.py` defines `ModelNew` and is all that KernelBench's evaluator "
         "needs; in a checkout of\nthe benchmark:\n\n"
         "```\npython scripts/run_and_check.py ref_origin=kernelbench level=LEVEL "
         "problem_id=PROBLEM \\\n    kernel_src_path=model_new.py eval_mode=local\n```\n\n"
         "`ModelNew` is the problem's `Model` with another `forward()`: same constructor, same "
         "parameters under\nthe same seed. It takes only what was judged (shapes, types, numbers, "
         "constructor arguments) and says\nwhat differs; it never falls back. Buffers that the "
         "original would update in passing, such as running\nstatistics, stay as they are.\n" +
         building(certificate, "when the file is imported") + verify_section(certificate);
}

std::string package_readme(const Certificate& certificate, const std::string& package) {
  return result(certificate) +
         fmt::format(
             "\n## Use\n\n```python\nimport torch\nimport {0}\n\n"
             "module = {0}.DropIn(*{0}.get_init_inputs()).to({0}.device_type)\n"
             "with torch.no_grad():\n    answer = module(*inputs)\n"
             "print(module.kernel_calls, module.fallbacks, module.fallback_reason)\n```\n\n"
             "`DropIn` is the original module with the kernel inside. The kernel is called only "
             "where a call is as\nit was judged; else the original's `forward()` is, and "
             "`fallback_reason` says why:\n\n"
             "- another shape, type, number or constructor argument, another device{1};\n"
             "- gradients are wanted;\n"
             "- the module is in eval mode and its code asks for the mode (it was judged in "
             "training mode);\n"
             "- `forward()` also changes buffers (running statistics), which the kernel does "
             "not.\n\n"
             "`{0}.operator` is the kernel as an operator of `torch.library`, with shapes for "
             "tracing: the list of\nthe task's inputs in, the list of its outputs out, truth "
             "values "
             "as bytes. `torch.compile` may trace it;\n`DropIn.forward` it leaves alone.\n\n"
             "`python3 test_op.py` compares both modules.\n",
             package,
             certificate.candidate.backend == Backend::cuda
                 ? " or one of another compute capability"
                 : "") +
         building(certificate, "at its first call") + verify_section(certificate);
}

}  // namespace kernelpro::report
