#include "coordinator/http/parser.hpp"

#include <algorithm>
#include <charconv>

#include "common/base/text.hpp"

namespace kernelpro::http {

namespace {

constexpr std::size_t longest_size_line = 256;  // of a chunk, with what may stand behind it

// What names of methods and headers are made of (RFC 9110, token).
bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char letter) {
    return is_word(letter) || others.find(letter) != std::string_view::npos;
  });
}

bool is_value(std::string_view text) {
  return std::ranges::all_of(text, [](char letter) {
    return letter == '\t' || static_cast<unsigned char>(letter) >= ' ';
  });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& letter : out) {
    letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return out;
}

std::optional<std::size_t> number(std::string_view text, int base) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all && !text.empty() ? std::optional(value) : std::nullopt;
}

bool has_word(const std::string& list, std::string_view word) {
  std::string_view rest = list;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (lower(trimmed(rest.substr(0, comma))) == word) {
      return true;
    }
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

}  // namespace

std::optional<std::string> decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += plus_is_blank && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    const std::optional<std::size_t> value =
        digits.size() == 2 && digits[0] != '+' && digits[0] != '-' ? number(digits, 16)
                                                                   : std::nullopt;
    if (!value || *value == 0) {
      return std::nullopt;
    }
    out += static_cast<char>(*value);
    i += 2;
  }
  return out;
}

void Parser::add(std::string_view bytes) {
  buffer_.erase(0, std::exchange(read_, 0));
  buffer_ += bytes;
}

std::optional<Request> Parser::next() {
  while (!refusal_ && !whole_ && step()) {
  }
  if (!whole_) {
    return std::nullopt;
  }
  whole_ = false;
  state_ = State::head;
  expects_ = false;
  trailed_ = 0;
  Request done = std::move(request_);
  request_ = Request();
  return done;
}

bool Parser::take_expects() {
  return std::exchange(expects_, false) && state_ != State::head;
}

bool Parser::step() {
  switch (state_) {
    case State::head:
      return read_head();
    case State::body:
      return read_body();
    case State::chunk_size:
      return read_chunk_size();
    case State::chunk:
      return read_chunk();
    case State::chunk_end:
      return read_chunk_end();
    case State::trailers:
      return read_trailers();
  }
  return false;
}

bool Parser::refuse(int status, std::string why) {
  refusal_ = Refusal{status, std::move(why)};
  buffer_.clear();
  read_ = 0;
  return false;
}

std::optional<std::string> Parser::line(std::size_t most) {
  const std::size_t end = rest().find("\r\n");
  if (end == std::string::npos ? rest().size() > most : end > most) {
    refuse(400, "a line is too long");
    return std::nullopt;
  }
  if (end == std::string::npos) {
    return std::nullopt;
  }
  std::string text(rest().substr(0, end));
  read_ += end + 2;
  return text;
}

bool Parser::read_head() {
  while (rest().starts_with("\r\n")) {  // some send an empty line after a body
    read_ += 2;
  }
  const std::size_t end = rest().find("\r\n\r\n");
  if (end == std::string::npos ? rest().size() > limits_.head : end > limits_.head) {
    return refuse(431, "the head of the request is too long");
  }
  if (end == std::string::npos) {
    return false;
  }
  const std::string head(rest().substr(0, end + 2));
  read_ += end + 4;
  std::string_view lines = head;
  bool first = true;
  while (!lines.empty()) {
    const std::size_t stop = lines.find("\r\n");
    const std::string_view one = lines.substr(0, stop);
    if (!(first ? take_request_line(one) : take_header(one))) {
      return false;
    }
    first = false;
    lines.remove_prefix(stop + 2);
  }
  return take_framing();
}

bool Parser::take_request_line(std::string_view text) {
  const std::size_t first = text.find(' ');
  const std::size_t last = text.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return refuse(400, "expected METHOD TARGET HTTP/1.1");
  }
  const std::string_view version = text.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return refuse(400, "expected HTTP/1.1");
  }
  request_.method = text.substr(0, first);
  request_.keep_alive = version == "HTTP/1.1";
  request_.knows_chunks = request_.keep_alive;
  if (!is_token(request_.method)) {
    return refuse(400, "the method is no word");
  }
  return take_target(text.substr(first + 1, last - first - 1));
}

