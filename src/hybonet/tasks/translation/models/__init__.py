"""The models of this task, HyboNet and those it is compared with."""
