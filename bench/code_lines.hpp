// The machine code of a captured case as a line of JSON, so that what is read off it can change
// without another capture.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "worker/profile/instruction.hpp"

namespace kernelpro {

namespace code_lines {

using nlohmann::json;

inline json number(const std::optional<double>& value) {
  return value ? json(*value) : json();
}

inline std::optional<double> number(const json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

}  // namespace code_lines

// {"case": …, "code": [[offset, predicate, opcode, operands, file, line, counts …], …]}
inline nlohmann::json code_line(const std::string& name, const std::vector<Instruction>& code) {
  using code_lines::number;
  nlohmann::json rows = nlohmann::json::array();
  for (const Instruction& one : code) {
    rows.push_back({one.offset, one.predicate, one.opcode, one.operands, one.place.file,
                    one.place.line, number(one.executed), number(one.threads_active),
                    number(one.threads_executed), number(one.sectors), number(one.ideal_sectors),
                    number(one.wavefronts), number(one.ideal_wavefronts), number(one.samples),
                    one.stalls});
  }
  return {{"case", name}, {"code", std::move(rows)}};
}

inline std::vector<Instruction> instructions_of(const nlohmann::json& line) {
  using code_lines::number;
  std::vector<Instruction> code;
  for (const nlohmann::json& row : line.at("code")) {
    code.push_back({.offset = row.at(0),
                    .predicate = row.at(1),
                    .opcode = row.at(2),
                    .operands = row.at(3),
                    .place = {.file = row.at(4), .line = row.at(5)},
                    .executed = number(row.at(6)),
                    .threads_active = number(row.at(7)),
                    .threads_executed = number(row.at(8)),
                    .sectors = number(row.at(9)),
                    .ideal_sectors = number(row.at(10)),
                    .wavefronts = number(row.at(11)),
                    .ideal_wavefronts = number(row.at(12)),
                    .samples = number(row.at(13)),
                    .stalls = row.at(14).get<Stalls>()});
  }
  return code;
}

}  // namespace kernelpro
