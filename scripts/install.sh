# Sourced by scripts that check or install what they need: Node.js, parts of the system, environments of Python.

# `npm ci` may put a newer Node.js into node_modules than the one that has run until then: bash must look for it again.
set +h

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Fails unless Node.js is there with npm, and new enough for the scripts, the packages and wrangler.
require_node() {
  local version
  have node && have npm || { say "Node.js is missing: install Node.js 20 or newer with npm (https://nodejs.org)"; exit 1; }
  version=$(node --version)
  version=${version#v}
  [ "${version%%.*}" -ge 20 ] || { say "Node.js $version is too old: install Node.js 20 or newer (https://nodejs.org)"; exit 1; }
}

apt_install() { # apt_install <package …>
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

system_part() { # system_part <name> <manual alternative> <brew package> <apt> <apk> <dnf>
  say "$1 is missing: installing it with the system's package manager"
  if have brew; then
    brew install "$3"
  elif [ "$(id -u)" != 0 ] && ! have sudo; then
    say "that needs root, and there is no sudo: $2"
    exit 1
  elif have apt-get; then
    apt_install $4
  elif have apk; then
    as_root apk add $5
  elif have dnf; then
    as_root dnf install -y $6
  else
    say "found no supported package manager: $2"
    exit 1
  fi
}

# Creates an environment with every package pinned; a copy of the list records what was installed. The environment links
# to the machine's Python and breaks when that is removed.
python_environment() { # python_environment <name> <list of packages>: into .tools/<name>
  local folder=.tools/$1 pinned=$2 python=${PYTHON:-python3} alternative
  if [ -x "$folder/bin/python" ] && cmp -s "$pinned" "$folder/installed-from"; then return; fi
  new_enough() { "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
  if ! new_enough; then
    alternative="install Python 3.11 or newer with venv, or set PYTHON to one"
    system_part "Python 3.11" "$alternative" python3 "python3 python3-venv" python3 python3
    new_enough || { say "Python 3.11 is still missing: $alternative"; exit 1; }
  fi
  say "installing packages of Python into $folder"
  rm -rf "$folder"
  "$python" -m venv "$folder"
  # Verifies the digests in the file, and compiles nothing.
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$pinned"
  cp "$pinned" "$folder/installed-from"
}
