// Which functions of a source a candidate comes to.
#pragma once

#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

// The program with the functions that kp_launch does not lead to as text: they stand in the file
// for others, and nothing that is judged would tell what became of them. A program without
// kp_launch stays as it is.
[[nodiscard]] Program only_reached(Program program);

}  // namespace kernelpro
