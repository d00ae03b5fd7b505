"""What kind of thing a title is, and a line that describes it: from classes, facts, leads, and the title itself."""
