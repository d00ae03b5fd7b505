"""The HTTP service: linking in batches across clients, run-time changes of the knowledge base, GERBIL's protocol."""
