"""`python -m cpclean` is `cpclean`."""

from cpclean.cli import main

if __name__ == "__main__":
    main(prog_name="cpclean")
