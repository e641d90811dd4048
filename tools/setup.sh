#!/usr/bin/env bash
# Makes .venv and installs what is missing: SWI-Prolog from the system's packages, Python packages from pyproject.toml.
# usage: tools/setup.sh VENV EXTRA      EXTRA is "" to play, "[dev]" to test
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
extra=$2

say() { printf '%s\n' "$*" >&2; }
give_up() { say "setup: $*"; exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else give_up "need root for '$*', and there is no sudo: run it as root, then try again"
    fi
}

system_package() { # apt-name dnf-name pacman-name brew-name
    say "setup: installing $1 from the system's packages"
    if command -v apt-get >/dev/null; then
        as_root apt-get update -qq || say "setup: apt-get update failed, trying with the lists that are there"
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" >/dev/null
    elif command -v dnf >/dev/null && [ -n "$2" ]; then as_root dnf install -y -q "$2"
    elif command -v pacman >/dev/null && [ -n "$3" ]; then as_root pacman -S --noconfirm --needed "$3"
    elif command -v brew >/dev/null && [ -n "$4" ]; then brew install "$4"
    else give_up "no package manager that I know: install $1 by hand, then try again"
    fi
}

python=${PYTHON:-python3}
command -v "$python" >/dev/null || give_up "$python not found: install Python 3.11 or newer, or set PYTHON"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    give_up "$python is $("$python" -V 2>&1): Python 3.11 or newer is needed; set PYTHON to one"

command -v swipl >/dev/null || system_package swi-prolog-nox pl swi-prolog swi-prolog
command -v swipl >/dev/null || give_up "SWI-Prolog was installed but 'swipl' is not on the PATH"

if [ ! -x "$venv/bin/python" ]; then
    "$python" -c 'import ensurepip' 2>/dev/null || system_package python3-venv "" "" ""
    say "setup: making $venv"
    "$python" -m venv "$venv"
fi
say "setup: installing Python packages"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable ".$extra" ||
    give_up "pip could not install the packages of pyproject.toml: see its message above"
