"""Chats as bundles and notebooks, from which every figure can be computed again without a model."""
