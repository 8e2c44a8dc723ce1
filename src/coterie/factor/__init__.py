"""Topics by matrix factorisation: of documents, of term co-occurrence, or of both."""
