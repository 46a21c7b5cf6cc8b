"""A tiny project: three pages in two languages, with the real mkdocs.yml, hooks, theme and checks."""

import shutil
from pathlib import Path

import pytest

from tools.checks import parity

ROOT = Path(__file__).resolve().parents[2]
NAV = """
nav:
  - Home: index.md
  - Guides:
      - Choosing the device: guides/device.md
  - Project:
      - How it is tested: project/how-it-is-tested.md
"""
DEVICE = """
```python
--8<-- "snippets/device.py:pick"
```
"""
PAGES = {
    "en/index.md": """---
description: The home page.
---
# Handbook { #handbook }

It has 3 pages. Begin with [the device](guides/device.md), or with [its code](guides/device.md#code).

<!-- table: glossary -->
""",
    "zh/index.md": """---
description: 首页。
---
# 手册 { #handbook }

手册有 3 页。请从[选择设备](guides/device.md)或者[设备的代码](guides/device.md#code)读起。

<!-- table: glossary -->
""",
    "en/guides/device.md": f"""---
description: The device.
---
# Choose the device {{ #device }}

Do as below. [How we know that it works](../project/how-it-is-tested.md).

## Code {{ #code }}
{DEVICE}""",
    "zh/guides/device.md": f"""---
description: 设备。
---
# 选择设备 {{ #device }}

请照下面的代码做。[我们怎样知道它能用](../project/how-it-is-tested.md)。

## 代码 {{ #code }}
{DEVICE}""",
    "en/project/how-it-is-tested.md": "---\ndescription: Tests.\n---\n# Tests { #tests }\n\nBy faults.\n"
    "\n## Your Mac { #your-mac }\n\nTell us.\n",
    "zh/project/how-it-is-tested.md": "---\ndescription: 测试。\n---\n# 测试 { #tests }\n\n靠缺陷。\n"
    "\n## 你的 Mac { #your-mac }\n\n请告诉我们。\n",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return the root of a tiny project whose site has no fault."""
    root = tmp_path / "tiny"
    (root / "examples").mkdir(parents=True)
    shutil.copytree(ROOT / "docs/assets", root / "docs/assets")
    (root / "docs/data").mkdir()
    for name in ("tools", "docs/hooks", "docs/overrides"):  # hooks read the data beside their real place
        (root / name).symlink_to(ROOT / name)
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    files = {f"docs/{page}": text for page, text in PAGES.items()} | {
        "mkdocs.yml": settings.partition("\nnav:\n")[0] + NAV,
        "snippets/device.py": '# --8<-- [start:pick]\nDEVICE = "mps"\n# --8<-- [end:pick]\n',
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    parity.main(["synced", *(page[3:] for page in PAGES if page.startswith("en/"))], root)
    return root
