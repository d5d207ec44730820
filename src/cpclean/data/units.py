"""The unit in the name of a column, where the name tells it beyond doubt."""

from __future__ import annotations

import re

_IN_BRACKETS = re.compile(r"[(\[]\s*([^()\[\]]{1,12}?)\s*[)\]]\s*$")
_PARTS = re.compile(r"[\s_.\-]+")

# Endings that mean nothing else, and how people write them. Those that may, such as "min" or the
# "year" of a birth, are left out.
_PLAIN = (
    "kg", "mg", "lb", "lbs", "oz", "cm", "mm", "km", "ml", "days", "weeks", "months", "years",
    "hours", "minutes", "seconds", "yrs", "hrs", "mins", "secs", "kcal", "rpm", "ppm", "mph",
)  # fmt: skip
_WRITTEN = {
    **{one: one for one in _PLAIN},
    "ug": "µg", "mcg": "µg", "mmhg": "mmHg", "kpa": "kPa", "hpa": "hPa", "bpm": "/min",
    "percent": "%", "pct": "%", "celsius": "°C", "fahrenheit": "°F", "kelvin": "K",
    "kj": "kJ", "kw": "kW", "kwh": "kWh", "hz": "Hz", "khz": "kHz", "mhz": "MHz", "ghz": "GHz",
    "kmh": "km/h", "sqm": "m²", "sqft": "sq ft",
    "usd": "USD", "eur": "EUR", "gbp": "GBP", "chf": "CHF",
}  # fmt: skip
# Two endings that belong together: one measure per another.
_OVER = {one: one for one in ("g", "mg", "ng", "pg", "mol", "mmol", "nmol", "pmol", "ml")} | {
    "ug": "µg", "mcg": "µg", "umol": "µmol", "iu": "IU", "u": "U", "miu": "mIU", "meq": "mEq",
}  # fmt: skip
_PER = ("l", "dl", "ml", "min", "kg")
_PAIRS = {f"{over}_{per}": f"{_OVER[over]}/{per}" for over in _OVER for per in _PER} | {
    "kg_m2": "kg/m²", "km_h": "km/h", "m_s": "m/s", "l_min": "l/min",
}  # fmt: skip
# One letter is enough after a word that can be measured in nothing else like it.
_LETTERS = {
    "g": ("mass", "weight"),
    "l": ("volume",),
    "m": ("length", "height", "width", "depth", "distance", "altitude", "elevation"),
}


def unit_of(name: str) -> str:
    """The unit that a column of numbers is in, by its name; "" if the name does not say.

    Examples
    --------
    >>> unit_of("CRP (mg/l)"), unit_of("crp_mg_l"), unit_of("weight_kg"), unit_of("body_mass_g")
    ('mg/l', 'mg/l', 'kg', 'g')
    >>> unit_of("height [cm]"), unit_of("share (%)"), unit_of("x[0]"), unit_of("size (2)")
    ('cm', '%', '', '')
    >>> unit_of("age_years"), unit_of("birth_year"), unit_of("kg"), unit_of("group_g")
    ('years', '', '', '')
    """
    found = _IN_BRACKETS.search(name)
    if found and re.search(r"[^\W\d_]|[%°‰]", found[1]):  # x[0] and "size (2)" are counted
        return found[1]
    parts = [one.lower() for one in _PARTS.split(name) if one]
    if len(parts) > 2 and (two := "_".join(parts[-2:])) in _PAIRS:
        return _PAIRS[two]
    if len(parts) < 2:  # one word, or nothing but the unit
        return ""
    word, last = parts[-2:]
    return last if word in _LETTERS.get(last, ()) else _WRITTEN.get(last, "")
