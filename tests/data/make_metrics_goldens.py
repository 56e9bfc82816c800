"""Writes metrics_goldens.json: ROC curves and areas as scikit-learn has them.

README.metrics.md describes it. Usage: python3 make_metrics_goldens.py OUT.json
"""

import json
import sys

import numpy as np
from sklearn import metrics


def corners(fpr, tpr, negatives, positives):
    """The curve without the points on a straight line between others."""
    x, y = np.rint(fpr * negatives).astype(int), np.rint(tpr * positives).astype(int)
    kept = []
    for point in zip(x.tolist(), y.tolist()):
        while len(kept) > 1:
            (ax, ay), (bx, by) = kept[-2:]
            if (bx - ax) * (point[1] - by) != (point[0] - bx) * (by - ay):
                break
            kept.pop()
        kept.append(point)
    return [[a / negatives, b / positives] for a, b in kept]


def two_classes(name, labels, scores):
    labels, scores = np.array(labels), np.array(scores, np.float32)
    fpr, tpr, _ = metrics.roc_curve(labels, scores, drop_intermediate=False)
    return {
        "name": name,
        "labels": labels.tolist(),
        "scores": scores.tolist(),
        "auc": metrics.roc_auc_score(labels, scores),
        "auc_at_half": metrics.roc_auc_score(labels, scores > 0.5),
        "roc": corners(fpr, tpr, int((labels == 0).sum()), int(labels.sum())),
    }


def many_classes(rng, images, classes):
    labels = np.concatenate([np.arange(classes),
                             rng.integers(0, classes, images - classes)])
    logits = rng.normal(size=(images, classes)) + 1.5 * np.eye(classes)[labels]
    scores = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    scores = np.round(scores * 32) / 32  # Ties, and exact as floats.
    areas = [metrics.roc_auc_score(labels == c, scores[:, c])
             for c in range(classes)]
    said = scores.argmax(1)
    return {
        "labels": labels.tolist(),
        "scores": scores.flatten().tolist(),
        "auc": float(np.mean(areas)),
        "confusion": metrics.confusion_matrix(labels, said).flatten().tolist(),
        "mean_class": metrics.balanced_accuracy_score(labels, said),
    }


def main():
    rng = np.random.default_rng(14)
    random = rng.integers(0, 2, 60)
    goldens = {
        "two_classes": [
            two_classes("perfect", [0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]),
            two_classes("inverted", [0, 1, 1], [0.9, 0.3, 0.2]),
            two_classes("all_equal", [0, 1, 0, 1, 1], [0.5] * 5),
            two_classes("at_half", [0, 1, 1, 0], [0.5, 0.5, 0.75, 0.25]),
            two_classes("random_with_ties", random,
                        np.round((rng.random(60) + 0.4 * random) * 8) / 11),
        ],
        "many_classes": many_classes(rng, 40, 4),
    }
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(goldens, out, indent=1)
        out.write("\n")


main()
