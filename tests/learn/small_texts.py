"""Forty-eight short texts of four kinds, written for these tests."""

from functools import cache

import numpy as np

from wayfare import pairwise

BY_LABEL = {
    "sport": """
        The goalkeeper saved a penalty in the last minute
        Their striker scored twice before half time
        A late goal sent the home team to the cup final
        The coach praised his young midfield after the match
        She won the marathon with a sprint in the final mile
        The champion lost her first set but took the match
        Fans sang all night after the team won the league
        The runner broke the national record in the relay
        Two players were sent off in a rough derby
        The cyclist attacked on the last climb of the stage
        Rain stopped the tennis final in the second set
        The captain will miss the match with a knee injury
    """,
    "money": """
        The central bank raised interest rates again
        Shares fell after the company cut its profit forecast
        Oil prices rose as producers agreed to pump less
        The currency lost a tenth of its value in a week
        Investors sold bonds and bought gold
        The airline reported a loss for the third quarter
        Inflation slowed but wages rose faster than prices
        The merger will create the largest bank of the country
        Exports of wheat and corn grew last month
        The minister promised lower taxes for small firms
        A trade deficit worries the finance ministry
        The carmaker will borrow a billion to build a plant
    """,
    "kitchen": """
        Boil the potatoes in salted water until they are soft
        Whisk the eggs with sugar and a little vanilla
        Fry the onions in butter before you add the garlic
        Bake the bread for forty minutes in a hot oven
        Season the soup with pepper and fresh parsley
        Let the dough rest under a damp cloth
        Slice the tomatoes and sprinkle them with olive oil
        Stir the rice slowly while the stock simmers
        Melt the chocolate over warm water and fold in the cream
        Roast the chicken with lemon and thyme
        Peel the apples and cook them with cinnamon
        Grate the cheese over the pasta and serve it hot
    """,
    "weather": """
        Heavy rain is expected along the coast tonight
        Snow fell in the mountains and closed two roads
        A cold front brings wind and thunder from the west
        The heat wave will last until the weekend
        Fog covered the valley in the early morning
        The storm tore roofs from houses near the shore
        Clouds will clear and leave a sunny afternoon
        Temperatures drop below freezing in the north
        The river may flood after three days of rain
        A dry spring left the fields without water
        Hail damaged the vineyards during the thunderstorm
        Strong gusts delayed ferries across the bay
    """,
}

PAIRS = [
    (line.strip(), label)
    for lines in zip(*(text.strip().splitlines() for text in BY_LABEL.values()), strict=True)
    for line, label in zip(lines, BY_LABEL, strict=True)
]
TEXTS = [text for text, _ in PAIRS]
LABELS = [label for _, label in PAIRS]


@cache
def all_pairs() -> np.ndarray:
    """The WFR distances of all pairs at eta 1/2, close enough to be told apart."""
    return pairwise(TEXTS, eta=0.5, tol=1e-5)
