"""AIDA-CoNLL with the candidates of PPRforNED."""
