#include <algorithm>
#include <array>
#include <string_view>

#include "worker/toolchain/option_words.hpp"
#include "worker/toolchain/options.hpp"

namespace kernelpro {
namespace {

using std::string_view;

constexpr string_view cuda_summary =
    "allowed with nvcc are -O0 to -O3, -std=c++17, -std=c++20, -DNAME=VALUE with a plain "
    "value, -UNAME, --use_fast_math, -ftz=, -prec-div=, -prec-sqrt= and -fmad= with true or false, "
    "-maxrregcount=N, -restrict, --extra-device-vectorization, --expt-relaxed-constexpr, "
    "--expt-extended-lambda, -diag-suppress=N, and -Xptxas with -O0 to -O3, -v, -dlcm=, -dscm=, "
    "--allow-expensive-optimizations= or -warn-spills";

constexpr string_view cuda_words = " -O0 -O1 -O2 -O3 -std=c++17 -std=c++20 ";

// With one dash or two, as nvcc takes them.
constexpr string_view long_words =
    " use_fast_math ftz=true ftz=false prec-div=true prec-div=false prec-sqrt=true prec-sqrt=false"
    " fmad=true fmad=false restrict extra-device-vectorization expt-relaxed-constexpr"
    " expt-extended-lambda extended-lambda ";

constexpr string_view ptxas_words =
    " -O0 -O1 -O2 -O3 -v --opt-level=0 --opt-level=1 --opt-level=2 --opt-level=3"
    " -dlcm=ca -dlcm=cg -dlcm=cs -dlcm=cv -dscm=wb -dscm=cg -dscm=cs -dscm=wt"
    " --allow-expensive-optimizations=true --allow-expensive-optimizations=false"
    " -allow-expensive-optimizations=true -allow-expensive-optimizations=false"
    " -warn-spills --warn-on-spills -warn-lmem-usage --warn-on-local-memory-usage ";

// Without their dashes. The first match is the reason given; what matches none is simply not on the
// list.
constexpr auto cuda_refusals = std::to_array<RefusedPrefix>({
    {"Xcompiler", "it passes options around this check"},
    {"compiler-options", "it passes options around this check"},
    {"Xlinker", "it passes options around this check"},
    {"linker-options", "it passes options around this check"},
    {"Xcudafe", "it passes options around this check"},
    {"Xcicc", "it passes options around this check"},
    {"Xfatbin", "it passes options around this check"},
    {"Xnvlink", "it passes options around this check"},
    {"Xarchive", "it passes options around this check"},
    {"ptxas-options", "it is written -Xptxas here"},
    {"options-file", "it reads further options from a file"},
    {"optf", "it reads further options from a file"},
    {"ccbin", "the toolchain chooses the host compiler"},
    {"compiler-bindir", "the toolchain chooses the host compiler"},
    {"run", "a candidate is run by the judge only"},
    {"gencode", "the toolchain chooses the architecture, which is the device's"},
    {"generate-code", "the toolchain chooses the architecture, which is the device's"},
    {"gpu-", "the toolchain chooses the architecture, which is the device's"},
    {"arch", "the toolchain chooses the architecture, which is the device's"},
    {"code", "the toolchain chooses the architecture, which is the device's"},
    {"threads", "the toolchain chooses how many builds run at once"},
    {"split-compile", "the toolchain chooses how many builds run at once"},
    {"t", "the toolchain chooses how many builds run at once"},
    {"isystem",
     "a candidate includes the toolkit, the system, files beside it and the libraries of --include "
     "only"},
    {"system-include",
     "a candidate includes the toolkit, the system, files beside it and the libraries of --include "
     "only"},
    {"include",
     "a candidate includes the toolkit, the system, files beside it and the libraries of --include "
     "only"},
    {"I",
     "a candidate includes the toolkit, the system, files beside it and the libraries of --include "
     "only"},
    {"L", "a candidate links nothing of its own"},
    {"l", "a candidate links nothing of its own"},
    {"keep", "the toolchain decides where files are written"},
    {"save-temps", "the toolchain decides where files are written"},
    {"output", "the toolchain decides where files are written"},
    {"objdir", "the toolchain decides where files are written"},
    {"o", "the toolchain decides where files are written"},
    {"M", "the toolchain decides where files are written"},
    {"d", "a candidate is one source, so there is nothing to link on the device"},
    {"rdc", "a candidate is one source, so there is nothing to link on the device"},
    {"relocatable", "a candidate is one source, so there is nothing to link on the device"},
    {"cudart", "the toolchain chooses what is linked"},
    {"G", "code for a debugger is not what is judged"},
    {"x", "a candidate is CUDA C++"},
});

bool is_number(string_view text, std::size_t most_digits) {
  return !text.empty() && text.size() <= most_digits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

string_view without_dashes(string_view option) {
  const std::size_t dashes = option.starts_with("--") ? 2 : 1;
  return option.starts_with("-") ? option.substr(dashes) : option;
}

bool is_list_of(string_view text, bool (*is_item)(string_view)) {
  while (true) {
    const std::size_t comma = text.find(',');
    if (!is_item(text.substr(0, comma))) {
      return false;
    }
    if (comma == string_view::npos) {
      return true;
    }
    text.remove_prefix(comma + 1);
  }
}

bool is_ptxas_list(string_view words) {
  return is_list_of(words, [](string_view word) { return has_word(ptxas_words, word); });
}

bool has_numeric_value(string_view name) {
  constexpr string_view registers = "maxrregcount=";
  constexpr string_view suppressed = "diag-suppress=";
  if (name.starts_with(registers)) {
    return is_number(name.substr(registers.size()), 3);
  }
  return name.starts_with(suppressed) &&
         is_list_of(name.substr(suppressed.size()),
                    [](string_view number) { return is_number(number, 5); });
}

bool is_cuda_option(string_view option) {
  if (has_word(cuda_words, option) || is_plain_definition(option)) {
    return true;
  }
  if (!option.starts_with("-")) {
    return false;
  }
  const string_view name = without_dashes(option);
  return has_word(long_words, name) || has_numeric_value(name) ||
         (option.starts_with("-U") && is_identifier(option.substr(2)));
}

string_view reason_against_cuda(string_view option) {
  if (option.starts_with("@")) {
    return "it reads further options from a file";
  }
  if (!option.starts_with("-")) {
    return "it is no option, and a candidate is one source";
  }
  if (option.starts_with("-D")) {
    return "a definition must be -DNAME or -DNAME=VALUE, the value of letters, digits and . _ + -";
  }
  if (option.starts_with("-maxrregcount") || option.starts_with("--maxrregcount")) {
    return "a register limit must be -maxrregcount=N";
  }
  // Before the single letters below: -diag-suppress alone would read as -d.
  if (option.starts_with("-diag") || option.starts_with("--diag")) {
    return "warnings are chosen by the toolchain, less those of -diag-suppress=N";
  }
  const string_view name = without_dashes(option);
  for (const RefusedPrefix& refusal : cuda_refusals) {
    if (name.starts_with(refusal.prefix)) {
      return refusal.reason;
    }
  }
  return not_listed;
}

}  // namespace

std::optional<RefusedOption> refused_cuda_option(const std::vector<std::string>& options) {
  constexpr string_view reason = "only words of ptxas that change its code may follow -Xptxas";
  constexpr string_view joined = "-Xptxas=";
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& option = options[i];
    if (option == "-Xptxas") {
      const bool last = i + 1 == options.size();
      if (last || !is_ptxas_list(options[i + 1])) {
        return refused(option + (last ? "" : " " + options[i + 1]), reason, cuda_summary);
      }
      ++i;
    } else if (option.starts_with(joined)) {
      if (!is_ptxas_list(string_view(option).substr(joined.size()))) {
        return refused(option, reason, cuda_summary);
      }
    } else if (!is_cuda_option(option)) {
      return refused(option, reason_against_cuda(option), cuda_summary);
    }
  }
  return std::nullopt;
}

}  // namespace kernelpro
