"""`coterie explore`: runs as a live page in the browser, and the JSON API under it.

The server is for one person and their machine. It answers names it serves and no others (`guard`), reads and
writes the runs of one folder (`workspace`), and does whatever takes long beside the requests (`jobs`).
"""
