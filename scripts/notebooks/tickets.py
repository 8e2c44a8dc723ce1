# %% [markdown]
# # Topics of support tickets
#
# A table of messages to an imaginary bike shop, six months of them: what are they about, and what changed?

# %%
import polars as pl

from coterie import TopicModel, datasets

tickets = pl.read_csv(datasets.BIKES_FILE, try_parse_dates=True)
tickets.select("date", "team", "text").head(3)

# %% [markdown]
# `fit` takes the table and the names of its columns. The number of topics is chosen from the texts.

# %%
model = TopicModel().fit(tickets, text="text", date="date")
model

# %% [markdown]
# How sure is that number? The shaded numbers are plausible.

# %%
model.plot.number_of_topics()

# %% [markdown]
# Each point of the map is a message; messages that use related words are near each other.

# %%
model.plot.map()

# %% [markdown]
# ## What changed?
#
# Topics that clearly changed come first. Every figure has its numbers as a table in `data`.

# %%
over_time = model.plot.over_time(top=8)
over_time

# %%
over_time.data.filter(pl.col("trend") == "new").select("label", "period", "texts", "share")

# %% [markdown]
# ## Names
#
# A topic has the name of a phrase of its texts until you give it another.

# %%
new = over_time.data.filter(pl.col("trend") == "new")["topic"][0]
model.edits.rename(new, "Smart lock does not open")
model.plot.hierarchy()

# %% [markdown]
# ## New messages
#
# Every text gets a topic, a confidence and the words that decided.

# %%
model.assign(
    ["the lock stays shut when I unlock it in the app", "Where is my parcel?", "I want my money back"]
)

# %% [markdown]
# ## For others
#
# Figures are saved as SVG, PNG or HTML; the report is one page with everything, which opens in any browser.

# %%
model.plot.topics(top=12).save("topics.svg")
model.report("report.html")
