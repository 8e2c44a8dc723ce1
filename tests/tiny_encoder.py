"""A model2vec model of a few words in a folder: small, and no network is asked."""

import numpy as np


def write_model(folder, subjects, seed=0):
    """Write a model in which the words of a subject have similar vectors; returns its name."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = ["[UNK]", *(word for subject in subjects for word in subject)]
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    rng = np.random.default_rng(seed)
    vectors = [np.zeros((1, 8))]
    for subject in subjects:
        vectors.append(rng.standard_normal(8) + 0.3 * rng.standard_normal((len(subject), 8)))
    StaticModel(np.vstack(vectors).astype(np.float32), tokenizer).save_pretrained(folder)
    return f"model2vec:{folder}"
