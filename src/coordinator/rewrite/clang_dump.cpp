#include "coordinator/rewrite/clang_dump.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "common/base/file.hpp"
#include "coordinator/rewrite/clang_call.hpp"
#include "coordinator/rewrite/prepared_headers.hpp"
#include "coordinator/rewrite/standing_clang.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;

constexpr std::size_t deepest_tree = 1000;
const char* const source_name = "candidate.cpp";

// Builds nodes while the text is read. A tree of all that clang says, most of which nobody asks
// for, takes several times as long.
class TreeReader : public nlohmann::json_sax<json> {
 public:
  [[nodiscard]] AstNode take() { return std::move(root_); }

  bool null() override {
    if (part() == Part::children) {
      nodes_.back().inner.emplace_back();
    }
    return true;
  }

  bool boolean(bool value) override {
    if (part() != Part::node) {
      return true;
    }
    AstNode& node = nodes_.back();
    if (key_ == "isArrow") {
      node.arrow = value;
    } else if (key_ == "hasInit") {
      node.has_init = value;
    } else if (key_ == "hasVar") {
      node.has_variable = value;
    } else if (key_ == "constexpr" || key_ == "isConstexpr") {
      node.is_constexpr = node.is_constexpr || value;
    } else if (key_ == "inline") {
      node.is_inline = value;
    }
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (is_place(part()) && key_ == "offset") {
      place_.offset = value;
    } else if (is_place(part()) && key_ == "tokLen") {
      place_.length = value;
    }
    return true;
  }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }

  bool string(string_t& value) override {
    if (part() == Part::type && key_ == "qualType") {
      nodes_.back().type = std::move(value);
    } else if (part() == Part::type && key_ == "desugaredQualType") {
      nodes_.back().meant_type = std::move(value);
    } else if (part() == Part::node) {
      AstNode& node = nodes_.back();
      if (key_ == "kind") {
        node.kind = std::move(value);
      } else if (key_ == "name") {
        node.name = std::move(value);
      } else if (key_ == "opcode") {
        node.opcode = std::move(value);
      } else if (key_ == "storageClass") {
        node.storage = std::move(value);
      }
    }
    return true;
  }

  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }

  bool start_object(std::size_t /*count*/) override {
    const Part inside = part_inside();
    if (inside == Part::node) {
      nodes_.emplace_back();
    } else if (is_place(inside) && !is_place(part())) {
      place_ = {};
    } else if (is_place(inside)) {
      place_.in_macro = true;
    }
    parts_.push_back(inside);
    return true;
  }

  bool end_object() override {
    const Part ended = part();
    parts_.pop_back();
    if (is_place(ended) && !is_place(part())) {
      set_place(ended);
    } else if (ended == Part::node) {
      AstNode node = std::move(nodes_.back());
      nodes_.pop_back();
      (nodes_.empty() ? root_ : nodes_.back().inner.emplace_back()) = std::move(node);
    }
    return true;
  }

  bool start_array(std::size_t /*count*/) override {
    const bool children = part() == Part::node && key_ == "inner" && nodes_.size() <= deepest_tree;
    parts_.push_back(children ? Part::children : Part::skipped);
    return true;
  }

  bool end_array() override {
    parts_.pop_back();
    return true;
  }

  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  // Where in a node the reader is.
  enum class Part { outside, node, children, type, name_place, range, begin, end, skipped };

  struct WrittenPlace {
    std::size_t offset = 0;
    std::size_t length = 0;
    bool in_macro = false;
  };

  [[nodiscard]] Part part() const { return parts_.empty() ? Part::outside : parts_.back(); }

  static bool is_place(Part part) {
    return part == Part::name_place || part == Part::begin || part == Part::end;
  }

  // Which part the object behind the present key is.
  [[nodiscard]] Part part_inside() const {
    const Part around = part();
    if (around == Part::outside || around == Part::children) {
      return Part::node;
    }
    // Of something that a macro made, the macro's use is where it is written.
    if (is_place(around) && key_ == "expansionLoc") {
      return around;
    }
    for (const auto& [within, key, inside] : {std::tuple(Part::node, "type", Part::type),
                                              {Part::node, "loc", Part::name_place},
                                              {Part::node, "range", Part::range},
                                              {Part::range, "begin", Part::begin},
                                              {Part::range, "end", Part::end}}) {
      if (around == within && key_ == key) {
        return inside;
      }
    }
    return Part::skipped;
  }

  void set_place(Part ended) {
    AstNode& node = nodes_.back();
    if (ended == Part::name_place) {
      node.place = place_.offset;
    } else if (ended == Part::begin) {
      node.begin = place_.offset;
      node.begins_in_macro = place_.in_macro;
    } else {
      node.end = place_.offset + place_.length;
      node.ends_in_macro = place_.in_macro;
    }
  }

  AstNode root_;
  std::vector<AstNode> nodes_;  // those not ended yet, outermost first
  std::vector<Part> parts_;
  std::string key_;
  WrittenPlace place_;
};

