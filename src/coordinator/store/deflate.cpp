// zlib takes its input as const only where it is asked to.
#define ZLIB_CONST
#include "coordinator/store/deflate.hpp"

#include <zlib.h>

#include <array>
#include <memory>

namespace kernelpro::store {

namespace {

const Bytef* bytes_of(const std::string& text) {
  return reinterpret_cast<const Bytef*>(text.data());
}

uInt size_of(const std::string& text) {
  return static_cast<uInt>(text.size());
}

Error damaged(const char* reason) {
  return make_error(ErrorKind::io, std::string("a packed text is damaged: ") + reason);
}

Error out_of_memory() {
  return make_error(ErrorKind::environment, "out of memory while packing a text");
}

}  // namespace

Result<std::string> pack_text(const std::string& text, const std::string& model, Packing packing) {
  z_stream stream{};
  const int level = packing == Packing::small ? Z_BEST_COMPRESSION : Z_BEST_SPEED;
  if (deflateInit(&stream, level) != Z_OK) {
    return out_of_memory();
  }
  const std::unique_ptr<z_stream, decltype(&deflateEnd)> end(&stream, deflateEnd);
  if (!model.empty()) {
    deflateSetDictionary(&stream, bytes_of(model), size_of(model));
  }
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = bytes_of(text);
  stream.avail_in = size_of(text);
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = size_of(packed);
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
    return make_error(ErrorKind::internal, "zlib did not pack a text in one step");
  }
  packed.resize(stream.total_out);
  return packed;
}

Result<std::string> unpack_text(const std::string& packed, const std::string& model) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) {
    return out_of_memory();
  }
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> end(&stream, inflateEnd);
  stream.next_in = bytes_of(packed);
  stream.avail_in = size_of(packed);
  std::string text;
  std::array<char, 16 * 1024> chunk{};
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    text.append(chunk.data(), chunk.size() - stream.avail_out);
    if (code == Z_STREAM_END) {
      return text;
    }
    if (code == Z_NEED_DICT) {
      if (inflateSetDictionary(&stream, bytes_of(model), size_of(model)) != Z_OK) {
        return damaged("it was packed with another model");
      }
    } else if (code != Z_OK) {
      return damaged(stream.msg != nullptr ? stream.msg : "it ends too early");
    }
  }
}

}  // namespace kernelpro::store
