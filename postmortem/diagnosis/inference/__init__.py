"""From evidence to ranked causes."""
