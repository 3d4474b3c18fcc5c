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

constexpr const char* no_loops = "there are no loops";

struct Rewriter {
  std::set<std::string> arguments;  // beside `site`
  std::string nothing;              // why there is no site at all
  std::function<std::vector<Offer>(const Program&, const Arguments&)> offers;
};

using Simple = std::vector<Offer> (*)(const Program&);

Rewriter plain(Simple offers, std::string nothing = no_loops) {
  return {{}, std::move(nothing), [offers](const Program& program, const Arguments&) {
            return offers(program);
          }};
}

const std::map<std::string, Rewriter>& rewriters() {
  static const std::map<std::string, Rewriter> all = {
      {"delinearize", plain(offer_delinearize)},
      {"fission", plain(offer_fission)},
      {"fusion", plain(offer_fusion)},
      {"hoist", plain(offer_hoist)},
      {"inline_calls", plain(offer_inline_calls)},
      {"interchange", plain(offer_interchange, "there is no loop with a loop directly inside")},
      {"keep_members", plain(offer_keep_members)},
      {"keep_results", plain(offer_keep_results)},
      {"limit_threads", plain(offer_limit_threads)},
      {"omp_tile", plain(offer_omp_tile)},
      {"pack", plain(offer_pack, "there is no loop around other loops")},
      {"parallel", {{"schedule"}, no_loops, offer_parallel}},
      {"peel", plain(offer_peel, "no condition in a loop looks at its variable")},
      {"prefetch", plain(offer_prefetch)},
      {"privatize",
       plain(offer_privatize, "no loop writes the same elements of an array in every round")},
      {"register_block",
       plain(offer_register_block,
             "there is no loop nest of depth 2 with bounds known only at run time")},
      {"restrict_pointers", plain(offer_restrict_pointers, "there are no functions")},
      {"simd", plain(offer_simd)},
      {"split_accumulator", plain(offer_split_accumulator)},
      {"tile", plain(offer_tile, "there are no loops perfectly inside one another")},
      {"unroll", {{"compiler"}, no_loops, offer_unroll}},
      {"vector_math", plain(offer_vector_math)},
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
