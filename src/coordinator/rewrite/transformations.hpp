// The transformations: each gives a new program, or says why it does not apply at that place. All
// sizes they bring in are tunables at the top of the file. One file each, named for it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/rewrite/places.hpp"
#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

using Arguments = std::map<std::string, std::string>;

// One place where a transformation may be tried.
struct Offer {
  std::string site;
  std::string summary;
  std::function<Result<Program>()> apply;
};

// Why a transformation does not apply.
[[nodiscard]] inline Error refuse(const std::string& why) {
  return make_error(ErrorKind::bad_input, why);
}

// Blocks the loops, which must lie inside one another, and runs the rounds of a block side by side
// in the innermost loop. The first of `loops` becomes the innermost, the one to vectorize.
[[nodiscard]] Result<Program> register_block(const Program& program,
                                             const std::vector<Place>& loops);
[[nodiscard]] std::vector<Offer> offer_register_block(const Program& program);

// Swaps the loop with the one inside it. Statements around the inner loop are split off first, a
// sum that the inner loop builds is then kept in the element it is stored to in the end.
[[nodiscard]] Result<Program> interchange(const Program& program, const Place& place);
[[nodiscard]] std::vector<Offer> offer_interchange(const Program& program);

// Cuts perfectly nested loops into tiles; the loops over tiles go outside.
[[nodiscard]] Result<Program> tile(const Program& program, const std::vector<Place>& band);
[[nodiscard]] std::vector<Offer> offer_tile(const Program& program);

struct PackSite {
  Place reuse;        // the loop whose rounds all read the same elements
  std::string array;  // of which array
};
// Copies what the loop reads again and again of an array into a contiguous buffer in front of it.
[[nodiscard]] Result<Program> pack(const Program& program, const PackSite& site);
[[nodiscard]] std::vector<Offer> offer_pack(const Program& program);

// Puts the bodies of functions of the file in place of their calls in loops, and what pointers and
// whole numbers were set to in place of their names.
[[nodiscard]] Result<Program> inline_calls(const Program& program);
[[nodiscard]] std::vector<Offer> offer_inline_calls(const Program& program);

// Several accumulators where the loop has one, combined at its end.
[[nodiscard]] Result<Program> split_accumulator(const Program& program, const Place& loop);
[[nodiscard]] std::vector<Offer> offer_split_accumulator(const Program& program);

// Two loops, the first with the statements before `at`.
[[nodiscard]] Result<Program> fission(const Program& program, const Place& place, std::size_t at);
[[nodiscard]] std::vector<Offer> offer_fission(const Program& program);

// The loop and the one right behind it, which has the same bounds, as one.
[[nodiscard]] Result<Program> fusion(const Program& program, const Place& place);
[[nodiscard]] std::vector<Offer> offer_fusion(const Program& program);

// Pointers to rows in front of the innermost loop instead of long subscripts in it.
[[nodiscard]] Result<Program> delinearize(const Program& program, const Place& place);
[[nodiscard]] std::vector<Offer> offer_delinearize(const Program& program);

// Computes in front of the loop what its rounds do not change; a division by it becomes a product.
[[nodiscard]] Result<Program> hoist(const Program& program, const Place& place);
[[nodiscard]] std::vector<Offer> offer_hoist(const Program& program);
// The same for members alone, in front of all innermost loops at once: those that compilers read
// again in every round because a store there might change them, by its type.
[[nodiscard]] Result<Program> keep_members(const Program& program);
[[nodiscard]] std::vector<Offer> offer_keep_members(const Program& program);

// Keeps what an innermost loop writes in every round, an element or what a reference names, in a
// local variable, and stores it behind the loop.
[[nodiscard]] Result<Program> keep_results(const Program& program);
[[nodiscard]] std::vector<Offer> offer_keep_results(const Program& program);

// Cuts off the first and the last round, and the conditions that only they meet.
[[nodiscard]] Result<Program> peel(const Program& program, const Place& place);
[[nodiscard]] std::vector<Offer> offer_peel(const Program& program);

// Asks for what the loop will read some rounds later.
[[nodiscard]] Result<Program> prefetch(const Program& program, const Place& place);
[[nodiscard]] std::vector<Offer> offer_prefetch(const Program& program);

// Gives every round of the loop its own copy of an array that all rounds use as scratch memory.
[[nodiscard]] Result<Program> privatize(const Program& program, const Place& place,
                                        const std::string& array);
[[nodiscard]] std::vector<Offer> offer_privatize(const Program& program);

// Functions of <cmath> on float in loops as inline polynomials, which compilers vectorize.
[[nodiscard]] Result<Program> vector_math(const Program& program);
[[nodiscard]] std::vector<Offer> offer_vector_math(const Program& program);

// Tells compilers that the pointers given to functions of the file do not overlap.
[[nodiscard]] Result<Program> restrict_pointers(const Program& program);
[[nodiscard]] std::vector<Offer> offer_restrict_pointers(const Program& program);

// Shares the rounds of the loop among threads. `schedule`: static, dynamic or guided; `collapse`:
// together with the loop inside it.
struct ParallelSite {
  Place loop;
  std::string schedule = "static";
  bool collapse = false;
};
[[nodiscard]] Result<Program> parallel(const Program& program, const ParallelSite& site);
[[nodiscard]] std::vector<Offer> offer_parallel(const Program& program, const Arguments& arguments);

// Gives a loop that is shared among threads a part of those there are; the part is a tunable.
[[nodiscard]] Result<Program> limit_threads(const Program& program, const Place& place);
[[nodiscard]] std::vector<Offer> offer_limit_threads(const Program& program);

// Asks for vector instructions over the rounds of the loop.
[[nodiscard]] Result<Program> simd(const Program& program, const Place& place);
[[nodiscard]] std::vector<Offer> offer_simd(const Program& program);

// Asks the compiler to unroll the loop; `clang`: in its words, else in GCC's.
[[nodiscard]] Result<Program> unroll(const Program& program, const Place& place, bool clang);
[[nodiscard]] std::vector<Offer> offer_unroll(const Program& program, const Arguments& arguments);

// Asks clang for tiles of the perfectly nested loops from `outer` on.
[[nodiscard]] Result<Program> omp_tile(const Program& program, const Place& outer);
[[nodiscard]] std::vector<Offer> offer_omp_tile(const Program& program);

// A loop that is the only statement in the body of the one around it, and so on inwards.
[[nodiscard]] std::vector<Place> perfect_band(const Program& program, const Place& outer);

}  // namespace kernelpro
