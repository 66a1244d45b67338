"""What units do: the classes of NACE revision 2, and how often each occurs among people, companies and societies."""

from __future__ import annotations

from catchment_register.generate.mix import spread

# Sections: the letter, its name, its divisions.
SECTIONS = (
    ("A", "Agriculture, forestry and fishing", "01 02 03"),
    ("B", "Mining and quarrying", "05 06 07 08 09"),
    ("C", "Manufacturing", "10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33"),
    ("D", "Electricity, gas and steam", "35"),
    ("E", "Water and waste", "36 37 38 39"),
    ("F", "Construction", "41 42 43"),
    ("G", "Wholesale and retail trade", "45 46 47"),
    ("H", "Transport and storage", "49 50 51 52 53"),
    ("I", "Accommodation and food", "55 56"),
    ("J", "Information and communication", "58 59 60 61 62 63"),
    ("K", "Finance and insurance", "64 65 66"),
    ("L", "Real estate", "68"),
    ("M", "Professional, scientific and technical activities", "69 70 71 72 73 74 75"),
    ("N", "Administrative and support services", "77 78 79 80 81 82"),
    ("O", "Public administration", "84"),
    ("P", "Education", "85"),
    ("Q", "Health and social work", "86 87 88"),
    ("R", "Arts, entertainment and recreation", "90 91 92 93"),
    ("S", "Other services", "94 95 96"),
    ("T", "Households as employers", "97 98"),
    ("U", "Extraterritorial organisations", "99"),
)

# Classes of each division, by their last two digits.
CLASSES = {
    "01": "11 12 13 14 15 16 19 21 22 23 24 25 26 27 28 29 30 41 42 43 44 45 46 47 49 50 61 62 63 64 70",
    "02": "10 20 30 40",
    "03": "11 12 21 22",
    "05": "10 20",
    "06": "10 20",
    "07": "10 21 29",
    "08": "11 12 91 92 93 99",
    "09": "10 90",
    "10": "11 12 13 20 31 32 39 41 42 51 52 61 62 71 72 73 81 82 83 84 85 86 89 91 92",
    "11": "01 02 03 04 05 06 07",
    "12": "00",
    "13": "10 20 30 91 92 93 94 95 96 99",
    "14": "11 12 13 14 19 20 31 39",
    "15": "11 12 20",
    "16": "10 21 22 23 24 29",
    "17": "11 12 21 22 23 24 29",
    "18": "11 12 13 14 20",
    "19": "10 20",
    "20": "11 12 13 14 15 16 17 20 30 41 42 51 52 53 59 60",
    "21": "10 20",
    "22": "11 19 21 22 23 29",
    "23": "11 12 13 14 19 20 31 32 41 42 43 44 49 51 52 61 62 63 64 65 69 70 91 99",
    "24": "10 20 31 32 33 34 41 42 43 44 45 46 51 52 53 54",
    "25": "11 12 21 29 30 40 50 61 62 71 72 73 91 92 93 94 99",
    "26": "11 12 20 30 40 51 52 60 70 80",
    "27": "11 12 20 31 32 33 40 51 52 90",
    "28": "11 12 13 14 15 21 22 23 24 25 29 30 41 49 91 92 93 94 95 96 99",
    "29": "10 20 31 32",
    "30": "11 12 20 30 40 91 92 99",
    "31": "01 02 03 09",
    "32": "11 12 13 20 30 40 50 91 99",
    "33": "11 12 13 14 15 16 17 19 20",
    "35": "11 12 13 14 21 22 23 30",
    "36": "00",
    "37": "00",
    "38": "11 12 21 22 31 32",
    "39": "00",
    "41": "10 20",
    "42": "11 12 13 21 22 91 99",
    "43": "11 12 13 21 22 29 31 32 33 34 39 91 99",
    "45": "11 19 20 31 32 40",
    "46": "11 12 13 14 15 16 17 18 19 21 22 23 24 31 32 33 34 35 36 37 38 39 41 42 43 44 45 46 47 48 49 51 52 61"
    " 62 63 64 65 66 69 71 72 73 74 75 76 77 90",
    "47": "11 19 21 22 23 24 25 26 29 30 41 42 43 51 52 53 54 59 61 62 63 64 65 71 72 73 74 75 76 77 78 79"
    " 81 82 89 91 99",
    "49": "10 20 31 32 39 41 42 50",
    "50": "10 20 30 40",
    "51": "10 21 22",
    "52": "10 21 22 23 24 29",
    "53": "10 20",
    "55": "10 20 30 90",
    "56": "10 21 29 30",
    "58": "11 12 13 14 19 21 29",
    "59": "11 12 13 14 20",
    "60": "10 20",
    "61": "10 20 30 90",
    "62": "01 02 03 09",
    "63": "11 12 91 99",
    "64": "11 19 20 30 91 92 99",
    "65": "11 12 20 30",
    "66": "11 12 19 21 22 29 30",
    "68": "10 20 31 32",
    "69": "10 20",
    "70": "10 21 22",
    "71": "11 12 20",
    "72": "11 19 20",
    "73": "11 12 20",
    "74": "10 20 30 90",
    "75": "00",
    "77": "11 12 21 22 29 31 32 33 34 35 39 40",
    "78": "10 20 30",
    "79": "11 12 90",
    "80": "10 20 30",
    "81": "10 21 22 29 30",
    "82": "11 19 20 30 91 92 99",
    "84": "11 12 13 21 22 23 24 25 30",
    "85": "10 20 31 32 41 42 51 52 53 59 60",
    "86": "10 21 22 23 90",
    "87": "10 20 30 90",
    "88": "10 91 99",
    "90": "01 02 03 04",
    "91": "01 02 03 04",
    "92": "00",
    "93": "11 12 13 19 21 29",
    "94": "11 12 20 91 92 99",
    "95": "11 12 21 22 23 24 25 29",
    "96": "01 02 03 04 09",
    "97": "00",
    "98": "10 20",
    "99": "00",
}

