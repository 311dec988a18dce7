"""``python -m graphviewer`` is ``graphviewer``."""

from graphviewer.cli import main

if __name__ == "__main__":
    main()
