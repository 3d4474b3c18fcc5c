#include <algorithm>
#include <optional>
#include <utility>

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/convert.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

constexpr int largest_callee = 60;  // statements
constexpr int most_calls = 64;
constexpr const char* vector_function = "kp_vector_";  // ours, which are best left as they are

bool has_result(const Body& body) {
  return any_stmt(body, [](const Stmt& stmt) { return stmt.kind == Stmt::Kind::result; });
}

int size_of(const Body& body) {
  int size = 0;
  (void)any_stmt(body, [&](const Stmt&) {
    ++size;
    return false;
  });
  return size;
}

// The body with each `return x` as `variable = x`; nothing when a return does not end its path.
std::optional<Body> without_returns(const Body& body, const std::string& variable) {
  Body out;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const Stmt& stmt = body[i];
    if (stmt.kind == Stmt::Kind::result) {
      if (stmt.exprs.empty()) {
        return std::nullopt;
      }
      out.push_back(make_assignment(make_name(variable), "=", stmt.exprs[0]));
      return out;
    }
    if (!has_result({stmt})) {
      out.push_back(stmt);
      continue;
    }
    if (stmt.kind != Stmt::Kind::branch || !stmt.otherwise.empty() || stmt.body.empty() ||
        stmt.body.back().kind != Stmt::Kind::result) {
      return std::nullopt;
    }
    const std::optional<Body> then = without_returns(stmt.body, variable);
    const std::optional<Body> rest =
        without_returns({body.begin() + static_cast<std::ptrdiff_t>(i) + 1, body.end()}, variable);
    if (!then || !rest) {
      return std::nullopt;
    }
    out.push_back(make_branch(stmt.exprs[0], *then, *rest));
    return out;
  }
  return std::nullopt;
}

bool holds_text(const Body& body) {
  return any_stmt(body, [](const Stmt& stmt) {
    return stmt.kind == Stmt::Kind::verbatim ||
           (stmt.kind == Stmt::Kind::loop && !stmt.loop.header.empty());
  });
}

bool calls(const Body& body, const std::string& name) {
  return names_in(body).contains(name);
}

class Inliner {
 public:
  explicit Inliner(Program program) : program_(std::move(program)), used_(names_in(program_)) {}

  Result<Program> run() {
    for (Item& item : program_.items) {
      if (item.understood) {
        item.function.body = with_calls_inlined(item.function.body, false, item.function.name);
        unshadow(item.function);
        const Body scope = item.function.body;
        forward_aliases(item.function.body, scope, false);
      }
    }
    if (changes_ == 0) {
      return make_error(
          ErrorKind::bad_input,
          "no loop calls a small function of this file, and no pointer is another one's alias");
    }
    drop_unused();
    return program_;
  }

 private:
  // A copy, because the body that is being rewritten may be its own.
  [[nodiscard]] std::optional<Function> callee(const std::string& name,
                                               const std::string& caller) const {
    std::optional<Function> found;
    if (name.starts_with(vector_function)) {
      return found;
    }
    for (const Item& item : program_.items) {
      if (item.understood && item.function.name == name) {
        if (found) {
          return std::nullopt;
        }
        found = item.function;
      }
    }
    const bool fits = found && !found->generic && name != caller && !calls(found->body, name) &&
                      !holds_text(found->body) && size_of(found->body) <= largest_callee;
    return fits ? found : std::nullopt;
  }

  Body with_calls_inlined(const Body& body, bool in_loop, const std::string& caller) {
    Body out;
    for (const Stmt& stmt : body) {
      Stmt changed = stmt;
      const bool inside = in_loop || stmt.kind == Stmt::Kind::loop;
      changed.body = with_calls_inlined(stmt.body, inside, caller);
      changed.otherwise = with_calls_inlined(stmt.otherwise, inside, caller);
      if (in_loop) {
        inline_into(changed, caller, out);
      }
      const bool gone = changed.kind == Stmt::Kind::expression && changed.exprs.empty();
      if (!gone) {
        out.push_back(std::move(changed));
      }
    }
    return out;
  }

