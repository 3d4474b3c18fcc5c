// The master of a certificate, and certificates of earlier versions.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/json_checks.hpp"
#include "common/wire/samples.hpp"
#include "support/schema.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;
using testing::SchemaFile;
using testing::through_text;
using json = nlohmann::json;

TEST(CertificateJson, MastersSurviveExactly) {
  Certificate certificate;
  for (const Key& master : {Key{}, testing::numbered_key(1), testing::numbered_key(2)}) {
    certificate.master = master;
    const Result<Certificate> read = certificate_from_json(through_text(to_json(certificate)));
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(read->master, master);
  }
  EXPECT_EQ(to_json(Certificate{})["master"], std::string(64, '0'));
}

TEST(CertificateJson, MastersInAnyOtherFormAreRefused) {
  json written = to_json(Certificate{});
  for (const json& master : {json(7), json("7"), json(std::string(63, '0')),
                             json(std::string(65, '0')), json(std::string(64, 'F')),
                             json("0x" + std::string(62, '0')), json(std::string(64, 'g'))}) {
    written["master"] = master;
    EXPECT_THAT(error_of(certificate_from_json(written)),
                AllOf(HasSubstr("/master: found the"), HasSubstr("64 hexadecimal digits")))
        << master;
    EXPECT_NE(SchemaFile("certificate.json").complaints(written), "") << master;
  }
}

// What kernelpro wrote before masters had 256 bits.
json version_1(json certificate) {
  certificate["version"] = 1;
  certificate.erase("master");
  certificate["seed"] = "0xfedcba9876543210";
  json& verdict = certificate["verdict"];
  for (json& check : verdict["checks"]) {
    check.erase("key");
    check["seed"] = "0x00000000000000ff";
  }
  for (json& shape : verdict["timing"]["shapes"]) {
    for (const char* later :
         {"incumbent_alone_ns", "at_least", "dropped_pairs", "budget", "likely"}) {
      shape.erase(later);
    }
  }
  verdict["timing"].erase("budget");
  verdict["timing"].erase("at_least");
  return certificate;
}

TEST(CertificateJson, ACertificateOfVersion1IsReadWithItsSeedsAsTheFirstWords) {
  const json old = version_1(to_json(testing::sample_certificate()));
  const Result<Certificate> read = certificate_from_json(through_text(old));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->version, 1);
  EXPECT_EQ(read->master, (Key{{0x76543210U, 0xfedcba98U}}));
  ASSERT_FALSE(read->verdict.checks.empty());
  EXPECT_EQ(read->verdict.checks[0].key, (Key{{0xffU}}));
}

TEST(CertificateJson, SeedsOfVersion1AreRefusedInAnyOtherForm) {
  json old = version_1(to_json(testing::sample_certificate()));
  for (const json& seed : {json(7), json("7"), json("0x7"), json("0x00000000000000FF"),
                           json("0x00000000000000000"), json("0x-000000000000001")}) {
    old["seed"] = seed;
    EXPECT_THAT(error_of(certificate_from_json(old)),
                AllOf(HasSubstr("/seed: found the"), HasSubstr("16 hexadecimal digits")))
        << seed;
  }
}

TEST(CertificateJson, AMasterBesideASeedIsRefused) {
  json both = version_1(to_json(testing::sample_certificate()));
  both["master"] = std::string(64, '0');
  EXPECT_THAT(error_of(certificate_from_json(both)), HasSubstr("master"));
}

}  // namespace
}  // namespace kernelpro