# Per cent of all units of a kind that the commonest classes have. The others share the rest, the fiftieth of them has a
# sixth of the first one's share.
COMMON = {
    "person": "01.41 4 43.32 5 90.01 5 90.03 3 96.02 5 49.41 4 49.32 3 86.90 4"
    " 70.22 4 74.10 3 85.59 3 01.50 3 43.39 3 03.11 2 47.91 3",
    "company": "68.20 16 41.20 6 70.22 5 64.20 5 62.01 3 62.02 3 56.10 3 43.21 2"
    " 43.22 2 71.12 3 47.11 2 49.41 2 69.20 1 66.19 1 45.20 2",
    "society": "94.99 45 93.12 20 90.01 4 91.03 2 88.99 2 85.10 3 94.91 4 68.20 5",
    "public": "84.11 25 85.20 20 87.10 10 86.90 10 88.10 8 91.01 5 94.91 5 84.25 3",
}

SECTION_OF = {division: letter for letter, _, divisions in SECTIONS for division in divisions.split()}
ALL = tuple(f"{division}.{rest}" for division, tails in CLASSES.items() for rest in tails.split())


def _weights(common: str) -> dict[str, float]:
    words = common.split()
    shares = {code: float(share) for code, share in zip(words[::2], words[1::2], strict=True)}
    # The order of the others is mixed by a step that shares no divisor with their number.
    others = [c for c in (ALL[n * 211 % len(ALL)] for n in range(len(ALL))) if c not in shares]
    left = 100.0 - sum(shares.values())
    total = sum(1 / (n + 10) for n in range(len(others)))
    return shares | {code: left / (n + 10) / total for n, code in enumerate(others)}


BY_KIND = {kind: spread(_weights(common), 16384) for kind, common in COMMON.items()}


def section(code: str) -> str:
    return SECTION_OF[code[:2]]


def path_of(code: str) -> str:
    """45.11 is G.45.1.1; a last digit of 0 stands for a group with one class, and is a label all the same."""
    return f"{section(code)}.{code[:2]}.{code[3]}.{code[4]}"


def code_rows() -> list[tuple[str, str]]:
    """The whole list: path and name. Classes have the name of their section and their code."""
    rows: dict[str, str] = {}
    for letter, name, divisions in SECTIONS:
        rows[letter] = name
        rows |= {f"{letter}.{division}": f"{name}, division {division}" for division in divisions.split()}
    for code in ALL:
        named = rows[section(code)]
        rows[f"{section(code)}.{code[:2]}.{code[3]}"] = f"{named}, group {code[:4]}"
        rows[path_of(code)] = f"{named}, class {code}"
    return sorted(rows.items())