  // Puts what the calls in `stmt` compute before it, into `out`.
  void inline_into(Stmt& stmt, const std::string& caller, Body& out) {
    for (int rounds = 0; rounds < most_calls; ++rounds) {
      Expr* call = nullptr;
      for (Expr& expr : stmt.exprs) {
        call = call == nullptr ? find_call(expr, caller) : call;
      }
      if (call == nullptr) {
        return;
      }
      const std::optional<Function> function = callee(call->parts[0].text, caller);
      const std::optional<Expr> value = expand(*function, *call, out);
      if (!value) {
        return;
      }
      ++changes_;
      if (stmt.kind == Stmt::Kind::expression && stmt.exprs.data() == call) {
        stmt.exprs.clear();
        return;
      }
      *call = *value;
    }
  }

  // The first call that can be inlined; not in parts that may not be evaluated at all.
  Expr* find_call(Expr& expr, const std::string& caller) {
    const bool lazy = expr.kind == Expr::Kind::conditional ||
                      (expr.kind == Expr::Kind::binary && (expr.text == "&&" || expr.text == "||"));
    for (std::size_t i = 0; i < (lazy ? 1 : expr.parts.size()); ++i) {
      if (Expr* inner = find_call(expr.parts[i], caller)) {
        return inner;
      }
    }
    if (expr.kind != Expr::Kind::call || expr.parts[0].kind != Expr::Kind::name) {
      return nullptr;
    }
    const std::optional<Function> function = callee(expr.parts[0].text, caller);
    return function && can_expand(*function, expr) ? &expr : nullptr;
  }

  static bool can_expand(const Function& function, const Expr& call) {
    if (function.parameters.size() + 1 != call.parts.size()) {
      return false;
    }
    for (const Parameter& parameter : function.parameters) {
      if (parameter.type.find('&') != std::string::npos) {
        return false;
      }
    }
    if (function.result == "void") {
      return !has_result(function.body);
    }
    return without_returns(function.body, "result").has_value();
  }

