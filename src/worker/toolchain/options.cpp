#include "worker/toolchain/options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "worker/toolchain/option_words.hpp"

namespace kernelpro {
namespace {

using std::string_view;

constexpr string_view cpp_summary =
    "allowed are target, openmp, -O*, -std=*, -march=, -mcpu=, -mtune=, instruction-set switches, "
    "math, inlining and vectorizer switches (-f*), -fopenmp, -pthread, -g, -DNAME=VALUE with a "
    "plain value, and -mllvm -polly*";

// Lists of words, each with a space on either side.
constexpr string_view cpp_words =
    " target openmp -O -O0 -O1 -O2 -O3 -Os -Og -Ofast -fopenmp -fopenmp-simd -pthread -g"
    " -mrecip -mfpmath=sse -mfpmath=387 -ffp-contract=fast -ffp-contract=on -ffp-contract=off"
    " -ffp-model=fast -ffp-model=precise -ffp-model=strict -fvect-cost-model=unlimited"
    " -fvect-cost-model=dynamic -fvect-cost-model=cheap -fvect-cost-model=very-cheap"
    " -fsimd-cost-model=unlimited -fsimd-cost-model=dynamic -fsimd-cost-model=cheap"
    " -fsimd-cost-model=very-cheap -fexcess-precision=fast -fexcess-precision=standard"
    " -fexcess-precision=16 -fveclib=none -fveclib=libmvec ";

// Allowed as -fNAME and as -fno-NAME: they change the code made and touch no file.
constexpr string_view f_switches =
    " fast-math unsafe-math-optimizations finite-math-only math-errno trapping-math"
    " signed-zeros associative-math reciprocal-math rounding-math signaling-nans"
    " cx-limited-range single-precision-constant honor-nans honor-infinities approx-func"
    " tree-vectorize tree-loop-vectorize tree-slp-vectorize vectorize slp-vectorize"
    " unroll-loops unroll-all-loops peel-loops split-loops unswitch-loops"
    " version-loops-for-strides loop-interchange loop-unroll-and-jam loop-nest-optimize"
    " loop-block loop-strip-mine graphite-identity tree-loop-distribution"
    " tree-loop-distribute-patterns tree-loop-im tree-loop-ivcanon ivopts"
    " variable-expansion-in-unroller predictive-commoning prefetch-loop-arrays"
    " split-ivs-in-unroller inline inline-functions inline-small-functions"
    " inline-functions-called-once partial-inlining ipa-cp ipa-cp-clone ipa-pta"
    " omit-frame-pointer strict-aliasing strict-overflow wrapv strict-vtable-pointers"
    " exceptions rtti gcse gcse-after-reload gcse-las gcse-sm schedule-insns schedule-insns2"
    " sched-pressure modulo-sched modulo-sched-allow-regmoves rename-registers web tracer"
    " if-conversion if-conversion2 split-paths tree-partial-pre tree-pre move-loop-invariants"
    " reorder-blocks reorder-functions align-functions align-loops align-jumps align-labels"
    " stack-protector semantic-interposition plt builtin merge-all-constants"
    " asynchronous-unwind-tables unwind-tables threadsafe-statics ";

// Allowed as -mNAME and as -mno-NAME.
constexpr string_view m_switches =
    " sse sse2 sse3 ssse3 sse4 sse4.1 sse4.2 avx avx2 fma f16c bmi bmi2 popcnt lzcnt avx512f"
    " avx512vl avx512bw avx512dq avx512cd avx512ifma avx512vbmi avx512vbmi2 avx512vnni"
    " avx512bf16 avx512fp16 avx512bitalg avx512vpopcntdq avxvnni amx-tile amx-int8 amx-bf16"
    " vzeroupper outline-atomics omit-leaf-frame-pointer low-precision-recip-sqrt"
    " low-precision-sqrt low-precision-div daz-ftz ";

// Followed by a value of letters, digits and . _ + -
constexpr auto valued = std::to_array<string_view>({
    "-march=",
    "-mcpu=",
    "-mtune=",
    "-mprefer-vector-width=",
    "-msve-vector-bits=",
    "-finline-limit=",
    "-falign-functions=",
    "-falign-loops=",
    "-mbranch-cost=",
});

// The first match is the reason given; what matches none is simply not on the list.
constexpr auto cpp_refusals = std::to_array<RefusedPrefix>({
    {"@", "it reads further options from a file"},
    {"-fplugin", "it loads code into the compiler"},
    {"-fpass-plugin", "it loads code into the compiler"},
    {"-Xclang", "it passes options around this check"},
    {"-Xassembler", "it passes options around this check"},
    {"-Xlinker", "it passes options around this check"},
    {"-Xpreprocessor", "it passes options around this check"},
    {"-Wl,", "it passes options to the linker"},
    {"-Wa,", "it passes options to the assembler"},
    {"-Wp,", "it passes options to the preprocessor"},
    {"-W", "warnings are chosen by the toolchain"},
    {"-w", "the toolchain chooses warnings and runs no wrapper"},
    {"-specs", "it replaces the compiler's own commands"},
    {"--specs", "it replaces the compiler's own commands"},
    {"-B", "it replaces the compiler's own programs"},
    {"-fuse-ld", "it replaces the linker"},
    {"--sysroot", "it replaces the system's headers and libraries"},
    {"-isysroot", "it replaces the system's headers and libraries"},
    {"-I",
     "a candidate includes system headers, files beside it and the libraries of --include only"},
    {"-i",
     "a candidate includes system headers, files beside it and the libraries of --include only"},
    {"-L", "a candidate links nothing of its own"},
    {"-l", "a candidate links nothing of its own"},
    {"-T", "it replaces the linker's script"},
    {"-o", "the toolchain decides where files are written"},
    {"-save-temps", "the toolchain decides where files are written"},
    {"-dump", "the toolchain decides where files are written"},
    {"-fdump", "the toolchain decides where files are written"},
    {"-M", "the toolchain decides where files are written"},
    {"-ftime-trace", "the toolchain decides where files are written"},
    {"-fprofile", "profiles are files that the judge has not seen"},
    {"-fsanitize", "instrumented code is not what is judged"},
    {"-flto", "a candidate is one source, so there is nothing to optimize across"},
    {"-x", "a candidate is C++"},
    {"--", "long options are not needed by a candidate"},
});

// Whether `option` is -fNAME or -fno-NAME (for `letter` f) with a name of the list.
bool is_switch(string_view option, char letter, string_view names) {
  if (option.size() < 3 || option[0] != '-' || option[1] != letter) {
    return false;
  }
  const string_view name = option.substr(2);
  return has_word(names, name) || (name.starts_with("no-") && has_word(names, name.substr(3)));
}

bool is_standard(string_view option) {
  constexpr string_view standards = " 11 14 17 20 23 2b ";
  for (const string_view prefix : {"-std=c++", "-std=gnu++"}) {
    if (option.starts_with(prefix)) {
      return has_word(standards, option.substr(prefix.size()));
    }
  }
  return false;
}

bool has_plain_value(string_view option) {
  return std::ranges::any_of(valued, [option](string_view prefix) {
    return option.starts_with(prefix) && option.size() > prefix.size() &&
           is_made_of(option.substr(prefix.size()), "._+-");
  });
}

// Polly's options that read or write files, or start a viewer, are not for candidates.
bool is_polly(string_view option) {
  if (!option.starts_with("-polly") || !is_made_of(option, "-=,")) {
    return false;
  }
  constexpr auto meddling = std::to_array<string_view>(
      {"import", "export", "dump", "dot", "view", "show", "print", "write", "report", "debug"});
  return std::ranges::none_of(
      meddling, [option](string_view word) { return option.find(word) != string_view::npos; });
}

bool is_cpp_option(string_view option) {
  return has_word(cpp_words, option) || is_switch(option, 'f', f_switches) ||
         is_switch(option, 'm', m_switches) || is_standard(option) || is_plain_definition(option) ||
         has_plain_value(option);
}

string_view reason_against_cpp(string_view option) {
  if (option.starts_with("-wrapper")) {
    return "it runs another program around the compiler";
  }
  if (option.starts_with("-D")) {
    return "a definition must be -DNAME or -DNAME=VALUE, the value of letters, digits and . _ + -";
  }
  if (!option.starts_with("-") && !option.starts_with("@")) {
    return "it is no option, and a candidate is one source";
  }
  for (const RefusedPrefix& refusal : cpp_refusals) {
    if (option.starts_with(refusal.prefix)) {
      return refusal.reason;
    }
  }
  return not_listed;
}

}  // namespace

std::optional<RefusedOption> refused_option(const std::vector<std::string>& options) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i] == "-mllvm") {
      if (i + 1 == options.size() || !is_polly(options[i + 1])) {
        const std::string what = i + 1 == options.size() ? "" : " " + options[i + 1];
        return refused(options[i] + what,
                       "only -polly* options that touch no file may follow -mllvm", cpp_summary);
      }
      ++i;
    } else if (!is_cpp_option(options[i])) {
      return refused(options[i], reason_against_cpp(options[i]), cpp_summary);
    }
  }
  return std::nullopt;
}

}  // namespace kernelpro
