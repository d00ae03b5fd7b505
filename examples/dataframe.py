"""Link a column of a pandas DataFrame: `python examples/dataframe.py`."""

import pandas as pd

from parlink import Document, Linker

reviews = pd.DataFrame(
    {
        "stars": [5, 2, 4],
        "text": [
            "The night train from Berlin to Vienna was on time.",
            "The ferry to Dover smelt of fish, and nobody at the port of Calais could help.",
            "No complaints at all.",
        ],
    },
    index=pd.Index([101, 102, 103], name="review"),
)

linker = Linker.load()

# A stream keeps the order and the number of documents, and batches them.
documents = (Document(text) for text in reviews["text"])
reviews["links"] = [doc.links for doc in linker.stream(documents)]

# One row a link, with the review it comes from.
links = reviews["links"].explode().dropna()
table = pd.DataFrame(
    {
        "surface": [reviews.at[row, "text"][link.span.start : link.span.end] for row, link in links.items()],
        "title": [link.title for link in links],
        "confidence": [link.confidence for link in links],
    },
    index=links.index,
)
print(reviews[["stars"]].join(table).to_string())
