"""Scores of predicted links against gold ones: counts, intervals, errors by kind, thresholds and confidence."""
