"""Nouns of the program: frozen values that travel between the rooms.

They import nothing but each other.
"""
