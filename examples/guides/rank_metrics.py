"""Metrics of each rank's own part beside those of the whole."""

import json

import charts


def area(scores, labels):
    """Under the ROC curve, as Mann and Whitney count it; None for one class."""
    ordered = sorted(zip(scores, labels))
    positives = sum(labels)
    negatives = len(labels) - positives
    if not positives or not negatives:
        return None
    pairs, i = 0.0, 0
    below = 0  # negatives with a smaller score
    while i < len(ordered):
        same = [label for score, label in ordered[i:]
                if score == ordered[i][0]]
        tied = len(same) - sum(same)
        pairs += sum(same) * (below + tied / 2)
        below += tied
        i += len(same)
    return pairs / positives / negatives


def area_at_half(scores, labels):
    """The guide's: of predictions that are cut at 0.5 before."""
    return area([float(score > 0.5) for score in scores], labels)


def predictions(place, step):
    """Of the second class, with the labels, in the order of the records."""
    text = place.run("train_resnet", "--mode", "predict", "--model_dir",
                     "model", "--device", "cpu", "--resume", step, "--input",
                     "records/validation-*")
    lines = sorted((json.loads(line) for line in text.splitlines()),
                   key=lambda line: line["record"])
    scores = [next(guess["probability"] for guess in line["top_5"]
                   if guess["index"] == 1) for line in lines]
    return scores, [line["true_index"] for line in lines]


def would_save(best, metrics):
    """The ranks whose own metric is better than ever; notes it."""
    saving = 0
    for rank, metric in enumerate(metrics):
        if metric is not None and metric > best[rank]:
            best[rank] = metric
            saving += 1
    return saving


def follow(place, evals, ranks):
    """Each evaluation's metrics, as the whole and as the ranks' own."""
    best = [0.0] * ranks  # the guide starts from 0
    rows = []
    for found in evals:
        scores, labels = predictions(place, found["step"])
        own = [area_at_half(scores[rank::ranks], labels[rank::ranks])
               for rank in range(ranks)]
        rows.append({"step": found["step"], "auc": found["auc"],
                     "auc_at_half": found["auc_at_half"], "own": own,
                     "saving": would_save(best, own),
                     "auc_here": area(scores, labels),
                     "at_half_here": area_at_half(scores, labels)})
    return rows


def show_table(place, rows, best_step):
    head = ("step", "AUC", "AUC of predictions cut at 0.5",
            "the same, of one rank's part",
            "ranks that would save", "best here")
    place.show("### Metrics and the best checkpoint", "",
               "After each epoch:", "")
    place.table(head, *(
        (row["step"], f"{row['auc']:.4f}", f"{row['auc_at_half']:.4f}",
         span(row["own"]), f"{row['saving']} of {len(row['own'])}",
         "yes" if row["step"] == best_step else "") for row in rows))


def span(metrics):
    known = [metric for metric in metrics if metric is not None]
    text = f"{min(known):.3f} to {max(known):.3f}"
    return text if len(known) == len(metrics) else f"{text}; one class: error"


def check(place, rows, best):
    far = max(max(abs(row["auc"] - row["auc_here"]),
                  abs(row["auc_at_half"] - row["at_half_here"]))
              for row in rows)
    place.check("both AUCs, summed over 8 ranks, equal those of all predictions",
                far < 1e-3, f"{far:.1e} apart")
    first_best = max(rows, key=lambda row: row["auc"])
    place.check("best.json names the checkpoint with the highest AUC",
                (best["metric"], best["step"], best["value"]) ==
                ("auc", first_best["step"], first_best["auc"]),
                f"step {best['step']}, {best['value']:.4f}")


def cut_curve(confusion):
    """The ROC of predictions that are 0 or 1: it has one corner."""
    (right, wrong), (missed, found) = confusion
    return [(0, 0), (wrong / (right + wrong), found / (missed + found)), (1, 1)]


def plot(place, rows, best_step):
    def file_of(step):
        path = place.out / f"model/eval/{step:08d}.json"
        return json.loads(path.read_text(encoding="utf-8"))

    first, best = file_of(rows[0]["step"]), file_of(best_step)
    place.plot("roc.svg", charts.curves(
        "ROC of the validation rows, all ranks", "false positive rate",
        "true positive rate",
        {f"step {best_step}, the best": best["roc"],
         "the same, cut at 0.5": cut_curve(best["confusion"]),
         f"step {first['step']}": first["roc"]}, diagonal=True))
    place.plot("auc.svg", charts.curves(
        "Metrics over all ranks", "step", "area",
        {name: [(row["step"], row[key]) for row in rows]
         for name, key in (("AUC", "auc"), ("cut at 0.5", "auc_at_half"))},
        y_from=0.5))


def compare(place, ranks):
    evals = place.events("model", "eval")
    best = json.loads((place.out / "model/best.json").read_text())
    rows = follow(place, evals, ranks)
    show_table(place, rows, best["step"])
    check(place, rows, best)
    plot(place, rows, best["step"])
