// C++ around an array of structs of several kinds of numbers: each kind is a tensor to a task.
#pragma once

#include <string>

#include "coordinator/task/own_type.hpp"

namespace kernelpro {

// "_header_id" of ".header.id".
[[nodiscard]] std::string part_name(const RecordPart& part);

// Statements that make `array`, a list of `count` structs or memory for `room` of them; a list that
// is a field of a struct is there already.
[[nodiscard]] std::string struct_array(const OwnType& type, const std::string& array,
                                       const std::string& room, const std::string& count,
                                       bool is_new);

// A loop of kp_i over the structs.
[[nodiscard]] std::string each_struct(const std::string& count, const std::string& body);

// Ends where a list has another size than it was given.
[[nodiscard]] std::string same_size(const std::string& list, const std::string& count);

}  // namespace kernelpro
