// The tree of a formula. For the files of this room only.
#pragma once

#include <memory>
#include <string>

#include "common/model/formula.hpp"

namespace kernelpro {

struct Formula::Node {
  enum class Operation {
    number,
    name,
    negate,
    add,
    subtract,
    multiply,
    divide,
    minimum,
    maximum,
    ceiling,
    floor,
    log2,
    square_root,
  };

  Operation operation = Operation::number;
  double number = 0;
  std::string name;
  std::shared_ptr<const Node> left;   // the operand of a function of one argument
  std::shared_ptr<const Node> right;  // null for those
};

// Whether its argument is divided exactly.
inline bool takes_fractions(Formula::Node::Operation operation) {
  using Operation = Formula::Node::Operation;
  return operation == Operation::ceiling || operation == Operation::floor ||
         operation == Operation::log2 || operation == Operation::square_root;
}

}  // namespace kernelpro
