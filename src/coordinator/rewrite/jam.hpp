// Unroll-and-jam: R rounds of a loop side by side inside the loops of its body.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "coordinator/rewrite/analysis.hpp"
#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

struct JamRequest {
  std::string factor;  // the constant's name
  Names tunables;
  Names* used = nullptr;  // names taken in the program; not null
  Names carried;          // variables declared outside that have a copy for each lane
};

// The body of `loop`, a counted loop, for the rounds v .. v + R - 1 at once: loops whose headers do
// not depend on v stay outside, the lanes go into them, and variables that differ from lane to lane
// and live on between such groups become arrays over the lanes.
[[nodiscard]] Result<Body> jam(const Stmt& loop, const JamRequest& request);

// The names in the body that differ from round to round: the variable and what is computed from it.
[[nodiscard]] Names varying_names(const Stmt& loop);

// True when doing a round twice changes nothing: it writes only arrays that it never reads.
[[nodiscard]] bool is_repeatable(const Stmt& loop);

// Variables declared outside of the loop that it assigns by name.
[[nodiscard]] Names carried_scalars(const Stmt& loop);

// The loop in blocks of R rounds. A repeatable loop gets a last block that overlaps the one before
// it, and stays as it was for fewer than R rounds; another one gets a loop over the remainder.
[[nodiscard]] Result<Body> block_and_jam(const Stmt& loop, const JamRequest& request);

}  // namespace kernelpro
