"""Knowledge bases: what text is linked to."""

from parlink.kb.knowledge_base import KnowledgeBase, copy_kb, overlay_path

__all__ = ["KnowledgeBase", "copy_kb", "overlay_path"]
