"""parlink: entity linking in parallel, to Wikipedia or to your own knowledge base."""
