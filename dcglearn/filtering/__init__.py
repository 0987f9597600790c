"""A threshold on the scores of documents, from the measure: Beta-Gamma."""
