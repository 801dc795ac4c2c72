"""From episodes to trained policies: token windows, trainers on top of TRL, and the policies that they give.

Needs the extra: ``pip install "lmrl-gym[train]"``.
"""
