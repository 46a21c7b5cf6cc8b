"""The kind of a room from its name, in English or Chinese."""

import re

from examples.floorplan_diffusion.plans import KINDS, OUTSIDE

# --8<-- [start:words]
WORDS = {
    "living room": "living, living room, lounge, hall, corridor, hallway, entrance, foyer, dining, "
    "dining room, 客厅, 起居室, 起居厅, 餐厅, 客餐厅, 玄关, 门厅, 过道, 走廊",
    "bedroom": "bed, bedroom, master room, second room, child room, guest room, study, study room, office, "
    "卧室, 主卧, 次卧, 客卧, 客房, 儿童房, 老人房, 书房",
    "storage": "storage, store, store room, closet, wardrobe, cloakroom, "
    "储藏室, 储物间, 储物室, 衣帽间, 壁橱",
    "kitchen": "kitchen, 厨房",
    "bathroom": "bath, bathroom, toilet, wc, restroom, washroom, shower, "
    "卫生间, 洗手间, 浴室, 厕所, 主卫, 次卫",
    "balcony": "balcony, terrace, loggia, 阳台, 露台",
}
# --8<-- [end:words]
KIND_OF_WORD = {word.strip(): KINDS.index(kind) for kind, words in WORDS.items() for word in words.split(",")}
LISTED = ", ".join(KINDS[:OUTSIDE])


def normal(name: str) -> str:
    """Return a name in lower case with single spaces, without digits and signs."""
    return " ".join(re.findall(r"[^\W\d_]+", name.lower()))


def kind_of(name: str, own: dict[str, int]) -> int | None:
    """Return the place in KINDS of a room's name, or None for an unknown or an ambiguous one.

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
    """Return whether a name has a word in it: a whole one in English, any part in Chinese."""
    return f" {word} " in f" {name} " if word.isascii() else word in name


def unknown(name: str) -> str:
    """Return the reason, with a cure, why a room of this name is not read."""
    return f"room name {name[:60]!r} is not known; --name {normal(name)[:60]!r}=KIND gives its kind: {LISTED}"
