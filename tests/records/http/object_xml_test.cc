#include "records/http/object_xml.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

// A page with these elements in it.
std::string Page(const std::string& elements) {
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">)" +
         elements + "</ListBucketResult>";
}

TEST(ObjectXmlTest, ReadsAPage) {
  const ObjectPage page = ParseObjectPage(
      Page("<Name>b</Name><IsTruncated>true</IsTruncated>"
           "<NextContinuationToken>a+b=</NextContinuationToken>"
           "<Contents><Key>x/&lt;1&gt; &amp;</Key><Size>7</Size>"
           "<ETag>&quot;abc&quot;</ETag></Contents>"
           "<Contents><Key>y</Key><Size>9007199254740993</Size></Contents>"
           "<CommonPrefixes><Prefix>z/</Prefix></CommonPrefixes>"));
  ASSERT_EQ(page.objects.size(), 2);
  EXPECT_EQ(page.objects[0].key, "x/<1> &");
  EXPECT_EQ(page.objects[0].size, 7);
  EXPECT_EQ(page.objects[0].etag, "\"abc\"");
  EXPECT_EQ(page.objects[1].size, 9007199254740993);
  EXPECT_THAT(page.common_prefixes, ElementsAre("z/"));
  EXPECT_EQ(page.next_token, "a+b=");
}

TEST(ObjectXmlTest, TheLastPageHasNoToken) {
  const ObjectPage page = ParseObjectPage(
      Page("<IsTruncated>false</IsTruncated>"
           "<NextContinuationToken>left over</NextContinuationToken>"));
  EXPECT_EQ(page.next_token, "");
  EXPECT_THAT(page.objects, IsEmpty());
}

TEST(ObjectXmlTest, RefusesABadPage) {
  for (const auto& [xml, reason] :
       {std::pair(std::string(), "damaged"),
        {"<ListBucketResult>", "damaged"},
        {"<html/>", "found 'html'"},
        {Page("<Contents><Size>1</Size></Contents>"), "no Key"},
        {Page("<Contents><Key>k</Key></Contents>"), "no Size"},
        {Page("<Contents><Key>k</Key><Size>-1</Size></Contents>"),
         "invalid Size: '-1'"},
        {Page("<Contents><Key>k</Key><Size>1e3</Size></Contents>"),
         "invalid Size"},
        {Page("<CommonPrefixes/>"), "no Prefix"},
        {Page("<IsTruncated>true</IsTruncated>"), "no NextContinuationToken"},
        {Page("<IsTruncated>yes</IsTruncated>"), "IsTruncated"},
        {std::string(kMaxObjectXmlBytes + 1, ' '), "limit"}}) {
    EXPECT_THAT([&xml = xml] { (void)ParseObjectPage(xml); },
                ThrowsMessage<DataError>(HasSubstr(reason)));
  }
}

TEST(ObjectXmlTest, ReadsAnError) {
  const auto error = ParseStoreError(
      "<?xml version='1.0'?><Error><Code>SlowDown</Code>"
      "<Message>Reduce your request rate.</Message></Error>");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "SlowDown");
  EXPECT_EQ(error->message, "Reduce your request rate.");
  for (const char* none : {"", "<html>Error</html>", "Error"}) {
    EXPECT_FALSE(ParseStoreError(none)) << none;
  }
}

TEST(ObjectXmlTest, ReadsAnUploadId) {
  EXPECT_EQ(ParseUploadId("<InitiateMultipartUploadResult><Bucket>b</Bucket>"
                          "<UploadId>a.b_c--</UploadId>"
                          "</InitiateMultipartUploadResult>"),
            "a.b_c--");
  EXPECT_THAT([] { (void)ParseUploadId("<InitiateMultipartUploadResult/>"); },
              ThrowsMessage<DataError>(HasSubstr("no UploadId")));
}

TEST(ObjectXmlTest, ListsThePartsInOrder) {
  EXPECT_EQ(CompleteUploadXml({"\"a\"", "<b>"}),
            "<CompleteMultipartUpload>"
            "<Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
            "<Part><PartNumber>2</PartNumber><ETag>&lt;b&gt;</ETag></Part>"
            "</CompleteMultipartUpload>");
}

TEST(ObjectXmlTest, ACompletionThatFailedIsNone) {
  EXPECT_NO_THROW(
      CheckUploadCompleted("<CompleteMultipartUploadResult><ETag>x</ETag>"
                           "</CompleteMultipartUploadResult>"));
  EXPECT_THAT(
      [] { CheckUploadCompleted("<Error><Code>InternalError</Code></Error>"); },
      ThrowsMessage<DataError>(HasSubstr("found 'Error'")));
}

}  // namespace
}  // namespace infeed
