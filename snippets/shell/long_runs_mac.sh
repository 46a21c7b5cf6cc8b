#!/usr/bin/env bash
# ci: no - macOS only: pmset, launchd and powermetrics belong to macOS

# --8<-- [start:who_keeps_awake]
pmset -g assertions
# --8<-- [end:who_keeps_awake]

# --8<-- [start:load]
plutil -lint local.night.plist
mv local.night.plist ~/Library/LaunchAgents/
launchctl bootstrap "gui/$(id -u)" ~/Library/LaunchAgents/local.night.plist
# --8<-- [end:load]

# --8<-- [start:unload]
launchctl bootout "gui/$(id -u)/local.night"
rm ~/Library/LaunchAgents/local.night.plist
# --8<-- [end:unload]

# --8<-- [start:powermetrics]
sudo powermetrics -h
sudo powermetrics --samplers gpu_power -i 1000 -n 3
# --8<-- [end:powermetrics]
