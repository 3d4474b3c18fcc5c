// What can be told of kernels where no counter was read: occupancy by arithmetic, machine code from
// the binary.
#pragma once

#include <stop_token>
#include <string>

#include "common/model/profile.hpp"
#include "worker/profile/profiled_program.hpp"

namespace kernelpro {

// Adds occupancy figures to kernels that lack them, from what their launches asked for and
// profile.limits. Figures that were counted stay.
void add_occupancy(Profile& profile);

// Adds the machine code of kernels that lack it, as `disassembler` (cuobjdump) finds it in the file
// `binary`; it runs as the program did. Kernels that are not in there keep the reason.
void add_code(const std::string& disassembler, const std::string& binary,
              const ProfiledProgram& program, Profile& profile, std::stop_token stop = {});

}  // namespace kernelpro
