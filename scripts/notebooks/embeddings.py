# %% [markdown]
# # Your own embeddings
#
# coterie needs no language model. If you have embeddings of your texts, from whatever model, it can use them beside the
# words. Here a small one is made on the spot, with scikit-learn; yours would come from a sentence encoder.

# %%
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from coterie import TopicModel, datasets

texts = datasets.load("bikes").texts
encoder = make_pipeline(TfidfVectorizer(sublinear_tf=True), TruncatedSVD(64, random_state=0)).fit(texts)
embeddings = encoder.transform(texts)
embeddings.shape

# %% [markdown]
# One row for each text, in the same order.

# %%
model = TopicModel(n_topics=28).fit(texts, embeddings=embeddings)
model

# %% [markdown]
# New texts come with embeddings of the same kind.

# %%
asked = ["the courier left my parcel in the rain", "my brakes squeal"]
model.assign(asked, embeddings=encoder.transform(asked))

# %% [markdown]
# ## What difference do they make?
#
# The same texts without embeddings, and which topics became which.

# %%
words_only = TopicModel(n_topics=28).fit(texts)
words_only.plot.compare(model)

# %%
model.plot.similarity(top=12)

# %% [markdown]
# ## How sure is each assignment?

# %%
model.plot.confidence(top=10)
