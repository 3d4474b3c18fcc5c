#include "common/base/hash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace kernelpro {
namespace {

// The examples of FIPS 180-4, and lengths around the padding's edges against coreutils' sha256sum.
TEST(Sha256Test, AgreesWithTheStandard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, PadsRightAtEveryLengthAroundABlock) {
  EXPECT_EQ(sha256(std::string(55, 'x')),
            "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(sha256(std::string(56, 'x')),
            "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(sha256(std::string(63, 'x')),
            "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
  EXPECT_EQ(sha256(std::string(64, 'x')),
            "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
  EXPECT_EQ(sha256(std::string(65, 'x')),
            "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
}

TEST(MemoryHashTest, EverySingleBitChangeIsSeen) {
  std::vector<unsigned char> memory(75);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory[i] = static_cast<unsigned char>(i * 37);
  }
  std::set<std::uint64_t> seen = {memory_hash(memory.data(), memory.size())};
  for (std::size_t bit = 0; bit < memory.size() * 8; ++bit) {
    const auto mask = static_cast<unsigned char>(1U << bit % 8);
    memory[bit / 8] ^= mask;
    EXPECT_TRUE(seen.insert(memory_hash(memory.data(), memory.size())).second) << "bit " << bit;
    memory[bit / 8] ^= mask;
  }
}

TEST(MemoryHashTest, NoPairOfBitsInNeighboringWordsCancels) {
  std::array<std::uint64_t, 6> words{};  // the first and the fifth share a lane
  const std::uint64_t before = memory_hash(words.data(), sizeof words);
  for (unsigned first = 0; first < 64; ++first) {
    for (unsigned second = 0; second < 64; ++second) {
      for (const std::size_t other : {1U, 4U, 5U}) {
        words[0] = std::uint64_t{1} << first;
        words[other] = std::uint64_t{1} << second;
        EXPECT_NE(memory_hash(words.data(), sizeof words), before);
        words[other] = 0;
      }
    }
  }
}

TEST(MemoryHashTest, LengthAndOrderCount) {
  const std::vector<unsigned char> zeros(128, 0);
  std::set<std::uint64_t> seen;
  for (std::size_t length = 0; length <= zeros.size(); ++length) {
    EXPECT_TRUE(seen.insert(memory_hash(zeros.data(), length)).second) << "length " << length;
  }
  EXPECT_NE(memory_hash("aaaaaaaabbbbbbbb", 16), memory_hash("bbbbbbbbaaaaaaaa", 16));
}

TEST(MemoryHashTest, DoesNotDependOnAlignment) {
  const std::string text = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";
  const std::string shifted = "#" + text;
  EXPECT_EQ(memory_hash(text.data(), text.size()), memory_hash(shifted.data() + 1, text.size()));
}

}  // namespace
}  // namespace kernelpro
