"""Pages that people look at: templates, and what fills them."""
