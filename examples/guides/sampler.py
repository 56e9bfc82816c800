"""The order of PyTorch's DistributedSampler beside ours."""

import importlib.util
import json
import pathlib

RANKS = 8
GOLDENS = (pathlib.Path(__file__).resolve().parents[2] /
           "tests/data/torch_order.json")


def ours(place, data, rank, batch, batches, *more, ranks=RANKS):
    """The records of one rank's batches, a list for each."""
    text = place.run("pipeline_throughput", "--data_dir", data, "--order",
                     batches, "--batch_size", batch, "--rank", rank,
                     "--world_size", ranks, "--shuffle", "torch", *more)
    return [[int(record) for record in line.split()]
            for line in text.splitlines()]


def few_records(place, case):
    """What each rank sees of 23 records in the case's epoch."""
    share = "strided_drop" if case["drop_last"] else "strided"
    batches = len(case["ranks"][0])
    first = case["epoch"] * batches
    return [sum(ours(place, "few", rank, RANKS, first + batches, "--seed",
                     case["seed"], "--rank_share", share)[first:], [])
            for rank in range(RANKS)]


def compare_few(place):
    cases = [case for case in json.loads(GOLDENS.read_text())
             if case["records"] == 23 and case.get("world_size") == RANKS
             and case["epoch"] <= 1 and case["seed"] == 0]
    found = [few_records(place, case) for case in cases]
    place.check("order of 23 records on 8 ranks equals DistributedSampler's "
                "(2 epochs, drop_last or not)",
                len(cases) == 4 and
                found == [case["ranks"] for case in cases],
                f"{len(cases)} cases")
    place.show("", "### Order", "", "23 records for 8 ranks, `seed` 0, epoch 0: padded to 24 by "
               "the order's first record, or cut to 16.", "")
    shown = [(case, mine) for case, mine in zip(cases, found)
             if case["epoch"] == 0]
    place.table(("rank", *(f"{whose}{', drop_last' if case['drop_last'] else ''}"
                           for case, _ in shown
                           for whose in ("PyTorch", "ours"))),
                *((rank, *(words(list_) for case, mine in shown
                           for list_ in (case["ranks"][rank], mine[rank])))
                  for rank in range(RANKS)))


def words(records):
    return " ".join(str(record) for record in records)


def theirs(records, rank, epoch):
    """PyTorch's own, live."""
    from torch.utils.data import DistributedSampler
    live = DistributedSampler(range(records), num_replicas=RANKS, rank=rank)
    live.set_epoch(epoch)
    return list(live)


def compare_live(place, batch, batches):
    """Two epochs of the training's rows, where PyTorch is at hand."""
    if importlib.util.find_spec("torch") is None:
        place.show("", "(PyTorch was not installed: its numbers are from "
                   "`tests/data/torch_order.json`.)")
        return
    import torch
    splits = json.loads((place.out / "records/dataset.json").read_text())
    rows = splits["splits"][0]["records"]
    share = batch // RANKS
    good = True
    for rank in range(RANKS):
        mine = ours(place, "records", rank, batch, 2 * batches, "--rank_share",
                    "strided")
        lists = [theirs(rows, rank, epoch) for epoch in (0, 1)]
        expected = [order[i * share:(i + 1) * share] for order in lists
                    for i in range(batches)]
        good = good and mine == expected
    place.check(f"order of {rows} rows on 8 ranks is that of PyTorch "
                f"{torch.__version__} here", good, f"{2 * batches} batches")


def compare_shares(place, batch):
    """Whosever they are, a batch's images are the same."""
    whole = [sorted(records) for records in
             ours(place, "records", 0, batch, 2, ranks=1)]
    good = True
    for share in ("contiguous", "strided"):
        parts = [ours(place, "records", rank, batch, 2, "--rank_share", share)
                 for rank in range(RANKS)]
        good = good and whole == [sorted(sum(of_ranks, []))
                                  for of_ranks in zip(*parts)]
    place.check("a global batch has the same images: 1 rank, 8 contiguous or "
                "8 strided", good, f"2 batches of {batch}")


def compare(place, batch, batches):
    compare_few(place)
    compare_shares(place, batch)
    compare_live(place, batch, batches)
