#!/usr/bin/env bash
# Print the first Python that graphviewer runs on (3.11 to 3.13); fail if there is none. $PYTHON goes before all others.
for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
        command -v "$candidate"
        exit 0
    fi
done
echo "graphviewer needs Python 3.11, 3.12 or 3.13 (the Pythons that TensorFlow has builds for)." >&2
exit 1
