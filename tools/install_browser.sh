#!/bin/sh
# Installs the browser and the Chinese fonts that the site's tests need, on GitHub's Ubuntu machines. Their image
# carries Chromium; Ubuntu's own package of that name is only a pointer to a snap.
set -eu

sudo apt-get update
sudo apt-get install --yes --no-install-recommends fonts-noto-cjk
command -v chromium || sudo apt-get install --yes --no-install-recommends chromium
chromium --version
