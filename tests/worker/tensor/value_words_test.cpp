#include "worker/tensor/value_words.hpp"

#include <gtest/gtest.h>

#include "support/keys.hpp"

namespace kernelpro {
namespace {

using testing::numbered_key;

TEST(ValueWords, AreTheWordsOfEachElementInEveryGroupAndStream) {
  const std::uint64_t last_of_32_bits = (std::uint64_t{1} << 32) / group_lanes - 1;
  for (const std::uint64_t group : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{977},
                                    last_of_32_bits, last_of_32_bits + 1}) {
    for (const std::uint64_t stream : {std::uint64_t{first_stream}, std::uint64_t{second_stream},
                                       std::uint64_t{0x123456789abcdef0}}) {
      SCOPED_TRACE(std::to_string(group) + " of stream " + std::to_string(stream));
      std::uint32_t words[group_elements] = {};
      value_words(numbered_key(group), group, stream, words);
      for (std::size_t i = 0; i < group_elements; ++i) {
        ASSERT_EQ(words[i], value_word(numbered_key(group), group * group_elements + i, stream))
            << "element " << i;
      }
    }
  }
}

TEST(ValueWord, IsAWordOfChaCha8) {
  // Elements 0, 32, 64 and so on of a group are the words of its first block.
  std::uint32_t block[chacha::words] = {};
  chacha::make_block(block, numbered_key(5), 2 * group_lanes + 3, second_stream, 8);
  for (std::size_t i = 0; i < chacha::words; ++i) {
    EXPECT_EQ(value_word(numbered_key(5), 2 * group_elements + i * group_lanes + 3, second_stream),
              block[i]);
  }
}

}  // namespace
}  // namespace kernelpro
