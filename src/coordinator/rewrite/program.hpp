// A C++ source as values: text where nothing is understood, statement trees where it is.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

struct Expr {
  enum class Kind {
    literal,      // text
    name,         // text, with its scope when it was written so ("std::exp")
    subscript,    // parts: base, index
    unary,        // text: - + ! ~ * &; parts: operand
    binary,       // text: the operator, never an assignment; parts: left, right
    conditional,  // parts: condition, then, otherwise
    call,         // parts: callee, arguments
    cast,         // text: "static_cast<float>", "float" or "(float)"; parts: operand
    member,       // text: ".data" or "->axes"; parts: base
    verbatim,     // text: source that is not looked into
  };

  Kind kind = Kind::verbatim;
  std::string text;
  std::string type;  // as the compiler knows it; empty where a transformation made the expression
  std::vector<Expr> parts;

  bool operator==(const Expr&) const = default;
};

// for (type variable = lower; variable comparison upper; variable += step), or a header that is not
// understood and kept as it was written.
struct Loop {
  std::string header;  // "while (x)"; empty: the members below hold
  std::string variable;
  std::string type;
  Expr lower;
  std::string comparison;
  Expr upper;
  std::string advance = "+=";
  Expr step;
  std::vector<std::string> pragmas;  // whole lines in front of it, outermost first

  bool operator==(const Loop&) const = default;
};

struct Stmt {
  enum class Kind {
    declaration,  // prefix type text dims = exprs[0]
    assignment,   // exprs[0] text exprs[1]; text: = += -= ...
    expression,   // exprs[0]
    branch,       // if (exprs[0]) body else otherwise
    loop,         // loop, body
    block,        // body
    result,       // return exprs[0], or nothing
    verbatim,     // text
  };

  Kind kind = Kind::verbatim;
  std::string text;
  std::string prefix;  // "static", "constexpr", "alignas(64)", with their order
  std::string type;
  std::string dims;  // "[4][N]"
  std::vector<Expr> exprs;
  std::vector<Stmt> body;
  std::vector<Stmt> otherwise;
  Loop loop;

  bool operator==(const Stmt&) const = default;
};

struct Parameter {
  std::string name;  // may be empty
  std::string type;

  bool operator==(const Parameter&) const = default;
};

struct Function {
  std::string signature;  // as written, up to the body
  std::string name;
  std::string result;    // its type
  bool local = false;    // static or in an anonymous namespace: nobody else calls it
  bool generic = false;  // a template
  std::vector<Parameter> parameters;
  std::vector<Stmt> body;

  bool operator==(const Function&) const = default;
};

// A function when `understood`, else text.
struct Item {
  bool understood = false;
  std::string text;
  Function function;

  bool operator==(const Item&) const = default;
};

struct Program {
  std::string head;  // through the includes at the top
  std::vector<Item> items;

  bool operator==(const Program&) const = default;
};

}  // namespace kernelpro
