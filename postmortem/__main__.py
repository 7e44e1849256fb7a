"""`python -m postmortem`."""

from postmortem.interfaces.cli import main

if __name__ == "__main__":
    main()
