#!/usr/bin/env bash
# Make sure of the system libraries and fonts that Qt needs, on Debian and Ubuntu: as root, install what is missing;
# otherwise print the one line to type. Usage: system_packages.sh run|test
set -euo pipefail

# A shared library that must be loadable, and the package that brings it.
libraries="
libEGL.so.1 libegl1
libGL.so.1 libgl1
libdbus-1.so.3 libdbus-1-3
libfontconfig.so.1 libfontconfig1
libglib-2.0.so.0 libglib2.0-0
libX11-xcb.so.1 libx11-xcb1
libxcb-cursor.so.0 libxcb-cursor0
libxcb-icccm.so.4 libxcb-icccm4
libxcb-image.so.0 libxcb-image0
libxcb-keysyms.so.1 libxcb-keysyms1
libxcb-randr.so.0 libxcb-randr0
libxcb-render-util.so.0 libxcb-render-util0
libxcb-shape.so.0 libxcb-shape0
libxcb-xinerama.so.0 libxcb-xinerama0
libxcb-xkb.so.1 libxcb-xkb1
libxkbcommon.so.0 libxkbcommon0
libxkbcommon-x11.so.0 libxkbcommon-x11-0
"

[ "$(uname -s)" = Linux ] || exit 0
loadable=$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p)
missing=()
while read -r library package; do
    [ -z "$library" ] || grep -qF "$library " <<<"$loadable" || missing+=("$package")
done <<<"$libraries"

# A bare Debian has no fonts at all; node names may hold Chinese, which only the CJK fonts can show.
fonts=$(find /usr/share/fonts /usr/local/share/fonts -name '*.[to]t[fc]' 2>/dev/null || true)
grep -qi dejavu <<<"$fonts" || missing+=(fonts-dejavu-core)
grep -qiE 'cjk|wqy|droidsansfallback' <<<"$fonts" || missing+=(fonts-noto-cjk)
[ "${1:-run}" != test ] || command -v Xvfb >/dev/null || missing+=(xvfb)

# Debian's Python comes without the module that makes virtual environments.
python=$("$(dirname "$0")/find_python.sh") || missing+=(python3 python3-venv)
if [ -n "${python:-}" ] && ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    missing+=("python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv")
fi

[ ${#missing[@]} -gt 0 ] || exit 0
if ! command -v apt-get >/dev/null; then
    echo "These are missing (Debian's names of the packages): ${missing[*]}" >&2
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    echo "Some system packages are missing. Please type this line, then try again:" >&2
    echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
fi
echo "Installing system packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
