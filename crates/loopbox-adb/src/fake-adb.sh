#!/bin/sh
# What adb does that loopbox-adb uses, with one device: the folder DEVICE of this machine. Commands of its shell run in a
# shell of this machine, where the device's programs are scripts in bin. Paths are those of this machine.
DEVICE=$(dirname "$(dirname "$0")")
export DEVICE
fail() {
    echo "$1" >&2
    exit 1
}
if [ "$1" = devices ]; then
    echo "List of devices attached"
    cat "$DEVICE/devices"
    echo
    exit
fi
[ "$1" = -s ] || fail "adb: no devices/emulators found"
grep -q "^$2 .*device" "$DEVICE/devices" || fail "adb: device '$2' not found"
what=$3
shift 3
case $what in
shell)
    while [ "$1" = -T ] || [ "$1" = -n ]; do shift; done
    PATH=$DEVICE/bin:$PATH
    sh -c "$(cat "$DEVICE/profile" 2>/dev/null)
$*" </dev/null
    exit $?
    ;;
push)
    { mkdir -p "$(dirname "$2")" && cp "$1" "$2"; } 2>/dev/null || fail "adb: error: failed to copy '$1' to '$2'"
    ;;
*) fail "adb: unknown command $what" ;;
esac
