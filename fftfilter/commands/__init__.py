"""The commands: one file each. A module's click commands become commands of the program."""
