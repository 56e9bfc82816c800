#!/usr/bin/env python3
"""Sentences with labels as TFRecords of token ids, and their vocabulary.

usage: sentences_to_records.py FOLDER OUTPUT

FOLDER has train.tsv, dev.tsv and test.tsv with lines SENTENCE<TAB>LABEL. The
WordPieces are the most frequent training words, and letters for the others.
"""

from __future__ import annotations

import collections
import pathlib
import sys

from tokenizers import BertWordPieceTokenizer

import infeed.records


def vocabulary(sentences: list[str]) -> list[str]:
    letters = sorted(set("".join(sentences)) - {" "})
    words = collections.Counter(" ".join(sentences).split())
    return list(dict.fromkeys([
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters,
        *("##" + letter for letter in letters),
        *(word for word, _ in words.most_common(8000))]))


def main() -> None:
    folder, output = map(pathlib.Path, sys.argv[1:])
    splits = {name: [line.rsplit("\t", 1) for line in
                     (folder / f"{name}.tsv").read_text().splitlines()]
              for name in ("train", "dev", "test")}
    pieces = vocabulary([sentence for sentence, _ in splits["train"]])
    tokenizer = BertWordPieceTokenizer(
        {piece: number for number, piece in enumerate(pieces)})
    output.mkdir(parents=True, exist_ok=True)
    (output / "vocab.txt").write_text("\n".join(pieces) + "\n")
    for name, rows in splits.items():
        shard = output / f"{name}-00000-of-00001"
        with infeed.records.Writer(shard) as writer:
            for sentence, label in rows:
                ids = tokenizer.encode(sentence).ids
                writer.write_example({"input_ids": ids, "target": float(label)})


if __name__ == "__main__":
    main()
