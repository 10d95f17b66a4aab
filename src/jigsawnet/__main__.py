"""``python -m jigsawnet``."""

from jigsawnet.cli import run

if __name__ == "__main__":
    run()
