"""The commands: a module's click commands become commands of the program; ``shared/`` is what they have in common."""
