"""Write questions on passages: long prompts, short answers."""

import json
import random

random.seed(13)
towns, things = ["Berne", "Oslo", "Porto", "Ghent", "Turin", "Lyon", "Graz", "Cork"], ["bridge", "market", "tower", "garden", "harbour", "library"]
entries = []
for _ in range(90):
    facts = [(random.choice(things), town, random.choice(["spring", "summer", "autumn"])) for town in random.sample(towns, random.randint(4, 8))]
    passage = " ".join(f"The {thing} of {town} is old, and many people visit it in {season}." for thing, town, season in facts)
    thing, town, season = random.choice(facts)
    entries.append({"instruction": f"When do people visit the {thing} of {town}?", "input": passage, "output": f"In {season}."})
with open("reading.json", "w", encoding="utf-8") as sink:
    json.dump(entries, sink, indent=1)