// Whether a tree of all that is not in prepared headers is the tree of the source. If not, clang
// looks for the namespace everywhere, which takes long where headers are large.
bool is_all_there(const std::string& source, const ParseSettings& settings) {
  return !settings.prepared_headers.empty() && !includes_more(source);
}

std::vector<std::string> dump_arguments(const std::string& source, const std::string& name,
                                        const ParseSettings& settings) {
  std::vector<std::string> arguments = tree_arguments(settings);
  if (!is_all_there(source, settings)) {
    arguments.insert(arguments.end(), {"-Xclang", "-ast-dump-filter=" + name});
  }
  arguments.emplace_back(source_name);
  return arguments;
}

void add_pieces(AstNode&& node, const std::string& name, std::vector<AstNode>& pieces) {
  if (node.kind == "NamespaceDecl" && node.name == name) {
    pieces.push_back(std::move(node));
  } else if (node.kind == "TranslationUnitDecl") {
    for (AstNode& child : node.inner) {
      add_pieces(std::move(child), name, pieces);
    }
  }
}

// One document after the other; only the brace that closes one stands at the start of a line.
// Nothing when one cannot be read.
std::optional<std::vector<AstNode>> pieces_in(const std::string& text, const std::string& name) {
  std::vector<AstNode> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t close = text.find("\n}\n", begin);
    const std::size_t end = close == std::string::npos ? text.size() : close + 3;
    TreeReader reader;
    if (!json::sax_parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                         text.begin() + static_cast<std::ptrdiff_t>(end), &reader)) {
      return std::nullopt;
    }
    add_pieces(reader.take(), name, pieces);
    begin = end;
  }
  return pieces;
}

// Nothing where no clang that stays can read it: one of its own says why.
Result<std::optional<ClangDump>> ask_standing(const std::string& source, const std::string& name,
                                              const ParseSettings& settings,
                                              const std::stop_token& stop) {
  if (settings.standing == nullptr || !is_all_there(source, settings)) {
    return std::optional<ClangDump>();
  }
  KP_LET(const std::optional<std::string> tree, settings.standing->tree_of(source, settings, stop));
  std::optional<std::vector<AstNode>> pieces;
  if (tree) {
    pieces = pieces_in(*tree, name);
  }
  return pieces ? std::optional(ClangDump{true, {}, std::move(*pieces)}) : std::nullopt;
}

}  // namespace

Result<ClangDump> dump_namespace(const std::string& source, const std::string& name,
                                 const ParseSettings& settings, std::stop_token stop) {
  KP_LET(std::optional<ClangDump> standing, ask_standing(source, name, settings, stop));
  if (standing) {
    return std::move(*standing);
  }
  KP_LET(const ScratchDir scratch, ScratchDir::create("rewrite"));
  KP_TRY(write_readable(scratch.path() / source_name, source));
  KP_TRY(put_public_header(scratch.path(), settings));
  KP_LET(const Finished finished, call_clang(scratch.path(), dump_arguments(source, name, settings),
                                             settings, std::move(stop)));
  ClangDump dump;
  dump.compiled = finished.succeeded();
  dump.diagnostics = finished.errors;
  if (!dump.compiled) {
    return dump;
  }
  std::optional<std::vector<AstNode>> pieces = pieces_in(finished.output, name);
  if (!pieces) {
    return make_error(ErrorKind::internal, "its syntax tree could not be read", settings.clang);
  }
  dump.namespaces = std::move(*pieces);
  return dump;
}

}  // namespace kernelpro
