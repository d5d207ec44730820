"""HoloClean's imputation: candidates of holes and how likely each is."""
