"""Frozen values that all packages share.

They import nothing but each other.
"""