bool Parser::take_target(std::string_view target) {
  const bool plain = std::ranges::all_of(target, [](char letter) {
    return static_cast<unsigned char>(letter) > ' ' && letter != '\x7f';
  });
  if (!target.starts_with('/') || !plain) {
    return refuse(400, "expected a target that begins with /");
  }
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::optional<std::string> path = decoded(target.substr(0, mark), false);
  if (!path) {
    return refuse(400, "the target is not encoded as it should be");
  }
  request_.path = *path;
  std::string_view query = target.substr(std::min(mark + 1, target.size()));
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equal = std::min(pair.find('='), pair.size());
    const auto name = decoded(pair.substr(0, equal), true);
    const auto value = decoded(pair.substr(std::min(equal + 1, pair.size())), true);
    if (!name || !value) {
      return refuse(400, "the query is not encoded as it should be");
    }
    request_.query[*name] = *value;
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return true;
}

bool Parser::take_header(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || !is_token(text.substr(0, colon))) {
    return refuse(400, "a header is malformed");
  }
  const std::string name = lower(text.substr(0, colon));
  const std::string_view value = trimmed(text.substr(colon + 1), " \t");
  if (!is_value(value)) {
    return refuse(400, "a header has characters that none may have");
  }
  const auto [place, fresh] = request_.headers.emplace(name, value);
  if (fresh) {
    return true;
  }
  // Twice is one list for most; these say one thing only, and two of them could be read two ways.
  for (const char* const once : {"host", "content-length", "transfer-encoding", "authorization",
                                 "origin", "mcp-session-id", "mcp-protocol-version"}) {
    if (name == once) {
      return refuse(400, "the header " + name + " is there twice");
    }
  }
  place->second += ", " + std::string(value);
  return true;
}

bool Parser::take_framing() {
  const std::string connection = lower(request_.header("connection"));
  request_.keep_alive =
      !has_word(connection, "close") && (request_.keep_alive || has_word(connection, "keep-alive"));
  const bool chunked = request_.headers.contains("transfer-encoding");
  const bool counted = request_.headers.contains("content-length");
  if (chunked && (counted || lower(request_.header("transfer-encoding")) != "chunked")) {
    return refuse(counted ? 400 : 501, "expected Content-Length, or Transfer-Encoding: chunked");
  }
  expects_ = lower(request_.header("expect")) == "100-continue";
  if (chunked) {
    state_ = State::chunk_size;
    return true;
  }
  const std::string length = request_.header("content-length");
  const bool digits = !length.empty() && std::ranges::all_of(length, is_digit);
  if (counted && !digits) {
    return refuse(400, "Content-Length is no number");
  }
  // A number that none can hold is too large as well.
  left_ = counted ? number(length, 10).value_or(limits_.body + 1) : 0;
  if (left_ > limits_.body) {
    return refuse(413, "the body is too large: at most " + std::to_string(limits_.body) + " bytes");
  }
  state_ = State::body;
  return true;
}

void Parser::take_for_body() {
  const std::string_view some = rest().substr(0, left_);
  request_.body += some;
  read_ += some.size();
  left_ -= some.size();
}

bool Parser::read_body() {
  take_for_body();
  whole_ = left_ == 0;
  return whole_;
}

bool Parser::read_chunk_size() {
  const std::optional<std::string> text = line(longest_size_line);
  if (!text) {
    return false;
  }
  const std::string_view digits = trimmed(std::string_view(*text).substr(0, text->find(';')));
  const std::optional<std::size_t> size = number(digits, 16);
  if (!size || digits.starts_with('-')) {
    return refuse(400, "the size of a chunk is no number");
  }
  if (*size > limits_.body - std::min(limits_.body, request_.body.size())) {
    return refuse(413, "the body is too large: at most " + std::to_string(limits_.body) + " bytes");
  }
  left_ = *size;
  state_ = left_ == 0 ? State::trailers : State::chunk;
  return true;
}

bool Parser::read_chunk() {
  take_for_body();
  if (left_ > 0) {
    return false;
  }
  state_ = State::chunk_end;
  return true;
}

bool Parser::read_chunk_end() {
  if (rest().size() < 2) {
    return false;
  }
  if (!rest().starts_with("\r\n")) {
    return refuse(400, "a chunk does not end where it should");
  }
  read_ += 2;
  state_ = State::chunk_size;
  return true;
}

bool Parser::read_trailers() {
  const std::optional<std::string> text = line(limits_.head);
  if (!text) {
    return false;
  }
  trailed_ += text->size() + 2;
  if (trailed_ > limits_.head) {
    return refuse(431, "what follows the body is too long");
  }
  whole_ = text->empty();
  return true;
}

}  // namespace kernelpro::http
