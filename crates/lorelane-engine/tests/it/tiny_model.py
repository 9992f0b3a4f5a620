"""What the tiny model of `tiny_model.rs` says, by numpy: prints the directions that `model.rs` expects."""
import math

import numpy

WIDTH, INNER, HEADS, LAYERS = 8, 16, 2, 2
SHAPES = [("word", 14, WIDTH), ("position", 16, WIDTH), ("token_type", 2, WIDTH)]
SHAPES = [(f"embeddings.{name}_embeddings.weight", rows, columns) for name, rows, columns in SHAPES]


def norm_shapes(name):
    return [(f"{name}.weight", 1, WIDTH), (f"{name}.bias", 1, WIDTH)]


def linear_shapes(name, outputs, inputs):
    return [(f"{name}.weight", outputs, inputs), (f"{name}.bias", 1, outputs)]


SHAPES += norm_shapes("embeddings.LayerNorm")
for at in range(LAYERS):
    layer = f"encoder.layer.{at}."
    for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
        SHAPES += linear_shapes(layer + part, WIDTH, WIDTH)
    SHAPES += norm_shapes(layer + "attention.output.LayerNorm")
    SHAPES += linear_shapes(layer + "intermediate.dense", INNER, WIDTH)
    SHAPES += linear_shapes(layer + "output.dense", WIDTH, INNER)
    SHAPES += norm_shapes(layer + "output.LayerNorm")


def number(tensor, place):
    return ((tensor * 7919 + place * 104729) * 2654435) % 4096 / 1024 - 2


TENSORS = {
    name: numpy.array([number(at, place) for place in range(rows * columns)]).reshape(rows, columns)
    * (0.0625 if name.endswith(".bias") else 1)
    for at, (name, rows, columns) in enumerate(SHAPES)
}


def norm(states, name):
    mean, spread = states.mean(-1, keepdims=True), states.var(-1, keepdims=True)
    return (states - mean) / numpy.sqrt(spread + 1e-12) * TENSORS[name + ".weight"] + TENSORS[name + ".bias"]


def linear(states, name):
    return states @ TENSORS[name + ".weight"].T + TENSORS[name + ".bias"]


def heads(states):
    return states.reshape(len(states), HEADS, WIDTH // HEADS).transpose(1, 0, 2)


def direction(tokens):
    table = lambda name: TENSORS[f"embeddings.{name}_embeddings.weight"]
    states = table("word")[tokens] + table("position")[: len(tokens)] + table("token_type")[0]
    states = norm(states, "embeddings.LayerNorm")
    for at in range(LAYERS):
        layer = f"encoder.layer.{at}."
        query, key, value = [heads(linear(states, f"{layer}attention.self.{part}")) for part in ("query", "key", "value")]
        weights = numpy.exp(query @ key.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS))
        weights /= weights.sum(-1, keepdims=True)
        mixed = (weights @ value).transpose(1, 0, 2).reshape(len(tokens), WIDTH)
        states = norm(states + linear(mixed, layer + "attention.output.dense"), layer + "attention.output.LayerNorm")
        inner = linear(states, layer + "intermediate.dense")
        inner = inner * 0.5 * (1 + numpy.vectorize(math.erf)(inner / math.sqrt(2)))
        states = norm(states + linear(inner, layer + "output.dense"), layer + "output.LayerNorm")
    mean = states.mean(0)
    return mean / numpy.linalg.norm(mean)


for text, tokens in [
    ("Use JWT for services", [2, 4, 5, 6, 7, 9, 3]),
    ("restart the cache", [2, 10, 11, 12, 3]),
    ("redis", [2, 13, 3]),
]:
    print(f'("{text}", [{", ".join(f"{value:.5f}" for value in direction(tokens))}]),')
