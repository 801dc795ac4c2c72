"""`lmrl import`: the raw files that were published with the paper, as datasets of episodes.

`records` reads a file piece by piece, a module per layout (`wordle`, `maze`, `text_nav`, `chess`, `questions`,
`car_dealer`) makes an episode of a record and compares it with the rules, `folder` writes, and `run` joins them.
"""
