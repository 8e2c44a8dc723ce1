"""Turn texts into a sparse matrix of counts, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_matrix, vstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from coterie.corpus.counting import Corpus, build_corpus, form_table, stop_words_of, without_short
from coterie.corpus.encoder import Clean, Encoder, Tokenizer
from coterie.corpus.phrases import words_and_pairs
from coterie.corpus.sequences import UNKNOWN, Sequences, offsets_of
from coterie.corpus.spelling import Typos, numbered, spelled, typos_in
from coterie.corpus.stored import Counting, TextParts, store_corpus, write_parts
from coterie.corpus.vocabulary import Limits, Vocabulary
from coterie.engines import Cluster
from coterie.engines.threads import ordered_map, usable_threads
from coterie.errors import InputError, check_flag, shown
from coterie.frames import is_a, unique
from coterie.text.analyzer import Analyzer
from coterie.text.boilerplate import Boilerplate
from coterie.text.inputs import InBatches, known_length, strings, text_batches
from coterie.text.markup import without_markup
from coterie.text.tokens import Kind
from coterie.text.unspaced import Segmenter


class Vectorizer(TransformerMixin, BaseEstimator):
    """Count the terms of short texts.

    1. Leave out markup: tags, comments, scripts and styles.
    2. Split each text into tokens as people write them: ``C++``, ``node.js``, ``#hashtags``, emoji.
    3. Turn tokens into terms: lower-case, without stop words, stemmed.
    4. Remove terms that occur in too few or too many texts.
    5. Count the rest. Every text keeps its row, even if it is empty.

    Parameters
    ----------
    language : str or list of str, default="english"
        Language of the texts, by name or code. If there are several, the stop words of all are removed and
        words are stemmed in the first.
    stem : bool, default=True
        Reduce words to their stem. Feature names are still the words as people write them.
    stop_words : "auto", None or list of str, default="auto"
        "auto" removes the stop words of the language, None removes none, and a list removes just those words.
    extra_stop_words : list of str, default=()
        Further words to remove.
    drop : list of str, default=("url", "email")
        Kinds of tokens to ignore: word, number, hashtag, mention, url, email, emoji, unspaced.
    tokenizer : "words", "whitespace" or callable, default="words"
        "whitespace" is for texts whose words are already separated by spaces. A callable takes a text and
        returns its tokens. Texts given as lists of tokens are not changed: each token is a term.
    segmenter : "auto", "jieba", "bigrams" or "words", default="auto"
        How to segment Chinese: with jieba (installed by ``coterie[zh]``), into overlapping pairs of
        characters, or not at all. "auto" uses jieba if it is installed and Chinese is among the languages.
        Other scripts without spaces are always split into pairs.
    min_df, max_df : int or float, default=1 and 1.0
        Smallest and largest number of texts in which a term must occur, or their share of all texts.
    max_terms : int or None, default=None
        Keep only the terms that occur in the most texts.
    min_words : int, default=0
        Texts with fewer known words are treated as empty.
    ngrams : int, default=1
        Longest sequence of terms that counts as a term itself.
    fix_typos : bool, default=False
        A word outside the vocabulary counts as the known word that it is a slip away from: *arive* is
        *arrive*. Only where there is no other choice, and never in texts given as lists of tokens.
    skip_non_answers : bool, default=False
        Texts such as "n/a", "none" or "don't know", in the language of the texts, count as empty.
    threads : int or None, default=None
        Number of threads; None uses all cores. Results do not depend on it.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        Terms with their display forms, document frequencies and counts.
    speller_ : Speller or None
        Finds the known word that a misspelt one stands for, with `fix_typos`.
    boilerplate_ : Boilerplate
        What is left out of texts before their terms are counted; nothing unless `fit_corpus` got some.

    Examples
    --------
    >>> vectorizer = Vectorizer()
    >>> X = vectorizer.fit_transform(["Refund my broken kettle", "The kettle is broken", ""])
    >>> X.toarray()
    array([[1., 1., 1.],
           [1., 1., 0.],
           [0., 0., 0.]])
    >>> vectorizer.get_feature_names_out().tolist()
    ['broken', 'kettle', 'refund']
    """

    vocabulary_: Vocabulary
    boilerplate_: Boilerplate = Boilerplate()

    def __init__(
        self,
        language: str | Iterable[str] = "english",
        *,
        stem: bool = True,
        stop_words: Literal["auto"] | Iterable[str] | None = "auto",
        extra_stop_words: Iterable[str] = (),
        drop: Iterable[Kind] = ("url", "email"),
        tokenizer: Tokenizer = "words",
        segmenter: Segmenter = "auto",
        min_df: float = 1,
        max_df: float = 1.0,
        max_terms: int | None = None,
        min_words: int = 0,
        ngrams: int = 1,
        fix_typos: bool = False,
        skip_non_answers: bool = False,
        threads: int | None = None,
    ):
        self.language = language
        self.stem = stem
        self.stop_words = stop_words
        self.extra_stop_words = extra_stop_words
        self.drop = drop
        self.tokenizer = tokenizer
        self.segmenter = segmenter
        self.min_df = min_df
        self.max_df = max_df
        self.max_terms = max_terms
        self.min_words = min_words
        self.ngrams = ngrams
        self.fix_typos = fix_typos
        self.skip_non_answers = skip_non_answers
        self.threads = threads

    def fit(self, texts: Any, y: Any = None) -> Vectorizer:
        """Learn the vocabulary of the texts."""
        self.fit_corpus(texts)
        return self

    def fit_transform(self, texts: Any, y: Any = None, **_: Any) -> csr_matrix:
        """Learn the vocabulary and return the counts, one row per text, in input order."""
        return self._as_set(self.fit_corpus(texts).unfolded(), texts)

    def fit_corpus(
        self, texts: Any, folder: str | Path | Cluster | None = None, boilerplate: Boilerplate | None = None
    ) -> Corpus:
        """Learn the vocabulary and return the corpus, in which identical texts are merged.

        Parameters
        ----------
        texts
            Texts in memory, or a `coterie.text.TextSource`, which reads a file.
        folder
            A folder for everything that has the size of the collection, so that memory grows with the
            vocabulary and not with the texts; or a `coterie.engines.Cluster`, whose workers count them.
        boilerplate
            What to leave out of these texts and of those that are counted later.
        """
        self.boilerplate_ = Boilerplate() if boilerplate is None else boilerplate
        fix_typos = check_flag("fix_typos", self.fix_typos)
        if folder is None:
            batches, n_texts = self._batches(texts)
            corpus = build_corpus(
                batches,
                self.analyzer(),
                self._limits(),
                tokenizer=self._checked_tokenizer(),
                clean=self._clean(),
                n_texts=n_texts,
                fix_typos=fix_typos,
                threads=self.threads,
            )
        else:
            cluster = folder if isinstance(folder, Cluster) else _local(folder, self.threads)
            parts = texts if isinstance(texts, TextParts) else write_parts(self._batches(texts)[0], cluster)
            counting = Counting(
                self.analyzer(), self._limits(), self._checked_tokenizer(), self._clean(), fix_typos
            )
            corpus = store_corpus(parts, counting, cluster)
        self.vocabulary_ = corpus.vocabulary
        self.phrases_ = corpus.phrases
        self.speller_ = corpus.speller
        self.n_features_out_ = len(corpus.vocabulary)
        return corpus

    def transform(self, texts: Any) -> csr_matrix:
        """Count the known terms of texts, one row per text, in input order."""
        return self._as_set(self.counts_and_typos(texts)[0], texts)

    def _as_set(self, counts: csr_matrix, texts: Any) -> Any:
        """Counts as `set_output` asks for them; scikit-learn itself makes no tables of sparse matrices."""
        kind = _get_output_config("transform", self)["dense"]
        if kind == "default":
            return counts
        names = unique([str(name) for name in self.get_feature_names_out()])
        if kind == "polars":
            return pl.DataFrame(counts.toarray(), schema=names)
        import pandas as pd

        index = getattr(texts, "index", None) if is_a(texts, "pandas", "Series", "DataFrame") else None
        return pd.DataFrame.sparse.from_spmatrix(counts, index=index, columns=names)

    def counts_and_typos(self, texts: Any) -> tuple[csr_matrix, Typos]:
        """Counts as `transform` has them, and the misspelt words among them."""
        check_is_fitted(self, "vocabulary_")
        known = list(ordered_map(self._known, self._batches(texts)[0], usable_threads(self.threads)))
        counts = vstack([self.phrases_.count_matrix(words) for words, _ in known], format="csr")
        starts = offsets_of(np.array([len(words) for words, _ in known]))
        return counts, Typos.joined([typos for _, typos in known], starts.tolist())

    def sequences(self, texts: Any) -> Sequences:
        """Column numbers of the words of each text, in text order; −1 for a word outside the vocabulary."""
        check_is_fitted(self, "vocabulary_")
        return Sequences.concatenate([self._known(batch)[0] for batch in self._batches(texts)[0]])

    def forms(self, texts: Any) -> list[list[str]]:
        """The words of each text as written, in text order; needs no fit.

        >>> Vectorizer().forms(["My card's gone!"])
        [['My', "card's", 'gone']]
        """
        found: list[list[str]] = []
        for batch in self._batches(texts)[0]:
            encoder = Encoder(self.analyzer(), self._checked_tokenizer())
            encoded, names = encoder.encode(batch).sequences, encoder.forms().to_list()
            words = [names[number] for number in encoded.ids]
            found += [words[a:b] for a, b in pairwise(encoded.offsets.tolist())]
        return found

    def stop_word_counts(self, texts: Any) -> csr_matrix:
        """Count the stop words of texts, and pairs of them that follow each other, whatever is between them.

        They are left out of the terms, so they can judge topics that were found without them: how people ask
        often tells what they want. Pairs in a single text are not counted. Needs no fit; lists of tokens
        have no stop words.

        >>> Vectorizer().stop_word_counts(["How do I pay?", "How do I stop it?", "Pay here"]).sum(axis=1).A1
        array([5., 6., 1.])
        """
        analyzer, parts = self.analyzer(), []
        for batch in self._batches(texts)[0]:
            encoder = Encoder(analyzer, self._checked_tokenizer(), self._clean())
            encoded = encoder.encode(batch).sequences
            column = stop_words_of(
                form_table(encoder.forms(), None if encoder.verbatim else analyzer), analyzer
            )
            parts.append(Sequences(column[encoded.ids], encoded.offsets).stop_words())
        return words_and_pairs(Sequences.concatenate(parts), len(analyzer.all_stop_words()))

    def counted_texts(self, texts: pl.Series) -> pl.Series:
        """Texts as they are counted: without markup and boilerplate, each as long as it was."""
        clean = self._clean()
        return texts if clean is None or texts.dtype != pl.String else clean(texts)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The terms as people write them, in column order."""
        check_is_fitted(self, "vocabulary_")
        return np.array(self.vocabulary_.display, dtype=object)

    def _known(self, texts: pl.Series) -> tuple[Sequences, Typos]:
        """Encode texts separately, then look up their terms in the vocabulary; also the misspelt ones."""
        analyzer = self.analyzer()
        encoder = Encoder(analyzer, self._checked_tokenizer(), self._clean())
        encoded = encoder.encode(texts).sequences
        table = form_table(encoder.forms(), None if encoder.verbatim else analyzer)
        columns, spellings = self.columns_of(table, verbatim=encoder.verbatim)
        words = Sequences(columns[encoded.ids], encoded.offsets)
        names, numbers = numbered(spellings)
        return without_short(words, self.min_words), Typos(*typos_in(encoded, columns, numbers), names)

    def columns_of(self, table: pl.DataFrame, *, verbatim: bool) -> tuple[npt.NDArray[np.int32], pl.Series]:
        """The column of each form of a `form_table`, UNKNOWN for none; spellings of misspelt ones."""
        index, single = self.vocabulary_.index, self.phrases_.n_terms
        found = (index.get(term, UNKNOWN) for term in table["term"])
        # a term with a space inside, as tokenised texts may have, is no n-gram
        columns = np.fromiter((c if c < single else UNKNOWN for c in found), dtype=np.int32)
        return spelled(columns, table, None if verbatim else self.speller_)

    def analyzer(self) -> Analyzer:
        """What turns word forms into terms, as the settings say."""
        languages = (self.language,) if isinstance(self.language, str) else strings("language", self.language)
        automatic = isinstance(self.stop_words, str)
        if automatic and self.stop_words != "auto":
            raise InputError(f"stop_words must be 'auto', None or a list of words, got {self.stop_words!r}")
        own = () if automatic or self.stop_words is None else strings("stop_words", self.stop_words)
        return Analyzer(
            languages=languages,
            stem=self.stem,
            use_stop_words=automatic,
            stop_words=frozenset((*own, *strings("extra_stop_words", self.extra_stop_words))),
            drop=strings("drop", self.drop),  # type: ignore[arg-type]
            segmenter=self.segmenter,
            skip_non_answers=self.skip_non_answers,
        )

    def _clean(self) -> Clean | None:
        """Texts that are already cut into words have neither markup nor sentences."""
        if self.tokenizer != "words":
            return None
        return lambda texts: self.boilerplate_.blank(without_markup(texts))

    def _limits(self) -> Limits:
        return Limits(self.min_df, self.max_df, self.max_terms, self.min_words, self.ngrams)

    def _checked_tokenizer(self) -> Tokenizer:
        named = isinstance(self.tokenizer, str) and self.tokenizer in ("words", "whitespace")
        if named or callable(self.tokenizer):
            return self.tokenizer
        raise InputError(
            f"tokenizer must be 'words', 'whitespace' or a function, got {shown(self.tokenizer)}"
        )

    def _batches(self, texts: Any) -> tuple[Iterable[pl.Series], int | None]:
        """Batches of texts and, if known, the number of texts."""
        from coterie.text.readers import TextSource

        if isinstance(texts, TextSource):
            return (batch.texts for batch in texts), None
        if isinstance(texts, InBatches):
            return texts.batches(), None
        return text_batches(texts), known_length(texts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _local(folder: str | Path, threads: int | None) -> Cluster:
    """Threads of this process, and a folder that is made where it is missing."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Cluster(folder=folder, threads=threads)
