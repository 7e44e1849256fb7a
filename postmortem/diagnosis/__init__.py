"""From an extract to the ranked causes, their fixes and the story of the run."""
