"""A package that stands on one node only: shows a configuration as a table."""


def table(values):
    """Rows of name and value."""
    width = max(map(len, values))
    return "\n".join(f"| {name:{width}} | {value!s:>10} |" for name, value in values.items())
