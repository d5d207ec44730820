"""Units in the names of columns: told where the name leaves no doubt, and not elsewhere."""

import pytest

from cpclean.data.units import unit_of


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("CRP (mg/l)", "mg/l"),
        ("weight [kg]", "kg"),
        ("crp_mg_l", "mg/l"),
        ("Creatinine.umol.L", "µmol/l"),
        ("ALT U/L", ""),  # a slash is nowhere else in a name; people see it as it is
        ("alt_u_l", "U/l"),
        ("weight_kg", "kg"),
        ("age_years", "years"),
        ("age in years", "years"),
        ("Temp-celsius", "°C"),
        ("bmi_kg_m2", "kg/m²"),
        ("humidity_pct", "%"),
        ("sbp_mmHg", "mmHg"),
        ("body_mass_g", "g"),
        ("bill_length_mm", "mm"),
        ("price_eur", "EUR"),
    ],
)
def test_units_that_are_told(name, unit):
    assert unit_of(name) == unit


@pytest.mark.parametrize(
    "name",
    ["kg", "years", "mg_l", "birth_year", "group_g", "temp_min", "room_l", "a_m", "has_ms",
     "country_gb", "weight", "weightkg", "", "_", "score_s", "first_c"],
)  # fmt: skip
def test_nothing_is_guessed(name):
    assert unit_of(name) == ""
