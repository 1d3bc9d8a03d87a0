"""How answers are judged: values, noise, choices, lots of people; and which known mistake explains wrong ones."""
