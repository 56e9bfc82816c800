"""A hostile object store: every program that reads from it."""

from liar import LIES, Liar

SHORT_CASES = 8
# A request is tried for 120 s (docs/cloud.md), and a program makes several.
SECONDS = 400


def run(case):
    case.protect(case.inputs.data)
    kinds = case.random.sample(LIES, case.random.choice([1, 1, 2]))
    share = case.random.choice([0.2, 1.0])
    with Liar(case.inputs.data, case.random, kinds, share) as liar:
        use(case, liar, kinds)


def use(case, liar, kinds):
    url = "s3://bucket/train-*"
    one = "s3://bucket/train-00000-of-00003"
    web = f"{liar.url}/bucket/train-00000-of-00003"
    ways = [
        ("records", "verify", url), ("records", "ls", "s3://bucket"),
        ("records", "cat", "--limit", "3", one), ("records", "count", web),
        ("records", "verify", web), ("records", "stats", url),
        ("records", "reshard", url, "--output", case.work / "out"),
        ("records", "verify", "--cache_dir", case.work / "copies", url),
        ("pipeline_throughput", "--shards", url, "--hash", "2", "--batch_size",
         "8", "--image_size", "32", "--threads", "1"),
        ("imagenet_to_records", "--raw_data_dir", "s3://bucket",
         "--local_scratch_dir", case.work / "shards"),
        ("train_resnet", "--dry_run",
         *case.inputs.training("s3://bucket", case.work / "model", 2))]
    program, *words = case.random.choice(ways)
    ended = case.run(program, *words, seconds=SECONDS, env={
        "AWS_ENDPOINT_URL_S3": liar.url, "AWS_ACCESS_KEY_ID": "of-a-test",
        "AWS_SECRET_ACCESS_KEY": "secret-of-a-test",
        "no_proxy": "127.0.0.1"})
    said = ended.output + ended.errors
    case.expect("secret-of-a-test" not in said, "a key is printed")
    case.expect("root:" not in said, "a file of this machine is read")
    if words[:1] == ["verify"] and "get other bytes" in kinds and \
            liar.left == 0 and liar.share == 1.0:
        case.expect(ended.code != 0, "bytes that were not the object's: good")