  // Emits the callee's body; its value, or a literal for a function without one.
  std::optional<Expr> expand(const Function& function, const Expr& call, Body& out) {
    Body body = function.body;
    Expr value = make_number(0);
    if (function.result != "void" && body.back().kind == Stmt::Kind::result &&
        !has_result({body.begin(), body.end() - 1})) {
      value = body.back().exprs[0];
      body.pop_back();
    } else if (function.result != "void") {
      const std::string result = fresh_name(function.name + "_result", used_);
      body = *without_returns(body, result);
      body.insert(body.begin(), make_declaration(mutable_type(function.result), result));
      value = make_name(result, function.result);
    }
    Names locals = declared_in(body);
    locals.erase(value.text);
    for (const std::string& name : locals) {
      rename(body, value, name, fresh_name(name, used_));
    }
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      bind(function.parameters[i], call.parts[i + 1], body, value, out);
    }
    out.insert(out.end(), body.begin(), body.end());
    return value;
  }

  static void rename(Body& body, Expr& value, const std::string& from, const std::string& to) {
    for (Stmt& stmt : body) {
      if (stmt.kind == Stmt::Kind::declaration && stmt.text == from) {
        stmt.text = to;
      }
      if (stmt.kind == Stmt::Kind::loop && stmt.loop.variable == from) {
        stmt.loop.variable = to;
      }
      Expr none;
      rename(stmt.body, none, from, to);
      rename(stmt.otherwise, none, from, to);
    }
    substitute(body, from, make_name(to));
    substitute(value, from, make_name(to));
  }

  static bool is_assigned(const Body& body, const std::string& name) {
    return any_stmt(body, [&](const Stmt& stmt) {
      return stmt.kind == Stmt::Kind::assignment && stmt.exprs[0].kind == Expr::Kind::name &&
             stmt.exprs[0].text == name;
    });
  }

  static bool is_cheap(const Expr& expr) {
    if (expr.kind == Expr::Kind::name || expr.kind == Expr::Kind::literal) {
      return true;
    }
    return is_address(expr) && is_pointer(expr.type);
  }

  // Sums and products of names: no memory is read.
  static bool is_address(const Expr& expr) {
    switch (expr.kind) {
      case Expr::Kind::name:
      case Expr::Kind::literal:
        return true;
      case Expr::Kind::binary:
        return (expr.text == "+" || expr.text == "-" || expr.text == "*") &&
               std::ranges::all_of(expr.parts, is_address);
      case Expr::Kind::cast:
        return is_integer(expr.type) && is_integer(expr.parts[0].type) && is_address(expr.parts[0]);
      default:
        return false;
    }
  }

  void bind(const Parameter& parameter, const Expr& argument, Body& body, Expr& value, Body& out) {
    if (parameter.name.empty()) {
      return;
    }
    if (is_cheap(argument) && !is_assigned(body, parameter.name)) {
      substitute(body, parameter.name, argument);
      substitute(value, parameter.name, argument);
      return;
    }
    const std::string name = fresh_name(parameter.name, used_);
    const std::string type = mutable_type(parameter.type);
    const bool constant = !is_assigned(body, parameter.name) && !is_pointer(type);
    out.push_back(make_declaration((constant ? "const " : "") + type, name, {argument}));
    rename(body, value, parameter.name, name);
  }

  // Puts the value of pointers, and of whole numbers inside loops, in place of their names. `scope`
  // is all that could assign something.
  void forward_aliases(Body& body, const Body& scope, bool in_loop) {
    for (std::size_t i = 0; i < body.size();) {
      forward_aliases(body[i].body, scope, in_loop || body[i].kind == Stmt::Kind::loop);
      forward_aliases(body[i].otherwise, scope, in_loop);
      if (is_alias(body[i], scope, in_loop)) {
        const std::string name = body[i].text;
        const Expr value = body[i].exprs[0];
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
        for (std::size_t after = i; after < body.size(); ++after) {
          substitute(body[after], name, value);
        }
        ++changes_;
        continue;
      }
      ++i;
    }
  }

  static bool is_alias(const Stmt& stmt, const Body& scope, bool in_loop) {
    if (stmt.kind != Stmt::Kind::declaration || stmt.exprs.size() != 1 || !stmt.dims.empty() ||
        !stmt.prefix.empty() || !is_address(stmt.exprs[0])) {
      return false;
    }
    const bool pointer = is_pointer(stmt.type) && stmt.type.find("__restrict") == std::string::npos;
    const bool number = in_loop && is_integer(stmt.type) &&
                        stmt.exprs[0].kind != Expr::Kind::literal && is_integer(stmt.exprs[0].type);
    if ((!pointer && !number) || is_assigned(scope, stmt.text)) {
      return false;
    }
    return std::ranges::none_of(names_in(stmt.exprs[0]),
                                [&](const std::string& name) { return is_assigned(scope, name); });
  }

  // A function whose last call was inlined would only draw a warning.
  void drop_unused() {
    for (Item& item : program_.items) {
      if (!item.understood || !item.function.local) {
        continue;
      }
      bool called = false;
      for (const Item& other : program_.items) {
        const Names names = other.understood
                                ? names_in(other.function.body)
                                : names_in(Expr{Expr::Kind::verbatim, other.text, {}, {}});
        called = called || (&other != &item && names.contains(item.function.name));
      }
      if (!called) {
        item = Item{};
      }
    }
  }

  Program program_;
  Names used_;
  int changes_ = 0;
};

}  // namespace

Result<Program> inline_calls(const Program& program) {
  return Inliner(program).run();
}

std::vector<Offer> offer_inline_calls(const Program& program) {
  return {{"all loops",
           "calls of functions of the file and pointer aliases replaced by what they stand for",
           [program] { return inline_calls(program); }}};
}

}  // namespace kernelpro
