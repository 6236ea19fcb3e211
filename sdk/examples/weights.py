# weights.py - for python_weights.c: fair averaging.  Clients with a larger loss count for more, as
# in q-FFL (Li et al., ICLR 2020); Q = 0 is federated averaging.
#
# facts["round"], ["rounds"], ["clients"] and ["seed"] are numbers; the seed is another one in each
# round and for each seed of the run: random.Random(facts["seed"]).  Of each update in hand, lists:
# "client", "local_rounds", "steps", "samples", "alpha" and "train_loss".  What is kept between calls
# is lost when a run is resumed: the answer must follow from the facts.

Q = 0.5


def weights(facts):
    raw = [a * max(loss, 0.0) ** Q for a, loss in zip(facts["alpha"], facts["train_loss"])]
    total = sum(raw)
    return [x / total if total > 0.0 else 0.0 for x in raw]
