"""Hides what a log gives away of secrets, people and machines, when it is rendered or shared."""
