"""One module a revision; each is never changed once it was released."""
