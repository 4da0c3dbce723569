#!/bin/sh
# Posts the problems that are new since the last run to a Slack webhook: post-new-problems.sh REPORTS STATE.
# The webhook's address is in WEBHOOK. STATE is a file that the first run makes. What could not be posted is
# new the next time, too; nothing is posted twice, unless the machine stops between the post and the rename.
set -eu
message=$(mktemp)
trap 'rm -f "$message" "$2.next"' EXIT
code=0
loopbox cluster "$1" --known "$2" --remember "$2.next" --slack -o "$message" || code=$?
# 2: some files are damaged, stderr names them; all others were read.
[ "$code" -eq 0 ] || [ "$code" -eq 2 ] || exit "$code"
if [ -s "$message" ]; then
    curl --fail --silent --show-error --header 'Content-Type: application/json' --data-binary "@$message" "$WEBHOOK"
fi
mv "$2.next" "$2"
