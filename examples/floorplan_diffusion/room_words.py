"""The kind of a room from its name, in English, Chinese or Japanese."""

import re
import shlex
import unicodedata
from collections import Counter

from examples.floorplan_diffusion.plans import KINDS, OUTSIDE

# --8<-- [start:words]
WORDS = {
    "living room": "living, living room, lounge, hall, corridor, hallway, entrance, entry, lobby, foyer, "
    "dining, dining room, 客厅, 起居室, 起居厅, 餐厅, 客餐厅, 玄关, 门厅, 过道, 走廊, "
    "ldk, ld, dk, リビング, ダイニング, 居間, 食堂, 玄関, 廊下, ホール",
    "bedroom": "bed, bedroom, master room, second room, child room, guest room, study, study room, office, "
    "卧室, 主卧, 次卧, 客卧, 客房, 儿童房, 老人房, 保姆房, 书房, 洋室, 和室, 寝室, 子供部屋, 書斎",
    "storage": "storage, store, store room, closet, wardrobe, cloakroom, wic, walk in, pantry, "
    "储藏室, 储藏间, 储物间, 储物室, 杂物间, 衣帽间, 壁橱, クローゼット, 収納, 物入, 納戸, 押入",
    "kitchen": "kitchen, 厨房, キッチン, 台所",
    "bathroom": "bath, bathroom, toilet, wc, restroom, washroom, shower, "
    "卫生间, 洗手间, 浴室, 淋浴间, 厕所, 主卫, 次卫, 公卫, 客卫, 洗面, 脱衣, トイレ, 便所, 風呂",
    "balcony": "balcony, terrace, loggia, 阳台, 露台, バルコニー, ベランダ, テラス",
    "none": "wall, walls, door, doors, window, windows, furniture, 墙体, 门窗, 家具, 图框, 図面枠, 建具",
}
# --8<-- [end:words]
NO_ROOM = -1  # the place of "none" beside those in KINDS
PLACES = {**{kind: place for place, kind in enumerate(KINDS[:OUTSIDE])}, "none": NO_ROOM}
KIND_OF_WORD = {word.strip(): PLACES[kind] for kind, words in WORDS.items() for word in words.split(",")}
LISTED = ", ".join(PLACES)
SHOWN = 8  # names in a message
MEASURE = r"(x|mm?|cm|ft|in|sq|sqm|sqft|qm|帖|畳|坪|平米|平方米)"


def normal(name: str) -> str:
    """Return a name in lower case with single spaces, without digits and signs.

    Full-width letters become plain ones, "LivingRoom" two words and "W.C." one. A name of digits and signs,
    such as that of layer 0, stays.
    """
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKC", name))
    plain = re.sub(r"(?<=\b\w)\.", "", plain).lower()
    return " ".join(re.findall(r"[^\W\d_]+", plain)) or plain.strip()


def is_size(text: str) -> bool:
    """Return whether a text is a number, a length or an area, such as 9'-10" x 15'-5" or １６帖."""
    plain = unicodedata.normalize("NFKC", text)
    words = re.findall(r"[^\W\d_]+", plain.lower())
    return bool(re.search(r"\d", plain)) and all(re.fullmatch(MEASURE, word) for word in words)


def kind_of(name: str, own: dict[str, int]) -> int | None:
    """Return the place in KINDS of a room's name, NO_ROOM, or None for an unknown or an ambiguous one.

    A name that is a word of the table, or one of the user's `own` words, counts first. Otherwise all words of
    the table in it must be of one kind, as in "guest bathroom" or "主卧室". Digits and signs are ignored.
    """
    plain = normal(name)
    table = KIND_OF_WORD | own
    if plain in table:
        return table[plain]
    found = {kind for word, kind in table.items() if contains(plain, word)}
    return found.pop() if len(found) == 1 else None


def contains(name: str, word: str) -> bool:
    """Return whether a name has a word in it: a whole one in English, any part in Chinese and Japanese."""
    return f" {word} " in f" {name} " if word.isascii() else word in name


def unknown(name: str) -> str:
    """Return the reason, with a cure, why a room of this name is not read."""
    return f"room name {name[:60]!r} is not known; --name {cured(normal(name)[:60])} gives its kind: {LISTED}"


def counted(names: Counter[str]) -> str:
    """Return names with their counts, the most frequent first, in one line."""
    shown = ", ".join(f"{name[:40]!r} {count:,}" for name, count in names.most_common(SHOWN))
    return shown + (f" and {len(names) - SHOWN:,} more names" if len(names) > SHOWN else "")


def cured(name: str) -> str:
    """Return WORD=KIND for a name as it is typed in a shell."""
    return f"{shlex.quote(name)}=KIND"
