#!/usr/bin/env bash
# The page of 'tokitai report' in a real browser; tests/report.sh has the test.
exec bash "$(dirname "$(readlink -f "$0")")/report.sh" --browser
