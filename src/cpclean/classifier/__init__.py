"""Classifiers for scikit-learn's tools: fit a table with holes, predict by the vote over worlds.

neighbors     CertainKNeighborsClassifier: nearest neighbours in any space
forest        CertainForestClassifier: nearest neighbours in the leaves of a forest
out_of_bag    how many neighbours, by rows that the trees have not seen
"""

from cpclean.classifier.forest import CertainForestClassifier
from cpclean.classifier.neighbors import CertainKNeighborsClassifier

__all__ = ["CertainForestClassifier", "CertainKNeighborsClassifier"]
