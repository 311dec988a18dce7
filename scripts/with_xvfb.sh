#!/usr/bin/env bash
# Run a command on a virtual X screen of its own; the screen goes when the command ends.
set -euo pipefail
display=$(mktemp)
Xvfb -displayfd 3 -screen 0 1600x1200x24 -nolisten tcp -noreset 3>"$display" 2>/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -f "$display"' EXIT
for _ in $(seq 200); do
    [ ! -s "$display" ] || break
    kill -0 "$server" 2>/dev/null || { echo "Xvfb did not start." >&2; exit 1; }
    sleep 0.05
done
unset WAYLAND_DISPLAY XAUTHORITY
DISPLAY=":$(<"$display")" "$@"
