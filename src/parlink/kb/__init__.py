"""Knowledge bases: what text is linked to."""

from parlink.kb.knowledge_base import KnowledgeBase, overlay_path

__all__ = ["KnowledgeBase", "overlay_path"]
