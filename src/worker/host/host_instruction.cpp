#include "worker/host/host_instruction.hpp"

#include "worker/host/instruction_sets.hpp"

namespace kernelpro {

HostInstruction parse_host_instruction(std::int64_t address, std::string_view text, bool arm) {
  const AssemblerLine line = split_assembler(text, arm);
  HostInstruction out;
  out.address = address;
  out.text = line.text;
  arm ? describe_arm(line, out) : describe_x86(line, out);
  return out;
}

}  // namespace kernelpro
