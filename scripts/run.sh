#!/usr/bin/env bash
# Open the bundled sample; where there is no screen, do the same job without a window and say where the results are.
set -euo pipefail
cd "$(dirname "$0")/.."
graphviewer=.venv/bin/graphviewer
sample=resources/samples/digits/model.ckpt-500.meta

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || [ "$(uname -s)" != Linux ]; then
    exec "$graphviewer" open "$sample"
fi

export QT_QPA_PLATFORM=offscreen
out=out/digits
mkdir -p "$out"
echo "There is no screen here, so this does the job without the window."
echo
echo "Freezing $sample from images to net_1/probabilities:"
"$graphviewer" freeze "$sample" --input images --output net_1/probabilities --force -o "$out/frozen.pb"
echo
echo "What freezing changed:"
"$graphviewer" diff "$sample" "$out/frozen.pb" --stat || [ $? = 1 ] # 1: the two differ, as they should
"$graphviewer" render "$sample" --overlay roles --output net_1/probabilities -o "$out/original.png"
"$graphviewer" render "$out/frozen.pb" -o "$out/frozen.png"
"$graphviewer" render "$sample" --diff "$out/frozen.pb" -o "$out/comparison.png"
echo
echo "Pictures of the original, the result and the comparison, and the frozen graph:"
ls "$PWD/$out"/{original,frozen,comparison}.png "$PWD/$out/frozen.pb"
