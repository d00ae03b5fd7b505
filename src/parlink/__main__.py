"""`python -m parlink`, which `torchrun` uses too."""

from parlink.cli.main import run

run()
