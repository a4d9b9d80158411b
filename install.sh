#!/bin/sh
# Installs aizo on Linux or macOS: downloads the archive of a release, compares it with the release's SHA-256 sums, and puts
# the program into a folder. Nothing else is changed.

set -eu

version=2.0.0
releases=${AIZO_DOWNLOAD_BASE:-https://github.com/mmmarcinho/aizo/releases/download}

usage() {
    cat <<EOF
Installs aizo $version.

    install.sh [--to DIR] [--version VERSION]

    --to DIR             the folder for the program (~/.local/bin)
    --version VERSION    another version
    --help               this text

AIZO_DOWNLOAD_BASE names a mirror of $releases;
https_proxy and the like are curl's or wget's. On Windows: npm install -g aizo
EOF
}

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "install.sh: $*"
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# The target triple of this machine.
triple() {
    system=$(uname -s) machine=$(uname -m)
    # A shell under Rosetta says x86_64 on an Apple chip.
    if [ "$system" = Darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then
        machine=arm64
    fi
    case $machine in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
        *) fail "there is no program for $system $machine; build it with: cargo install aizo" ;;
    esac
    case $system in
        Linux) echo "$machine-unknown-linux-musl" ;;
        Darwin) echo "$machine-apple-darwin" ;;
        *) fail "there is no program for $system here; on Windows: npm install -g aizo; elsewhere: cargo install aizo" ;;
    esac
}

# Writes what is at an address into a file. What is asked for over https comes over https, wherever it is redirected to.
download() {
    case $1 in
        https://*) kinds='=https' ;;
        http://127.0.0.1[:/]* | http://localhost[:/]*) kinds='=http,https' ;;
        *) fail "$1 is not asked for: only https is, and http on this machine" ;;
    esac
    if has curl; then
        curl --proto "$kinds" --proto-redir "$kinds" --fail --silent --show-error --location --max-redirs 5 --retry 2 \
            --connect-timeout 15 --max-time 300 --output "$2" "$1"
    elif has wget; then
        wget -S -T 60 -O "$2" "$1" 2>"$2.log" || {
            cat "$2.log" >&2
            false
        }
    else
        fail "neither curl nor wget is here"
    fi || fail "$1 could not be downloaded; AIZO_DOWNLOAD_BASE names a mirror, or build it with: cargo install aizo"
    # Not every wget can be told where not to go, but each says where it was sent.
    if [ "$kinds" = '=https' ] && [ -f "$2.log" ]; then
        awk 'tolower($0) ~ /^ *location: *http:/ { sent = 1 } END { exit sent }' "$2.log" ||
            fail "$1 is not used: it was redirected to http"
    fi
}

sum_of() {
    if has sha256sum; then
        set -- sha256sum "$1"
    elif has shasum; then
        set -- shasum -a 256 "$1"
    elif has openssl; then
        set -- openssl dgst -sha256 -r "$1"
    else
        fail "neither sha256sum nor shasum nor openssl is here: the download cannot be verified"
    fi
    "$@" | cut -d ' ' -f 1
}

main() {
    to=${HOME:+$HOME/.local/bin}
    while [ $# -gt 0 ]; do
        case $1 in
            --to | --version)
                [ -n "${2:-}" ] || fail "$1 wants a value"
                if [ "$1" = --to ]; then to=$2; else version=${2#v}; fi
                shift 2
                ;;
            --help | -h)
                usage
                return
                ;;
            *)
                usage >&2
                fail "$1 is not known"
                ;;
        esac
    done

    [ -n "$to" ] || fail "there is no HOME: name a folder with --to"
    name=aizo-$(triple)
    address=${releases%/}/v$version
    room=$(mktemp -d)
    fresh=
    trap 'rm -rf "$room" ${fresh:+"$fresh"}' EXIT
    trap 'exit 1' HUP INT TERM

    download "$address/SHA256SUMS" "$room/SHA256SUMS"
    download "$address/$name.tar.gz" "$room/$name.tar.gz"
    expected=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$room/SHA256SUMS")
    [ "${#expected}" -eq 64 ] || fail "SHA256SUMS has no sum for $name.tar.gz"
    actual=$(sum_of "$room/$name.tar.gz")
    [ "$actual" = "$expected" ] || fail "$name.tar.gz is not used: its SHA-256 is $actual and not $expected"

    # Only this member is taken, and only as a regular file.
    tar -xzf "$room/$name.tar.gz" -C "$room" "$name/aizo" || fail "$name.tar.gz has no program"
    if [ -L "$room/$name/aizo" ] || [ ! -f "$room/$name/aizo" ]; then
        fail "$name.tar.gz has no program"
    fi

    mkdir -p -- "$to"
    to=$(cd -- "$to" && pwd)
    [ ! -d "$to/aizo" ] || fail "$to/aizo is a folder"
    fresh=$(mktemp -d "$to/.aizo.XXXXXX")
    cp "$room/$name/aizo" "$fresh/aizo"
    chmod 755 "$fresh/aizo"
    says=$("$fresh/aizo" --version) || fail "the program does not run here; build it with: cargo install aizo"
    [ "$says" = "aizo $version" ] || fail "the program says \"$says\" and not \"aizo $version\""
    mv -f "$fresh/aizo" "$to/aizo"
    say "$says is in $to"
    case :${PATH:-}: in
        *:"$to":*) ;;
        *) say "put it on PATH: export PATH=\"$to:\$PATH\"" ;;
    esac
}

# At the end, so that a download of this file that was cut off does nothing.
main "$@"
