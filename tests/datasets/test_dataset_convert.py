"""Each converter on excerpts in the form of its source, written for this test."""

import csv

import pytest

from coterie.datasets import convert


def test_titles_keep_a_bar_in_the_text():
    file = "0\t足球|罗马 股东\n1\t科学、奇趣|a|b 2011\n".encode()
    assert list(convert.titles(file)) == [("足球", "罗马 股东"), ("科学、奇趣", "a|b 2011")]


def test_clusters_lose_spaces_at_the_ends_and_resolve_escapes():
    file = b'{"text": "two goals", "cluster": 37}\n{"text": " caf\\u00e9 news ", "cluster": 4}\n'
    assert list(convert.clusters(file)) == [("37", "two goals"), ("4", "café news")]


def test_search_snippets():
    rows = convert.search_snippets("bank news \nbaño ball\n".encode(), b"1\n8\n")
    assert list(rows) == [("business", "bank news"), ("sports", "baño ball")]


def test_stack_overflow_makes_a_tab_a_space_and_keeps_double_spaces():
    rows = convert.stack_overflow(b"How  to\tsort?\r\nWhy\r\n\r\n", b"18\r\n1\r\n")
    assert list(rows) == [("linq", "How  to sort?"), ("wordpress", "Why")]


def test_ag_news():
    assert list(convert.ag_news(b"1\tpeace talks\n4\tnew chip \n")) == [
        ("World", "peace talks"),
        ("Sci/Tech", "new chip"),
    ]


def test_ag_news_csv_keeps_backslashes_inner_spaces_and_quotes():
    file = b'"3","Oil up"," CITY (Agency) - Oil, he said, is ""up"".\\"\n"2","Goal","One\\nil"\n'
    assert list(convert.ag_news_csv(file)) == [
        ("Business", 'Oil up  CITY (Agency) - Oil, he said, is "up".\\'),
        ("Sports", "Goal One\\nil"),
    ]


def test_thuc_news_puts_the_files_one_after_another():
    rows = convert.thuc_news("体验 创新\t8\n".encode(), "股指\t2\n".encode())
    assert list(rows) == [("game", "体验 创新"), ("stocks", "股指")]


def test_banking_puts_texts_of_several_lines_on_one():
    train = b'text,category\n"Is it, still ""there""?\nThanks",lost\n'
    assert list(convert.banking(train, b"text,category\r\n a  card ,new_card\r\n")) == [
        ("lost", 'Is it, still "there"? Thanks'),
        ("new_card", "a  card"),
    ]


def test_clinc_has_no_texts_out_of_scope():
    file = b'{"oos_val": [["x", "oos"]], "val": [["b", "two"]], "train": [["a ", "one"]], "test": [["c", "one"]]}'
    assert list(convert.clinc_intents(file)) == [("one", "a"), ("two", "b"), ("one", "c")]
    domains = b'{"home": ["two"], "work": ["one"]}'
    assert list(convert.clinc_domains(file, domains)) == [("work", "a"), ("home", "b"), ("work", "c")]


@pytest.mark.parametrize(
    "converter",
    [
        convert.titles,
        convert.clusters,
        convert.banking,
        convert.ag_news,
        convert.ag_news_csv,
        convert.thuc_news,
    ],
)
def test_an_empty_file_has_no_rows(converter):
    assert list(converter(b"")) == []


@pytest.mark.parametrize(
    ("converter", "files"),
    [
        (convert.titles, [b"<!DOCTYPE html>\n<html>\n"]),
        (convert.titles, [b"0\tno bar\n"]),
        (convert.clusters, [b"<!DOCTYPE html>\n"]),
        (convert.clusters, [b'{"text": "no cluster"}\n']),
        (convert.clusters, [b"5\n"]),
        (convert.clusters, [b'{"text": 5, "cluster": 5}\n']),
        (convert.search_snippets, [b"one\ntwo\n", b"1\n"]),
        (convert.search_snippets, [b"one\n", b"0\n"]),
        (convert.stack_overflow, [b"one\n", b"21\n"]),
        (convert.ag_news, [b"five\ttext\n"]),
        (convert.ag_news_csv, [b'"1","title"\n']),
        (convert.ag_news_csv, [b'"1","title","open quote\n']),
        (convert.thuc_news, [b"text\t10\n"]),
        (convert.banking, [b"<!DOCTYPE html>\n<html>\n"]),
        (convert.clinc_intents, [b"[]"]),
        (convert.clinc_intents, [b'{"train": [["a"]], "val": [], "test": []}']),
        (convert.clinc_domains, [b'{"train": [["a", "b"]], "val": [], "test": []}', b'{"c": ["d"]}']),
        (convert.thuc_news, [b"\xff\xfe\t1\n"]),
    ],
)
def test_another_form_is_an_error(converter, files):
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError, csv.Error)):
        list(converter(*files))
