#include "common/base/chacha.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "common/base/secret.hpp"
#include "support/keys.hpp"

namespace kernelpro {
namespace {

// A block as test vectors are printed: its bytes in order, each word the low byte first.
std::string block_text(const Key& key, std::uint64_t place, std::uint64_t stream, int rounds) {
  constexpr char digits[] = "0123456789abcdef";
  std::uint32_t block[chacha::words] = {};
  chacha::make_block(block, key, place, stream, rounds);
  std::string out;
  for (const std::uint32_t word : block) {
    for (int shift = 0; shift < 32; shift += 8) {
      out += digits[(word >> (shift + 4)) & 15U];
      out += digits[(word >> shift) & 15U];
    }
  }
  return out;
}

TEST(ChaCha, Of20RoundsIsThePublishedOne) {
  EXPECT_EQ(block_text(Key{}, 0, 0, 20),
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
  EXPECT_EQ(block_text(Key{}, 1, 0, 20),
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
            "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
}

TEST(ChaCha, Of8RoundsIsThePublishedOne) {
  EXPECT_EQ(block_text(Key{}, 0, 0, 8),
            "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
            "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42");
}

// RFC 8439, 2.3.2: its counter has 32 bits and its nonce 96, which lie where ours have 64 each.
TEST(ChaCha, TakesKeyPlaceAndStreamAsTheStandardDoes) {
  Key key;
  for (std::uint32_t i = 0; i < 8; ++i) {
    key.words[i] = 0x03020100U + i * 0x04040404U;
  }
  EXPECT_EQ(block_text(key, 1 | (std::uint64_t{0x09000000} << 32), 0x4a000000, 20),
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
}

TEST(Derive, GivesAnotherKeyForEveryKeyPurposeAndIndex) {
  std::set<std::string> keys;
  std::size_t made = 0;
  for (std::uint64_t master = 0; master < 3; ++master) {
    for (std::uint64_t purpose = 0; purpose < 20; ++purpose) {
      for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2},
                                        std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
        keys.insert(key_text(derive(testing::numbered_key(master), purpose, index)));
        ++made;
      }
    }
  }
  EXPECT_EQ(keys.size(), made);
}

TEST(Derive, IsAPureFunction) {
  static_assert(derive(Key{}, 3, 4) == derive(Key{}, 3, 4));
  EXPECT_EQ(derive(Key{}, 3, 4), derive(Key{}, 3, 4));
  EXPECT_FALSE(derive(Key{}, 3, 4) == derive(Key{}, 4, 3));
}

}  // namespace
}  // namespace kernelpro
