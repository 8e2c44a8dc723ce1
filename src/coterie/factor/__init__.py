"""Factorisations: of documents, of what terms tell about each other, or of both."""
