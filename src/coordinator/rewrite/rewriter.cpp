#include "coordinator/rewrite/rewriter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "coordinator/rewrite/print.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

constexpr std::size_t most_results = 8;
constexpr std::size_t largest_source = 100'000;  // bytes: beyond, compilers take too long

struct Rewriter {
  std::string summary;
  std::set<std::string> arguments;  // beside `site`
  std::string nothing;              // why there is no site at all
  std::function<std::vector<Offer>(const Program&, const Arguments&)> offers;
};

using Simple = std::vector<Offer> (*)(const Program&);

Rewriter plain(std::string summary, std::string nothing, Simple offers) {
  return {std::move(summary),
          {},
          std::move(nothing),
          [offers](const Program& program, const Arguments&) { return offers(program); }};
}

const std::map<std::string, Rewriter>& rewriters() {
  static const std::map<std::string, Rewriter> all = {
      {"delinearize", plain("puts pointers to rows in front of innermost loops",
                            "there are no loops", offer_delinearize)},
      {"fission", plain("makes one loop two", "there are no loops", offer_fission)},
      {"fusion",
       plain("makes two loops with the same bounds one", "there are no loops", offer_fusion)},
      {"hoist", plain("computes what an innermost loop does not change in front of it",
                      "there are no loops", offer_hoist)},
      {"inline_calls",
       plain("puts bodies of functions and values of pointers in place of their names",
             "there are no loops", offer_inline_calls)},
      {"interchange", plain("swaps a loop with the one inside it",
                            "there is no loop with a loop directly inside", offer_interchange)},
      {"limit_threads", plain("shares a parallel loop among a part of the threads only",
                              "there are no loops", offer_limit_threads)},
      {"omp_tile",
       plain("asks clang to tile perfectly nested loops", "there are no loops", offer_omp_tile)},
      {"pack", plain("copies what a loop reads again and again into a contiguous buffer",
                     "there is no loop around other loops", offer_pack)},
      {"parallel",
       {"shares the rounds of a loop among threads; schedule = static, dynamic or guided",
        {"schedule"},
        "there are no loops",
        offer_parallel}},
      {"peel", plain("cuts off first and last rounds and the conditions that only they meet",
                     "no condition in a loop looks at its variable", offer_peel)},
      {"prefetch", plain("asks early for what an innermost loop reads later", "there are no loops",
                         offer_prefetch)},
      {"privatise",
       plain(
           "gives every round of a loop scratch memory of its own, so that rounds can run at once",
           "no loop writes the same elements of an array in every round", offer_privatise)},
      {"register_block",
       plain("blocks loops around an innermost one and keeps the block in registers",
             "there is no loop nest of depth 2 with bounds known only at run time",
             offer_register_block)},
      {"restrict_pointers", plain("says that pointers given to functions do not overlap",
                                  "there are no functions", offer_restrict_pointers)},
      {"simd",
       plain("asks for vector instructions in innermost loops", "there are no loops", offer_simd)},
      {"split_accumulator", plain("gives an innermost loop several accumulators instead of one",
                                  "there are no loops", offer_split_accumulator)},
      {"tile", plain("cuts perfectly nested loops into tiles",
                     "there are no loops perfectly inside one another", offer_tile)},
      {"unroll",
       {"asks the compiler to unroll innermost loops; compiler = gcc or clang",
        {"compiler"},
        "there are no loops",
        offer_unroll}},
      {"vector_math", plain("makes exp, log and tanh on float inline polynomials",
                            "there are no loops", offer_vector_math)},
  };
  return all;
}

std::string known_names() {
  return fmt::format("{}", fmt::join(rewriter_names(), ", "));
}

Status check_arguments(const std::string& name, const Rewriter& rewriter,
                       const Arguments& arguments) {
  for (const auto& [key, value] : arguments) {
    if (key != "site" && !rewriter.arguments.contains(key)) {
      return make_error(
          ErrorKind::bad_input,
          fmt::format("{} takes no argument \"{}\"; it takes site{}{}", name, key,
                      rewriter.arguments.empty() ? "" : ", ", fmt::join(rewriter.arguments, ", ")));
    }
  }
  if (const auto schedule = arguments.find("schedule");
      schedule != arguments.end() && schedule->second != "static" &&
      schedule->second != "dynamic" && schedule->second != "guided") {
    return make_error(ErrorKind::bad_input,
                      fmt::format("{}: the schedule \"{}\" is not one of static, dynamic, guided",
                                  name, schedule->second));
  }
  return {};
}

}  // namespace

std::vector<std::string> rewriter_names() {
  std::vector<std::string> names;
  for (const auto& [name, rewriter] : rewriters()) {
    names.push_back(name);
  }
  return names;
}

std::string rewriter_summary(const std::string& name) {
  const auto found = rewriters().find(name);
  return found == rewriters().end() ? "" : found->second.summary;
}

Result<std::vector<Rewritten>> rewrite(const std::string& name, const Program& program,
                                       const std::map<std::string, std::string>& arguments) {
  const auto found = rewriters().find(name);
  if (found == rewriters().end()) {
    return make_error(ErrorKind::bad_input, fmt::format("there is no rewriter \"{}\"; known are {}",
                                                        name, known_names()));
  }
  KP_TRY(check_arguments(name, found->second, arguments));
  const auto wanted = arguments.find("site");
  std::vector<Rewritten> results;
  std::set<std::string> sources = {print_program(program)};
  std::string reason = found->second.nothing;
  bool refused = false;
  for (const Offer& offer : found->second.offers(program, arguments)) {
    if (results.size() == most_results) {
      break;
    }
    if (wanted != arguments.end() && offer.site.find(wanted->second) == std::string::npos) {
      continue;
    }
    const Result<Program> rewritten = offer.apply();
    if (!rewritten) {
      reason = refused ? reason : rewritten.error().message;
      refused = true;
      continue;
    }
    std::string source = print_program(*rewritten);
    if (source.size() > largest_source) {
      reason = refused ? reason : fmt::format("the source would grow to {} bytes", source.size());
      refused = true;
      continue;
    }
    if (sources.insert(source).second) {
      results.push_back({offer.site, offer.summary, std::move(source)});
    }
  }
  if (results.empty() && wanted != arguments.end() && !refused) {
    reason = fmt::format("no site matches \"{}\"", wanted->second);
  }
  if (results.empty()) {
    return make_error(ErrorKind::bad_input, fmt::format("{} does not apply: {}", name, reason));
  }
  return results;
}

}  // namespace kernelpro
