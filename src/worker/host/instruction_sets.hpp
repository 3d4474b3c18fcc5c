// What each instruction set says of an instruction; host_instruction.cpp chooses.
#pragma once

#include "worker/host/host_instruction.hpp"
#include "worker/host/operands_text.hpp"

namespace kernelpro {

void describe_x86(const AssemblerLine& line, HostInstruction& out);
void describe_arm(const AssemblerLine& line, HostInstruction& out);

}  // namespace kernelpro
