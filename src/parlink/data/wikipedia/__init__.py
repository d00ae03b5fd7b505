"""Wikipedia: dumps, wikitext, articles as training documents."""
